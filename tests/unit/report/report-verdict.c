/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences depend only on rows. */
#include "report/text/verdict.h"

#include <math.h>
#include "tests/lib/unit.h"
#include "contract/coll.h"
#include "report/model/job-figures.h"
#include "report/text/verdict-maker.h"
#include "report/text/row-text.h"
#include "report/text/words.h"

/* A step of 8 ranks on 2 nodes. */
static void read_rows(struct nt_summary *summary, const char *rows)
{
	char text[4096];
	struct nt_error err;
	int bytes = snprintf(text, sizeof(text),
			     "{\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"bandit\",\"ranks\":8,"
			     "\"nodes\":2,\"8r2n\":{%s}}}}",
			     rows);

	nt_summary_init(summary);
	assert_int_equal(nt_summary_parse(summary, text, (size_t)bytes, NULL, &err), 0);
	assert_false(nt_summary_damaged(summary));
}

/* Is there such a sentence? */
static void expect(const struct nt_verdict_text *verdict, enum nt_sentence_kind kind,
		   const char *text)
{
	for (size_t i = 0; i < verdict->count; i++) {
		if (verdict->items[i].kind == kind && strstr(verdict->items[i].text, text))
			return;
	}
	for (size_t i = 0; i < verdict->count; i++)
		print_message("%d: %s\n", (int)verdict->items[i].kind, verdict->items[i].text);
	fail_msg("no sentence of kind %d has '%s'", (int)kind, text);
}

static bool has(const struct nt_verdict_text *verdict, const char *text)
{
	for (size_t i = 0; i < verdict->count; i++) {
		if (strstr(verdict->items[i].text, text))
			return true;
	}
	return false;
}

static bool has_kind(const struct nt_verdict_text *verdict, enum nt_sentence_kind kind)
{
	for (size_t i = 0; i < verdict->count; i++) {
		if (verdict->items[i].kind == kind)
			return true;
	}
	return false;
}

/* When such a step has saved what was spent. */
static double pays_s(const struct nt_summary *summary)
{
	struct nt_job_figures figures;

	nt_job_figures_make(&figures, summary);
	return figures.pays_s;
}

static void make(struct nt_verdict_text *verdict, struct nt_summary *summary, const char *rows)
{
	struct nt_error err;

	read_rows(summary, rows);
	assert_int_equal(nt_verdict_make(verdict, summary, &err), 0);
}

static void end(struct nt_verdict_text *verdict, struct nt_summary *summary)
{
	nt_verdict_fini(verdict);
	nt_summary_fini(summary);
}

/* 100 us of each 1000 are saved from 4.771 s on; that pays off 2.3 s later. */
#define TREE                                                                                         \
	"\"AllReduce 256K\":{\"auto\":\"RING/SIMPLE\",\"arm\":\"TREE/SIMPLE\",\"us\":[300,200],"     \
	"\"own_us\":[273,158],\"period_us\":[1000,1000],\"p\":0.0001,\"samples\":24,\"calls\":5000," \
	"\"decided\":4771,\"spent_ms\":%s,\"saved_ms\":22.9}"

/* In bursts the period is shorter than on average: the step took ten times as long as the median of
 * its periods suggests. */
static void counts_calls_that_come_in_bursts(void **state)
{
	struct nt_summary summary;
	char rows[512];

	snprintf(rows, sizeof(rows), TREE, "230");
	read_rows(&summary, rows);
	summary.steps[0].steps = 1000;
	summary.steps[0].step_us[1] = 50000;
	assert_true(fabs(pays_s(&summary) - 70.71) < 1e-6);
	nt_summary_fini(&summary);
}

/* With several communicators at once each has savings, and all costs are added up. */
static void counts_communicators_beside_each_other(void **state)
{
	struct nt_summary summary;
	char rows[512];

	snprintf(rows, sizeof(rows), TREE, "230");
	read_rows(&summary, rows);
	summary.rows[0].comms = summary.rows[0].same = 2;
	assert_true(fabs(pays_s(&summary) - 5.921) < 1e-6);
	nt_summary_fini(&summary);
}

#define KEPT(size, why)                                                                   \
	"\"AllReduce " size "\":{\"auto\":\"RING/SIMPLE\",\"arm\":\"AUTO\",\"us\":[9,8]," \
	"\"calls\":100,\"spent_ms\":1,\"why\":\"" why "\"}"

/* By reason, the one that takes longest first; decisions are in the table. */
static void tells_what_is_open(void **state)
{
	struct nt_verdict_text verdict;
	struct nt_summary summary;

	make(&verdict, &summary, KEPT("4M", "small") "," KEPT("8M", "chance"));
	assert_false(has_kind(&verdict, NT_SENTENCE_UNFINISHED));
	expect(&verdict, NT_SENTENCE_JOB, "nothing saved: NCCL's choice is best");
	end(&verdict, &summary);
	make(&verdict, &summary,
	     KEPT("1M", "small") "," KEPT("2M", "budget") "," KEPT("8M", "open") "," KEPT("16M",
											  "open"));
	expect(&verdict, NT_SENTENCE_UNFINISHED,
	       "AllReduce 8M and 1 more (50 % of the time): Not decided: ");
	expect(&verdict, NT_SENTENCE_UNFINISHED,
	       "AllReduce 2M (25 % of the time): NCCL's choice stays: exploring");
	end(&verdict, &summary);
}

static void never_calls_a_tuned_step_untuned(void **state)
{
	static const char text[] =
		"{\"nccl_tune\":{\"v\":1,\"5\":{\"mode\":\"bandit\",\"8r2n\":{" KEPT(
			"4M",
			"small") "},\"why\":[\"algo\",\"2r2n 2 joining\",\"partial:no room\"]}}}";
	struct nt_verdict_text verdict;
	struct nt_summary summary;
	struct nt_error err;

	nt_summary_init(&summary);
	assert_int_equal(nt_summary_parse(&summary, text, strlen(text), NULL, &err), 0);
	assert_int_equal(nt_verdict_make(&verdict, &summary, &err), 0);
	expect(&verdict, NT_SENTENCE_UNTUNED, "Tuned with limits: NCCL_ALGO is set");
	expect(&verdict, NT_SENTENCE_UNTUNED, "Not tuned, 2 communicators of 2 ranks on 2 nodes: ");
	expect(&verdict, NT_SENTENCE_NOTE, "Note: The full record was not kept: no room.");
	assert_false(has(&verdict, "joining"));
	end(&verdict, &summary);
}

/* Sentences and steps of a job of which Slurm knows that it runs, or does not. */
static void make_job(struct nt_verdict_text *verdict, struct nt_summary *summary, const char *steps,
		     bool runs)
{
	char text[4096];
	struct nt_error err;
	int bytes = snprintf(text, sizeof(text), "{\"nccl_tune\":{\"v\":1,%s}}", steps);

	nt_summary_init(summary);
	assert_int_equal(nt_summary_parse(summary, text, (size_t)bytes, NULL, &err), 0);
	assert_false(nt_summary_damaged(summary));
	summary->job.elapsed_s = 29;
	nt_summary_mark_running(summary, runs, 0);
	assert_int_equal(nt_verdict_make(verdict, summary, &err), 0);
}

#define WIDE                                                                                  \
	"\"0\":{\"mode\":\"bandit\",\"ranks\":8,\"nodes\":2,\"launch\":\"sockets-wide\","     \
	"\"measured\":1.9,\"step_us\":[23000,23520,24000],\"steps\":100,\"8r2n\":{"           \
	"\"AllReduce 4M\":{\"auto\":\"RING/SIMPLE\",\"arm\":\"RING/LL128\",\"us\":[49.6,48]," \
	"\"own_us\":[25.4,20.9],\"calls\":378,\"spent_ms\":15,\"saved_ms\":8},"               \
	"\"AllReduce 8M\":{\"auto\":\"RING/SIMPLE\",\"arm\":\"AUTO\",\"us\":[49.6],"          \
	"\"own_us\":[25.4],\"calls\":378,\"why\":\"screened\"}}}"

/* Accounting's sentence is the first line. */
static void the_main_thing_comes_first(void **state)
{
	struct nt_verdict_text verdict;
	struct nt_summary summary;
	struct nt_said said;

	make_job(&verdict, &summary, WIDE, false);
	assert_string_equal(verdict.items[0].text,
			    "step 23.5 ms, was 44.7 ms (1.90 x); saved 2.1 s");
	assert_string_equal(verdict.items[1].text,
			    "\"Was\" is without launch profile sockets-wide, as remembered of "
			    "earlier steps here.");
	/* 100 steps of 21.17 ms less, and 785 ms. */
	expect(&verdict, NT_SENTENCE_NET,
	       "Net time saved: 2.1 s (saved 2.1 s, spent 15.0 ms), 7.3 % of 29 s; pays from 1 step (16.7 ms) on.");
	expect(&verdict, NT_SENTENCE_NEXT,
	       "Nothing to type: later steps of this program start with sockets-wide at once.");
	/* It would advise launch=auto. */
	nt_row_say(&said, &summary, &summary.rows[1]);
	assert_int_equal(said.reason, NT_REASON_SCREENED);
	assert_string_equal(said.type, "");
	end(&verdict, &summary);
}

#define OPEN(members)                                                                          \
	"\"0\":{\"mode\":\"bandit\",\"ranks\":8,\"nodes\":2," members "\"as_of\":50602,"       \
	"\"8r2n\":{\"AllReduce 4M\":{\"auto\":\"RING/SIMPLE\",\"arm\":\"AUTO\",\"us\":[49.6]," \
	"\"period_us\":[50000],\"calls\":100,\"round\":\"screen\",\"round_arms\":5,"           \
	"\"round_calls\":100,\"round_done\":55,\"why\":\"open\"}}}"

static void a_step_that_runs_has_not_ended(void **state)
{
	struct nt_verdict_text verdict;
	struct nt_summary summary;
	struct nt_said said;

	setenv("TZ", "UTC0", 1);
	make_job(&verdict, &summary, OPEN("\"early\":1,"), true);
	expect(&verdict, NT_SENTENCE_UNFINISHED,
	       "AllReduce 4M: as of 14:03:22, still exploring, 45 more calls (about 2.2 s).");
	expect(&verdict, NT_SENTENCE_STATE, "Step 0 runs: figures as of 14:03:22.");
	assert_false(has(&verdict, "ended"));
	nt_row_say(&said, &summary, &summary.rows[0]);
	assert_string_equal(said.says,
			    "NCCL's choice is RING/SIMPLE. As of 14:03:22, still exploring, 45 "
			    "more calls (about 2.2 s).");
	assert_string_equal(said.type, "");
	end(&verdict, &summary);
}

/* What this very job could use. */
static void advises_one_thing(void **state)
{
	static const struct {
		const char *members, *says;
	} cases[] = {
		{ "\"spent_ms\":38.5", "Use --nccl-tune=bandit,launch=auto: " },
		{ "\"launch\":\"default\",\"program\":\"t.py\",\"next_calibration_s\":60",
		  "The next step of t.py here calibrates for about 60 s first" },
		{ "\"launch\":\"default\"", "Run longer; or explore once" },
		{ "\"launch\":\"default\",\"calibration_s\":50",
		  "Nothing to type: the next step chooses again, knowing the calls of" },
		{ "\"launch\":\"default\",\"from\":\"NONE_BETTER\"",
		  "Nothing to type: NCCL's own settings are the fastest known here." },
		{ "\"launch\":\"wide\",\"program\":\"t.py\",\"step_us\":[1,2,3],\"measured\":2",
		  "Nothing to type: later steps of t.py start with wide at once." },
	};
	struct nt_verdict_text verdict;
	struct nt_summary summary;
	char steps[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t next = 0;

		snprintf(steps, sizeof(steps),
			 "\"0\":{\"mode\":\"bandit\",\"ranks\":8,\"nodes\":2,%s,\"8r2n\":{%s}}",
			 cases[i].members, KEPT("4M", "open"));
		make_job(&verdict, &summary, steps, false);
		expect(&verdict, NT_SENTENCE_NEXT, cases[i].says);
		for (size_t k = 0; k < verdict.count; k++)
			next += verdict.items[k].kind == NT_SENTENCE_NEXT;
		assert_int_equal(next, 1);
		end(&verdict, &summary);
	}
}

static void speaks_of_arms(void **state)
{
	static const struct {
		const char *name, *words;
	} cases[] = {
		{ "TREE/SIMPLE", "Tree/Simple" },
		{ "RING/LL128", "Ring/LL128" },
		{ "NVLS_TREE/SIMPLE", "NVLS Tree/Simple" },
		{ "COLLNET_DIRECT/SIMPLE", "CollNet Direct/Simple" },
		{ "TREE/SIMPLE/8ch", "Tree/Simple with 8 channels" },
		{ "AUTO", "NCCL's choice" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char words[96];

		assert_string_equal(nt_arm_words(nt_arm_parse(cases[i].name), words, sizeof(words)),
				    cases[i].words);
	}
}

static void speaks_of_communicators(void **state)
{
	struct nt_family family = { .ranks = 8, .nodes = 2, .name = "dp_#" };
	char words[160];

	family.parallel = NT_PARALLEL_DATA;
	assert_string_equal(nt_family_words(&family, words, sizeof(words)),
			    "the 8 ranks across 2 nodes (dp_#)");
	assert_string_equal(nt_family_looks(&family, words, sizeof(words)),
			    ", probably data parallel");
	family = (struct nt_family){ .ranks = 4, .nodes = 1 };
	assert_string_equal(nt_family_looks(&family, words, sizeof(words)), "");
	assert_string_equal(nt_family_words(&family, words, sizeof(words)),
			    "the 4 ranks of one node");
	family = (struct nt_family){ .ranks = 4, .nodes = 4 };
	assert_string_equal(nt_family_words(&family, words, sizeof(words)),
			    "the 4 ranks, one on each of 4 nodes");
}

/* The members of a step, and what is said of it. */
static void a_rank_that_others_wait_for_is_named(void **state)
{
	static const struct {
		const char *members, *says, *advice;
	} cases[] = {
		{ "\"waiting\":0.29,\"late\":\"steady\",\"late_rank\":5,\"late_node\":\"n2\",\"late_calls\":0.83,"
		  "\"late_us\":1200",
		  "Others wait for rank 5 on n2 in 83 % of the measured calls, 1.20 ms each; waiting is 29 % "
		  "of the time in these.",
		  "Look at its GPU or its data loading; NCCL cannot help there." },
		{ "\"waiting\":0.29,\"late\":\"steady\",\"late_rank\":5,\"late_node\":\"n2\",\"late_calls\":0.83,"
		  "\"late_us\":1200,\"late_cost\":0.07",
		  "Others wait for rank 5 on n2 in 83 % of the measured calls, 1.20 ms each; that costs 7 % of "
		  "the program's step.",
		  "Look at its GPU" },
		{ "\"late\":\"wanders\",\"late_node\":\"n2\",\"late_calls\":0.6,\"late_us\":90",
		  "Others sometimes wait for the ranks on n2 in 60 % of the measured calls, 90.0 us each.",
		  "Look at its GPUs" },
		{ "\"waiting\":0.4,\"late\":\"wanders\"",
		  "Ranks wait 40 % of the time in measured calls: for one rank over many calls",
		  "Look" },
		{ "\"waiting\":0.4,\"late\":\"varies\"",
		  "Ranks wait 40 % of the time in measured calls, each time for another rank.",
		  "Their computing" },
		{ "\"waiting\":0.25", NULL, NULL },
		/* What a record lacks is not made up. */
		{ "\"waiting\":0.4,\"late\":\"steady\"", NULL, NULL },
		{ "\"late\":\"steady\",\"late_rank\":5,\"late_node\":\"n2\"", NULL, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nt_verdict_text verdict;
		struct nt_summary summary;
		struct nt_error err;
		char text[1024];
		int bytes = snprintf(text, sizeof(text),
				     "{\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"bandit\",%s}}}",
				     cases[i].members);

		nt_summary_init(&summary);
		assert_int_equal(nt_summary_parse(&summary, text, (size_t)bytes, NULL, &err), 0);
		assert_false(nt_summary_damaged(&summary));
		assert_int_equal(nt_verdict_make(&verdict, &summary, &err), 0);
		if (!cases[i].says)
			assert_false(has(&verdict, " wait "));
		else
			expect(&verdict, NT_SENTENCE_LATE, cases[i].says);
		for (size_t k = 0; cases[i].says && k < verdict.count; k++)
			assert_true(verdict.items[k].kind != NT_SENTENCE_LATE ||
				    strstr(verdict.items[k].type, cases[i].advice));
		nt_verdict_fini(&verdict);
		nt_summary_fini(&summary);
	}
}

UNIT_TESTS(a_rank_that_others_wait_for_is_named, counts_calls_that_come_in_bursts,
	   counts_communicators_beside_each_other, tells_what_is_open,
	   never_calls_a_tuned_step_untuned, the_main_thing_comes_first,
	   a_step_that_runs_has_not_ended, advises_one_thing, speaks_of_arms,
	   speaks_of_communicators);
