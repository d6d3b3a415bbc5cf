/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of which the truth is known: what the report says of them first, and that all its forms have
 * the same figures. */
#include "report/text/print.h"

#include <math.h>
#include "tests/lib/unit.h"
#include "cli/report-output.h"
#include "lib/json.h"
#include "record/admincomment-merge.h"
#include "report/model/job-figures.h"

/* Steps of t.py, 8 ranks on 2 nodes, of so many microseconds: 8 calls of 1 ms in each, of which one
 * is of 4M. */
#define STEP(launch, us, members, small, large)                                                   \
	"{\"mode\":\"bandit\",\"ranks\":8,\"nodes\":2,\"program\":\"t.py\"," launch               \
	"\"step_us\":[" us "," us "," us "],\"steps\":1000," members "\"8r2n\":{" small "," large \
	"}}"
#define DEFAULT "\"launch\":\"default\",\"from\":\"NO_HARDWARE\","
#define WIDE "\"launch\":\"wide\",\"from\":\"calibrated 2026-11-22 on 2 x 4\","
#define NONE ""
#define KEY(size, calls, us, why)                                                           \
	"\"AllReduce " size "\":{\"auto\":\"RING/SIMPLE\",\"arm\":\"AUTO\",\"own_us\":[" us \
	"],\"us\":[" us "],\"calls\":" calls ",\"why\":\"" why "\"}"
#define SMALL(why) KEY("64K", "7000", "1000", why)
#define LARGE(why) KEY("4M", "1000", "1000", why)
#define TREE(us, saved)                                                                       \
	"\"AllReduce 4M\":{\"auto\":\"RING/SIMPLE\",\"arm\":\"TREE/LL\",\"own_us\":[5000," us \
	"],\"us\":["                                                                          \
	"5000," us "],\"calls\":1000,\"saved_ms\":" saved "}"
#define CALIBRATED "\"calibration_s\":50,\"calibration_ranks\":8,\"calibration_gain\":2.5,"
#define LATE                                                                                           \
	"\"waiting\":0.2,\"late\":\"steady\",\"late_rank\":5,\"late_node\":\"n2\",\"late_calls\":0.9," \
	"\"late_us\":900,\"late_cost\":0.07,"
#define BENCH                                                                                                   \
	"{\"mode\":\"bandit\",\"ranks\":8,\"nodes\":2,\"program\":\"nccl-tune-calibrate\",\"launch\":\"wide\"," \
	"\"step_us\":[1,2,3],\"steps\":9000," CALIBRATED                                                        \
	"\"8r2n\":{\"AllReduce 256K\":{\"auto\":\"RING/LL\",\"arm\":\"TREE/LL\",\"own_us\":[900,100],"          \
	"\"calls\":90000,\"saved_ms\":9e5}}}"

struct job {
	const char *name;
	const char *steps[3]; /* NULL: no more */
	const char *says;
	double net_ms;
	const char *first[4]; /* in the first lines */
	const char *never; /* nowhere; NULL: nothing */
	bool running;
};

/* clang-format off */
static const struct job jobs[] = {
	{ "first of two",
	  { STEP(DEFAULT, "20000", "\"next_calibration_s\":60,\"spent_ms\":30,", SMALL("screened"), LARGE("open")) },
	  "step 20.0 ms; nothing saved: NCCL's is best in 35 % compared", -30,
	  { "Net time saved: -30.0 ms (spent 30.0 ms).", "AllReduce 4M (5 % of the time): Not decided", "-> The next step of t.py here calibrates for about 60 s first" },
	  .never = "pays from" },
	{ "second of two", { STEP(WIDE, "10000", CALIBRATED "\"measured\":2.0,", SMALL("best"), LARGE("best")) },
	  "step 10.0 ms, was 20.0 ms (2.00 x); saved 10.0 s, spent 50.0 s", -40000,
	  { "\"Was\" is without launch profile wide, as remembered of t.py here.", "spent 50.0 s on calibrating); pays from 5000 steps (50.0 s) on.", "-> Nothing to type: later steps of t.py start with wide at once." },
	  .never = "memory forget" },
	{ "both in one",
	  { STEP(DEFAULT, "20000", "", SMALL("screened"), LARGE("screened")), STEP(WIDE, "10000", CALIBRATED "\"measured\":1.5,", SMALL("best"), LARGE("best")) },
	  "step 10.0 ms, was 20.0 ms (2.00 x); saved 10.0 s, spent 50.0 s", -40000,
	  { "\"Was\" is without launch profile wide, in this job's other steps." }, .never = "1.50" },
	{ "the default afterwards",
	  { STEP(WIDE, "10000", "\"measured\":1.5,", SMALL("best"), LARGE("best")), STEP(DEFAULT, "30000", "", SMALL("screened"), LARGE("screened")) },
	  "step 10.0 ms, was 30.0 ms (3.00 x); saved 20.0 s", 20000, { "Net time saved: 20.0 s." }, .never = NULL },
	{ "a slower profile", { STEP(WIDE, "30000", "\"measured\":0.5,", SMALL("best"), LARGE("best")) },
	  "step 30.0 ms, was 15.0 ms (0.50 x); lost 15.0 s", -15000,
	  { "Net time saved: -15.0 s.", "-> Nothing to type: this job's next steps run without wide;" },
	  .never = "later steps" },
	{ "without a baseline", { STEP(WIDE, "10000", CALIBRATED, SMALL("screened"), LARGE("screened")) },
	  "step 10.0 ms with wide, without not measured", -50000,
	  { "Calls were 2.50 x as fast with wide when it was calibrated.", "Net time saved: not known (spent 50.0 s on calibrating)." },
	  .never = "nothing saved" },
	{ "nothing to gain",
	  { STEP(DEFAULT, "20000", "\"calibration_s\":50,\"calibration_gain\":1.0,", SMALL("screened"), LARGE("screened")) },
	  "step 20.0 ms; nothing saved: NCCL's choice is best", -50000,
	  { "-> Nothing to type: the next step chooses again, knowing the calls of t.py." }, .never = "x as fast" },
	{ "a faster choice",
	  { STEP(DEFAULT, "20000", "\"saved_ms\":2000,", SMALL("screened"), TREE("3000", "2000")) },
	  "step 20.0 ms; saved 2.0 s", 2000,
	  { "AllReduce 4M on the 8 ranks across 2 nodes: Tree/LL takes 3.00 ms instead of NCCL's 5.00 ms; saved 2.0 s." },
	  .never = NULL },
	{ "a gain that is no share of the step",
	  { STEP(DEFAULT, "20000", "\"saved_ms\":100,", SMALL("screened"), TREE("4900", "100")) },
	  "step 20.0 ms; saved 100.0 ms", 100, { "Net time saved: 100.0 ms" }, .never = "instead of NCCL's 5.00" },
	{ "a gain that its times deny",
	  { STEP(DEFAULT, "20000", "\"saved_ms\":2000,", SMALL("screened"), TREE("5000", "2000")) },
	  "step 20.0 ms; saved 2.0 s", 2000, { "Net time saved: 2.0 s" }, .never = "instead of NCCL's" },
	{ "bandit alone", { STEP(NONE, "20000", "\"spent_ms\":30,", SMALL("screened"), LARGE("screened")) },
	  "step 20.0 ms; nothing saved: NCCL's choice is best", -30, { "-> Use --nccl-tune=bandit,launch=auto: " },
	  .never = "policy" },
	{ "remembered choices",
	  { "{\"mode\":\"policy\",\"ranks\":8,\"nodes\":2,\"launch\":\"default\",\"estimated_ms\":1500,\"8r2n\":{" SMALL("known") "}}" },
	  "saved about 1.5 s (estimate)", 0, { "saved about 1.5 s (estimate)" }, .never = NULL },
	{ "only measured", { "{\"mode\":\"observe\",\"ranks\":8,\"nodes\":1,\"8r1n\":{" SMALL("observed") "}}" },
	  "only measured", 0, { "Only measured: mode observe changes nothing.", "-> To explore: --nccl-tune=bandit" },
	  .never = NULL },
	{ "no PMIx", { STEP(DEFAULT, "20000", "\"why\":[\"8r2n 1 nopmix\"],", SMALL("comm"), LARGE("comm")) },
	  "step 20.0 ms; nothing saved: not tuned (nopmix)", 0,
	  { "Not tuned, a communicator of 8 ranks on 2 nodes: ", "-> Start the step with srun --mpi=pmix." },
	  .never = NULL },
	{ "stalled",
	  { STEP(DEFAULT, "20000", "\"as_of\":9,\"why\":[\"8r2n 1 behind:Rank 3 on n2:AllReduce 4M, call 900:all 7 others:42\"],", SMALL("screened"), LARGE("open")) },
	  "stalled: others wait for rank 3 on n2 (AllReduce 4M, call 900)", 0,
	  { "Rank 3 on n2 had not begun AllReduce 4M, call 900", "-> See what that rank does" }, .never = NULL },
	{ "a late rank", { STEP(DEFAULT, "20000", LATE, SMALL("screened"), LARGE("screened")) },
	  "step 20.0 ms; nothing saved: NCCL's choice is best", 0,
	  { "Others wait for rank 5 on n2 in 90 % of the measured calls, 900 us each; that costs 7 % of the program's step." },
	  .never = NULL },
	{ "ranks as they are", { STEP(DEFAULT, "20000", "\"waiting\":0.05,", SMALL("screened"), LARGE("screened")) },
	  "step 20.0 ms; nothing saved: NCCL's choice is best", 0, { "step 20.0 ms" }, .never = "wait" },
	{ "running",
	  { STEP(DEFAULT, "20000", "\"early\":1,\"as_of\":9,\"saved_ms\":0,", SMALL("open"), LARGE("open")) },
	  "so far: step 20.0 ms; nothing saved yet: still exploring", 0, { "still exploring" },
	  .never = "the step ended", .running = true },
	{ "a calibration for others",
	  { BENCH, STEP(WIDE, "10000", "\"measured\":2.0,", SMALL("best"), LARGE("best")) },
	  "step 10.0 ms, was 20.0 ms (2.00 x); saved 10.0 s, spent 50.0 s", -40000,
	  { "spent 50.0 s on calibrating)" }, .never = "9000" },
	{ "only a calibration for others", { BENCH }, "calibrated for 50.0 s", -50000,
	  { "spent 50.0 s on calibrating)", "-> Nothing to type: steps of programs choose by what was measured." },
	  .never = "AllReduce 256K" },
	{ "steps of helpers",
	  { "{\"mode\":\"bandit\"}", STEP(WIDE, "10000", "\"measured\":2.0,", SMALL("best"), LARGE("best")) },
	  "step 10.0 ms, was 20.0 ms (2.00 x); saved 10.0 s", 10000, { "Net time saved: 10.0 s" },
	  .never = "Step 0" },
};
/* clang-format on */

#define JOBS (sizeof(jobs) / sizeof(jobs[0]))

/* Its AdminComment, as the steps' records are merged into it. */
static char *comment_of(const struct job *job)
{
	char *text = strdup("");
	char name[8], *merged;

	for (int i = 0; i < 3 && job->steps[i]; i++) {
		snprintf(name, sizeof(name), "%d", i);
		assert_int_equal(nt_admincomment_merge_step(text, name, job->steps[i], &merged),
				 NT_ADMINCOMMENT_MERGE_DONE);
		free(text);
		text = merged;
	}
	return text;
}

static void read_job(struct nt_summary *summary, const struct job *job)
{
	char *text = comment_of(job);
	struct nt_error err;

	nt_summary_init(summary);
	assert_int_equal(nt_summary_parse(summary, text, strlen(text), NULL, &err), 0);
	assert_false(nt_summary_damaged(summary));
	nt_summary_mark_running(summary, job->running, 0);
	free(text);
}

static char *form_of(const struct nt_summary *summary, enum nt_form form)
{
	struct nt_output output;
	struct nt_error err;
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_int_equal(nt_output_open(&output, form, out, &err), 0);
	output.brief = form == NT_FORM_TEXT;
	assert_int_equal(nt_output_add(&output, "7", summary, &err), 0);
	nt_output_close(&output, true);
	fclose(out);
	return text;
}

/* With each run of white space as one space. */
static void unwrap(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		const bool space = *from == ' ' || *from == '\n';

		if (!space || (to > text && to[-1] != ' '))
			*to++ = space ? ' ' : *from;
	}
	*to = '\0';
}

static void the_first_lines_tell_the_truth(void **state)
{
	for (size_t i = 0; i < JOBS; i++) {
		const struct job *job = &jobs[i];
		struct nt_summary summary;
		size_t lines = 0; /* without "Job 7" */
		char *text, *end;

		read_job(&summary, job);
		text = form_of(&summary, NT_FORM_TEXT);
		end = strstr(text, "\n\n");
		assert_non_null(end);
		for (const char *c = strchr(text, '\n') + 1; c <= end; c++)
			lines += *c == '\n';
		if (lines > 8)
			fail_msg("%s: %s", job->name, text);
		if (job->never && strstr(text, job->never))
			fail_msg("%s says '%s': %s", job->name, job->never, text);
		*end = '\0';
		unwrap(text);
		for (int k = 0; k < 4 && job->first[k]; k++) {
			if (!strstr(text, job->first[k]))
				fail_msg("%s lacks '%s': %s", job->name, job->first[k], text);
		}
		free(text);
		nt_summary_fini(&summary);
	}
}

/* ---- all forms */

static json_object *member(json_object *object, const char *name)
{
	json_object *value = NULL;

	json_object_object_get_ex(object, name, &value);
	return value;
}

/* The first job of a report's JSON; *root is to be put. */
static json_object *job_of(const char *text, json_object **root)
{
	*root = json_tokener_parse(text);
	assert_non_null(*root);
	return json_object_array_get_idx(member(*root, "jobs"), 0);
}

/* The JSON that a page shows. */
static char *data_of(const char *page)
{
	const char *from = strstr(page, "id=\"report\">");

	assert_non_null(from);
	from += strlen("id=\"report\">");
	return strndup(from, strcspn(from, "\n"));
}

static void expect_says(const char *text, const char *says)
{
	char line[128];

	snprintf(line, sizeof(line), "Job 7\n%s\n", says);
	assert_int_equal(strncmp(text, line, strlen(line)), 0);
}

static void expect_metric(const char *metrics, const char *name, const char *label, double value)
{
	const char *at = strstr(metrics, name), *space;

	while (at && (at[-1] != '\n' ||
		      (label[0] && (!strstr(at, label) || strstr(at, label) > strchr(at, '\n')))))
		at = strstr(at + 1, name);
	assert_non_null(at);
	space = memrchr(at, ' ', strcspn(at, "\n"));
	assert_non_null(space);
	assert_float_equal(strtod(space, NULL), value, 1e-9 + fabs(value) * 1e-6);
}

static void expect_gain(json_object *gain, const struct nt_job_figures *figures)
{
	assert_string_equal(json_object_get_string(member(gain, "says")), figures->says);
	assert_float_equal(json_object_get_double(member(gain, "net_ms")), figures->gain.net_ms,
			   1e-3);
	assert_float_equal(json_object_get_double(member(gain, "step_us")), figures->gain.step_us,
			   1e-3);
	assert_float_equal(json_object_get_double(member(gain, "without_us")),
			   figures->gain.without_us, 1e-3);
}

/* The same job as the sentence of accounting, text, JSON, page and metrics. */
static void all_forms_agree(void **state)
{
	for (size_t i = 0; i < JOBS; i++) {
		char *text, *json, *page, *data, *metrics, *comment = comment_of(&jobs[i]);
		struct nt_job_figures figures;
		struct nt_summary summary;
		json_object *root, *job;
		char said[96];

		read_job(&summary, &jobs[i]);
		nt_job_figures_make(&figures, &summary);
		if (strcmp(figures.says, jobs[i].says) != 0)
			fail_msg("%s: '%s'", jobs[i].name, figures.says);
		assert_float_equal(figures.gain.net_ms, jobs[i].net_ms, 1e-3);
		snprintf(said, sizeof(said), "\"says\":\"%s\"", jobs[i].says);
		if (!strstr(comment, said))
			fail_msg("%s: %s", jobs[i].name, comment);
		text = form_of(&summary, NT_FORM_TEXT);
		expect_says(text, jobs[i].says);
		json = form_of(&summary, NT_FORM_JSON);
		job = job_of(json, &root);
		expect_gain(member(job, "gain"), &figures);
		json_object_put(root);
		page = form_of(&summary, NT_FORM_HTML);
		data = data_of(page);
		job = job_of(data, &root);
		expect_gain(member(job, "gain"), &figures);
		json_object_put(root);
		metrics = form_of(&summary, NT_FORM_PROMETHEUS);
		expect_metric(metrics, "nccl_tune_net_saved_seconds{", "", jobs[i].net_ms / 1e3);
		if (figures.gain.without_us > 0)
			expect_metric(metrics, "nccl_tune_program_step_seconds{",
				      "with=\"default\"", figures.gain.without_us / 1e6);
		free(metrics);
		free(data);
		free(page);
		free(json);
		free(text);
		free(comment);
		nt_summary_fini(&summary);
	}
}

/* Of one program: a line each in a table, and the rows of the last one. */
static void many_steps_are_a_table(void **state)
{
	char *text = NULL, *merged, name[8];
	struct nt_summary summary;
	size_t lines = 0, shown = 0;
	struct nt_error err;

	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "%d", i);
		assert_int_equal(
			nt_admincomment_merge_step(
				text ? text : "", name,
				i < 2 ? STEP(DEFAULT, "20000", "", SMALL("screened"), LARGE("open"))
				      : STEP(WIDE, "10000", "\"measured\":2.0,", SMALL("best"),
					     LARGE("best")),
				&merged),
			NT_ADMINCOMMENT_MERGE_DONE);
		free(text);
		text = merged;
	}
	nt_summary_init(&summary);
	assert_int_equal(nt_summary_parse(&summary, text, strlen(text), NULL, &err), 0);
	free(text);
	text = form_of(&summary, NT_FORM_TEXT);
	assert_int_equal(strncmp(text, "Job 7\nstep 10.0 ms, was 20.0 ms (2.00 x); saved ", 48), 0);
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		lines++;
		shown += strstr(line, "  t.py  ") && strstr(line, "  t.py  ") < strchr(line, '\n');
	}
	/* What had no room is said; the table has all the others, and one of each kind. */
	assert_non_null(strstr(text, "  default  "));
	assert_int_equal((int)shown + (int)summary.more_steps, 20);
	assert_in_range(shown, 15, 20);
	assert_true(lines < 45);
	free(text);
	nt_summary_fini(&summary);
}

UNIT_TESTS(the_first_lines_tell_the_truth, all_forms_agree, many_steps_are_a_table);
