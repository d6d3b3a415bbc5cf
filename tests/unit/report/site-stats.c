/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over many jobs, with made-up records. */
#include "report/summary/site-stats.h"

#include <math.h>
#include "tests/lib/unit.h"

#define STEP "\"mode\":\"bandit\",\"ranks\":8,\"nodes\":2"
#define NCCL(version) "\"nccl\":\"" version "\""
#define KEPT(why)                                                                                                         \
	"{\"auto\":\"RING/LL\",\"arm\":\"AUTO\",\"us\":[10,11],\"calls\":50,\"spent_ms\":2,\"saved_ms\":0,\"why\":\"" why \
	"\"}"
#define TREE(spent, saved)                                                                          \
	"{\"auto\":\"RING/LL\",\"arm\":\"TREE/LL\",\"us\":[10,8],\"calls\":100,\"spent_ms\":" spent \
	",\"saved_ms\":" saved "}"
#define RECORD(steps) "{\"nccl_tune\":{\"v\":1," steps "}}"
#define ONE(rows) RECORD("\"0\":{" STEP ",\"8r2n\":{" rows "}}")

static struct nt_streamed_job job_of(const char *label, const char *text)
{
	struct nt_streamed_job job = { .nodes = 2, .elapsed_s = 100, .end_s = 1000 };

	snprintf(job.label, sizeof(job.label), "%s", label);
	snprintf(job.cluster, sizeof(job.cluster), "nt");
	snprintf(job.partition, sizeof(job.partition), "gpu");
	snprintf(job.user, sizeof(job.user), "ann");
	job.text = text;
	job.text_bytes = strlen(text);
	return job;
}

static void add(struct nt_site_stats *tally, const struct nt_streamed_job *job)
{
	struct nt_error err;

	if (nt_site_stats_add(tally, job, &err) < 0)
		fail_msg("%s", err.text);
}

static const struct nt_site_stats_class *class_of(const struct nt_site_stats *tally,
						  enum nt_site_stats_by by, const char *name)
{
	for (size_t i = 0; i < tally->by[by].names.count; i++) {
		if (strcmp(tally->by[by].class[i].name, name) == 0)
			return &tally->by[by].class[i];
	}
	return NULL;
}

/* The outcome of a job with this text. */
static enum nt_job_outcome outcome_of(const char *text, int64_t end_s)
{
	struct nt_streamed_job job = job_of("1", text);
	struct nt_site_stats_sum total;
	struct nt_site_stats tally;
	int outcome = 0;

	job.end_s = end_s;
	nt_site_stats_init(&tally);
	add(&tally, &job);
	total = nt_site_stats_total(&tally);
	assert_int_equal(nt_site_stats_jobs(&total), 1);
	while (total.jobs[outcome] == 0)
		outcome++;
	nt_site_stats_fini(&tally);
	return (enum nt_job_outcome)outcome;
}

static void each_job_is_one_of_its_kinds(void **state)
{
	static const struct {
		const char *text;
		enum nt_job_outcome outcome;
	} cases[] = {
		{ "", NT_JOB_NO_RECORD },
		{ " \n", NT_JOB_NO_RECORD },
		{ "JS1:H4sI", NT_JOB_OTHER_TEXT },
		{ "{\"x\":1}", NT_JOB_OTHER_TEXT },
		{ "{\"nccl_tune\":{\"v\":1,\"0\":{\"mode\"", NT_JOB_DAMAGED },
		{ "{\"nccl_tune\":{\"v\":9}}", NT_JOB_DAMAGED },
		{ ONE("\"AllReduce 1M\":{\"auto\":\"RING/LL\",\"arm\":\"TREE/LL\",\"p\":\"x\"}"),
		  NT_JOB_DAMAGED },
		{ RECORD("\"0\":{" STEP "}"), NT_JOB_NOT_TUNED },
		{ ONE("\"AllReduce 1M\":{\"auto\":\"RING/LL\",\"arm\":\"AUTO\",\"why\":\"comm\"}"),
		  NT_JOB_NOT_TUNED },
		{ RECORD("\"0\":{\"mode\":\"observe\",\"8r2n\":{\"AllReduce 1M\":{\"auto\":\"RING/LL\",\"arm\":\"AUTO\","
			 "\"us\":[10]}}}"),
		  NT_JOB_OBSERVED },
		{ ONE("\"AllReduce 1M\":" KEPT("open")), NT_JOB_UNDECIDED },
		{ ONE("\"AllReduce 1M\":" KEPT("counted")), NT_JOB_UNDECIDED },
		{ ONE("\"AllReduce 1M\":" KEPT("little")), NT_JOB_NOTHING_TO_GAIN },
		{ ONE("\"AllReduce 1M\":" KEPT("open") ",\"AllReduce 2M\":" KEPT("small")),
		  NT_JOB_NOTHING_TO_GAIN },
		{ ONE("\"AllReduce 1M\":{\"auto\":\"RING/LL\",\"arm\":\"TREE/LL\",\"why\":\"known\"}"),
		  NT_JOB_REMEMBERED },
		{ ONE("\"AllReduce 1M\":" TREE("5", "5")), NT_JOB_UNPAID },
		{ ONE("\"AllReduce 1M\":" TREE("5", "6")), NT_JOB_GAINED },
		/* The part without room cost more than the rest saved. */
		{ RECORD("\"0\":{" STEP
			 ",\"spent_ms\":20,\"saved_ms\":6,\"8r2n\":{\"AllReduce 1M\":" TREE(
				 "5", "6") "},\"more\":3}"),
		  NT_JOB_UNPAID },
		/* More than a job of 100 s on 2 nodes can have had. */
		{ ONE("\"AllReduce 1M\":" TREE("5", "16000001")), NT_JOB_IMPLAUSIBLE },
		{ ONE("\"AllReduce 1M\":" TREE("16000001", "1")), NT_JOB_IMPLAUSIBLE },
		{ ONE("\"AllReduce 1M\":" TREE("5", "-16000001")), NT_JOB_IMPLAUSIBLE },
		{ RECORD("\"0\":{" STEP ",\"257r2n\":{\"AllReduce 1M\":" TREE("1", "2") "}}"),
		  NT_JOB_IMPLAUSIBLE },
		{ RECORD("\"0\":{\"mode\":\"bandit\",\"ranks\":999999999999}"),
		  NT_JOB_IMPLAUSIBLE },
		{ RECORD("\"0\":{" STEP ",\"comm_ms\":16000001}"), NT_JOB_IMPLAUSIBLE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum nt_job_outcome outcome = outcome_of(cases[i].text, 1000);

		if (outcome != cases[i].outcome)
			fail_msg("%s: %s, not %s", cases[i].text, nt_job_outcome_name(outcome),
				 nt_job_outcome_name(cases[i].outcome));
	}
	assert_int_equal(outcome_of(ONE("\"AllReduce 1M\":" TREE("5", "6")), 0), NT_JOB_RUNNING);
}

/* Besides what its step's calls spent and saved. */
static void a_calibration_costs_what_it_took(void **state)
{
	struct nt_streamed_job job = job_of(
		"1", RECORD("\"0\":{" STEP ",\"8r2n\":{\"AllReduce 1M\":" TREE(
			     "5", "20.5") "}},"
					  "\"1\":{" STEP ",\"calibration_s\":7.5,"
					  "\"8r2n\":{\"AllReduce 2M\":" TREE("1000", "9000") "}}"));
	struct nt_site_stats_sum total;
	struct nt_site_stats tally;

	nt_site_stats_init(&tally);
	add(&tally, &job);
	total = nt_site_stats_total(&tally);
	assert_int_equal(total.saved_us, 8 * 9020500);
	assert_int_equal(total.calibration_us, 8 * 7500000);
	assert_int_equal(total.spent_us, 8 * 8505000);
	assert_int_equal(total.jobs[NT_JOB_GAINED], 1);
	nt_site_stats_fini(&tally);
}

/* Slurm leaves the record of an earlier run in AdminComment. */
/* A job with steps of both tells itself what a launch profile saved; a memory knows less. */
static void a_launch_profile_saves_what_the_jobs_own_steps_say(void **state)
{
#define OWN(launch, us)                                       \
	"{" STEP ",\"program\":\"t.py\",\"launch\":\"" launch \
	"\",\"measured\":1.5,\"step_us\":[" us "," us "," us "],\"steps\":100}"
	struct nt_streamed_job job = job_of(
		"1", RECORD("\"0\":" OWN("default", "30000") ",\"1\":" OWN("wide", "10000")));
	struct nt_site_stats_sum total;
	struct nt_site_stats tally;

	nt_site_stats_init(&tally);
	add(&tally, &job);
	total = nt_site_stats_total(&tally);
	assert_int_equal(total.jobs[NT_JOB_GAINED], 1);
	assert_int_equal(total.launch_us, 8 * 100 * 20000);
	assert_int_equal(total.saved_us, total.launch_us);
	nt_site_stats_fini(&tally);
}

static void each_run_counts_once(void **state)
{
#define RUN0 "\"0\":{" STEP ",\"8r2n\":{\"AllReduce 1M\":" TREE("5", "20") "}}"
#define RUN1 "\"1\":{" STEP ",\"run\":1,\"8r2n\":{\"AllReduce 2M\":" TREE("1", "3") "}}"
	static const char *const texts[] = { RECORD(RUN0), RECORD(RUN0 "," RUN1),
					     RECORD(RUN0 "," RUN1) };
	struct nt_streamed_job other;
	struct nt_site_stats_sum total;
	struct nt_site_stats tally;

	nt_site_stats_init(&tally);
	for (size_t i = 0; i < 3; i++) {
		struct nt_streamed_job job = job_of("1", texts[i]);

		job.requeued = i < 2;
		add(&tally, &job);
	}
	total = nt_site_stats_total(&tally);
	assert_int_equal(total.saved_us, 8 * 23000);
	assert_int_equal(total.spent_us, 8 * 6000);
	assert_int_equal(total.keys, 2);
	assert_int_equal(total.jobs[NT_JOB_GAINED], 2);
	assert_int_equal(total.jobs[NT_JOB_NO_RECORD], 1); /* the last run left none */
	/* Another job with such steps is no run of it. */
	other = job_of("2", texts[1]);
	add(&tally, &other);
	assert_int_equal(nt_site_stats_total(&tally).saved_us, 2 * 8 * 23000);
	nt_site_stats_fini(&tally);
}

static void adds_up_in_each_class(void **state)
{
	static const char text[] = RECORD(
		"\"0\":{" STEP
		"," NCCL("2.28.9") ",\"comm_ms\":50,\"8r2n\":{\"AllReduce 1M\":" TREE("5", "20.5") ",\"AllGather 1K\":" KEPT(
			"small") "},\"4r1n\":{\"AllReduce 1.5M\":" TREE("1",
									"2") "}},"
									     "\"1\":{" STEP
									     ",\"8r2n\":{\"AllReduce 2M\":" KEPT(
										     "chance") "},\"more\":2},\"more\":1");
	struct nt_streamed_job job = job_of("1", text);
	const struct nt_site_stats_class *class;
	struct nt_site_stats_sum total;
	struct nt_site_stats tally;

	nt_site_stats_init(&tally);
	add(&tally, &job);
	snprintf(job.partition, sizeof(job.partition), "big");
	snprintf(job.user, sizeof(job.user), "bob");
	add(&tally, &job);
	nt_site_stats_sort(&tally);
	total = nt_site_stats_total(&tally);
	assert_int_equal(total.keys, 8);
	assert_int_equal(total.decided, 8);
	assert_int_equal(total.chosen, 4);
	assert_int_equal(total.calls, 600);
	assert_int_equal(total.saved_us, 2 * (20500 * 8 + 2000 * 4));
	assert_int_equal(total.spent_us, 2 * (5000 * 8 + 2000 * 8 + 1000 * 4 + 2000 * 8));
	assert_int_equal(total.comm_us, 2 * 50000 * 8);
	assert_int_equal(tally.left_out, 2 * 3);
	assert_int_equal(tally.users.count, 2);
	for (int by = NT_BY_CLUSTER; by <= NT_BY_USER; by++) {
		int64_t saved_us = 0;

		for (size_t i = 0; i < tally.by[by].names.count; i++)
			saved_us += tally.by[by].class[i].sum.saved_us;
		assert_int_equal(saved_us, total.saved_us);
	}
	class = class_of(&tally, NT_BY_PARTITION, "big");
	assert_int_equal(class->sum.jobs[NT_JOB_GAINED], 1);
	class = class_of(&tally, NT_BY_NCCL, "2.28.9");
	assert_int_equal(class->sum.jobs[NT_JOB_GAINED], 2);
	assert_int_equal(class->sum.keys, 6);
	assert_int_equal(class_of(&tally, NT_BY_NCCL, "unknown")->sum.keys, 2);
	assert_int_equal(class_of(&tally, NT_BY_USER, "bob")->sum.keys, 4);
	nt_site_stats_fini(&tally);
}

/* Step sums count where rows had no room: against what was tuned. */
static void what_had_no_room_counts_against_it(void **state)
{
	struct nt_streamed_job job = job_of(
		"1",
		RECORD("\"0\":{" STEP
		       ",\"spent_ms\":15,\"saved_ms\":30,\"8r2n\":{\"AllReduce 1M\":" TREE(
			       "5",
			       "10") "},\"2r1n\":{\"AllReduce 1M\":" TREE("0",
									  "0") "},\"more\":3}"));
	struct nt_site_stats_sum total;
	struct nt_site_stats tally;

	nt_site_stats_init(&tally);
	add(&tally, &job);
	total = nt_site_stats_total(&tally);
	assert_int_equal(total.saved_us, 10000 * 8 + 20000 * 2);
	assert_int_equal(total.spent_us, 5000 * 8 + 10000 * 8);
	nt_site_stats_fini(&tally);
}

/* Rows of which only the reason had room. */
static void rows_that_had_no_room_are_counted_by_their_reason(void **state)
{
#define REST(saved, reasons) \
	RECORD("\"0\":{" STEP ",\"spent_ms\":1,\"saved_ms\":" saved ",\"rest\":[" reasons "]}")
#define UNDECIDED "\"4 little\",\"1 open\""
#define ALL UNDECIDED ",\"2 small\",\"3 chosen\""
	struct nt_streamed_job job = job_of("1", REST("2", ALL));
	struct nt_site_stats_sum total;
	struct nt_site_stats tally;

	assert_int_equal(outcome_of(REST("0", "\"4 little\""), 1000), NT_JOB_NOTHING_TO_GAIN);
	assert_int_equal(outcome_of(REST("0", UNDECIDED), 1000), NT_JOB_UNDECIDED);
	assert_int_equal(outcome_of(REST("0", UNDECIDED ",\"2 small\""), 1000),
			 NT_JOB_NOTHING_TO_GAIN);
	assert_int_equal(outcome_of(REST("2", ALL), 1000), NT_JOB_UNPAID);
	assert_int_equal(outcome_of(REST("9", ALL), 1000), NT_JOB_GAINED);
	nt_site_stats_init(&tally);
	add(&tally, &job);
	total = nt_site_stats_total(&tally);
	assert_int_equal(total.keys, 10);
	assert_int_equal(total.decided, 5);
	assert_int_equal(total.chosen, 3);
	/* The smallest possible value. */
	assert_int_equal(total.saved_us, 2000);
	assert_int_equal(total.spent_us, 8000);
	nt_site_stats_fini(&tally);
}

/* Whatever order jobs come in; 0.1 ms cannot be added up in doubles. */
static void sums_do_not_depend_on_the_order(void **state)
{
	struct nt_site_stats_sum sums[2];
	char text[512];

	for (int way = 0; way < 2; way++) {
		struct nt_site_stats tally;

		nt_site_stats_init(&tally);
		for (int i = 0; i < 1000; i++) {
			int n = way ? 999 - i : i;
			struct nt_streamed_job job;

			snprintf(text, sizeof(text),
				 RECORD("\"0\":{" STEP
					",\"8r2n\":{\"AllReduce 1M\":" TREE("0.1", "%d.%d") "}}"),
				 n * n, n % 10);
			job = job_of("1", text);
			add(&tally, &job);
		}
		sums[way] = nt_site_stats_total(&tally);
		nt_site_stats_fini(&tally);
	}
	assert_int_equal(sums[0].spent_us, 1000 * 100 * 8);
	assert_memory_equal(&sums[0], &sums[1], sizeof(sums[0]));
}

/* One user's made-up names do not use up the room of others. */
static void bounds_what_a_user_names(void **state)
{
	const struct nt_site_stats_class *others;
	struct nt_site_stats tally;
	char text[512];

	nt_site_stats_init(&tally);
	for (int i = 0; i < 3000; i++) {
		struct nt_streamed_job job;

		snprintf(text, sizeof(text),
			 RECORD("\"0\":{" STEP
				",\"nccl\":\"2.%d\",\"8r2n\":{\"AllReduce 1M\":" TREE("1",
										      "2") "}}"),
			 i);
		job = job_of("1", text);
		add(&tally, &job);
	}
	assert_int_equal(tally.by[NT_BY_NCCL].names.count, 17);
	others = class_of(&tally, NT_BY_NCCL, "others");
	assert_int_equal(others->sum.keys, 3000 - 16);
	assert_int_equal(others->sum.jobs[NT_JOB_GAINED], 3000 - 16);
	for (int i = 0; i < 100; i++) {
		struct nt_streamed_job job;

		snprintf(text, sizeof(text),
			 RECORD("\"0\":{" STEP
				",\"nccl\":\"3.%d\",\"8r2n\":{\"AllReduce 1M\":" TREE("1",
										      "2") "}}"),
			 i);
		job = job_of("1", text);
		snprintf(job.user, sizeof(job.user), "user%d", i);
		add(&tally, &job);
	}
	assert_int_equal(tally.by[NT_BY_NCCL].names.count, 117);
	nt_site_stats_fini(&tally);
}

/* Memory grows with the classes, whose number is limited. */
static void what_has_no_class_of_its_own_is_counted(void **state)
{
	struct nt_site_stats_sum total;
	struct nt_site_stats tally;

	nt_site_stats_init(&tally);
	for (int i = 0; i < 5000; i++) {
		struct nt_streamed_job job = job_of("1", ONE("\"AllReduce 1M\":" TREE("1", "2")));

		snprintf(job.partition, sizeof(job.partition), "p%d", i);
		snprintf(job.cluster, sizeof(job.cluster), "c%d", i % 100);
		add(&tally, &job);
	}
	total = nt_site_stats_total(&tally);
	assert_int_equal(total.jobs[NT_JOB_GAINED], 5000);
	assert_int_equal(total.saved_us, 5000 * 2000 * 8);
	assert_int_equal(class_of(&tally, NT_BY_PARTITION, "others")->sum.keys, 5000 - 1024);
	assert_true(tally.by[NT_BY_CLUSTER].names.count <= 65);
	nt_site_stats_fini(&tally);
}

UNIT_TESTS(each_job_is_one_of_its_kinds, a_calibration_costs_what_it_took,
	   a_launch_profile_saves_what_the_jobs_own_steps_say, each_run_counts_once,
	   adds_up_in_each_class, what_had_no_room_counts_against_it,
	   rows_that_had_no_room_are_counted_by_their_reason, sums_do_not_depend_on_the_order,
	   bounds_what_a_user_names, what_has_no_class_of_its_own_is_counted);
