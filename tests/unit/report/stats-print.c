/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Many jobs' records, printed. */
#include "report/summary/stats-print.h"

#include <json.h>
#include "tests/lib/unit.h"

#define ROW(arm, spent, saved)                 \
	"{\"auto\":\"RING/LL\",\"arm\":\"" arm \
	"\",\"us\":[10,8],\"calls\":100,\"spent_ms\":" spent ",\"saved_ms\":" saved "}"
#define LAUNCH(profile) \
	"\"nccl\":\"2.%u.0\",\"fabric\":\"socket\",\"per_node\":8,\"launch\":\"" profile "\""

static void add(struct nt_site_stats *tally, unsigned i, const char *cluster, const char *format)
{
	struct nt_streamed_job job = { .nodes = 1024, .elapsed_s = 1000000, .end_s = 1000 };
	struct nt_error err;
	char text[2048];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), format, i % 30);
#pragma GCC diagnostic pop
	snprintf(job.label, sizeof(job.label), "%u_%u", 4294000000u + i, i);
	snprintf(job.cluster, sizeof(job.cluster), "%s", cluster);
	snprintf(job.partition, sizeof(job.partition), "a-partition-of-a-long-name-%u", i % 40);
	snprintf(job.user, sizeof(job.user), "=an,\"user-of-a-long-name\\%u", i % 7);
	job.text = text;
	job.text_bytes = strlen(text);
	if (nt_site_stats_add(tally, &job, &err) < 0)
		fail_msg("%s", err.text);
}

static void fill(struct nt_site_stats *tally)
{
	static const char *const texts[] = {
		"",
		"JS1:%x",
		"{\"nccl_tune\":{%x",
		"{\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"bandit\",\"ranks\":8192,\"nodes\":1024,\"measured\":1.2," LAUNCH(
			"a-profile-of-a-very-long-name-it") ",\"8192r1024n\":{\"ReduceScatter 1.5M\":" ROW("TREE/LL",
													   "5",
													   "99999999.5") "}}}}",
		"{\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"bandit\",\"ranks\":8192,\"nodes\":1024,\"step_us\":[1,200000,3],"
		"\"steps\":99999," LAUNCH("default") ",\"8192r1024n\":{\"AllReduce 16G\":" ROW(
			"AUTO", "99999999.5", "0") "}}}}",
	};

	nt_site_stats_init(tally);
	for (unsigned i = 0; i < 1000; i++)
		add(tally, i, i % 2 ? "a-cluster-of-a-long-name" : "b", texts[i * 7 / 3 % 5]);
	nt_site_stats_sort(tally);
}

static char *print(int (*how)(FILE *out, const struct nt_site_stats_view *view,
			      struct nt_error *err),
		   const struct nt_site_stats *tally)
{
	const struct nt_site_stats_view view = { tally, 0, 1000000 };
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	struct nt_error err;

	assert_non_null(out);
	if (how(out, &view, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* The longest names and numbers. */
static void text_fits_a_terminal(void **state)
{
	struct nt_site_stats tally;
	char *text, *line, *rest;

	fill(&tally);
	text = print(nt_site_stats_text, &tally);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strlen(line) > 80)
			fail_msg("%s", line);
	}
	free(text);
	nt_site_stats_fini(&tally);
}

static int64_t number_at(json_object *object, const char *a, const char *b)
{
	json_object *value = NULL;

	assert_true(json_object_object_get_ex(object, a, &value));
	if (b)
		assert_true(json_object_object_get_ex(value, b, &value));
	return json_object_get_int64(value);
}

static void json_has_all_of_it(void **state)
{
	json_object *object, *by, *groups;
	struct nt_site_stats_sum total;
	struct nt_site_stats tally;
	char *text;

	fill(&tally);
	total = nt_site_stats_total(&tally);
	text = print(nt_site_stats_json, &tally);
	object = json_tokener_parse(text);
	assert_non_null(object);
	assert_int_equal(number_at(object, "until", NULL), 1000000);
	assert_int_equal(number_at(object, "keys", NULL), total.keys);
	for (int i = 0; i < NT_JOB_OUTCOMES; i++)
		assert_int_equal(
			number_at(object, "jobs", nt_job_outcome_name((enum nt_job_outcome)i)),
			total.jobs[i]);
	assert_true(total.jobs[NT_JOB_GAINED] > 0 && total.jobs[NT_JOB_DAMAGED] > 0);
	json_object_object_get_ex(object, "by", &by);
	for (int i = 0; i < NT_SITE_STATS_BYS; i++) {
		assert_true(json_object_object_get_ex(
			by, nt_site_stats_by_name((enum nt_site_stats_by)i), &groups));
		assert_int_equal(json_object_array_length(groups), tally.by[i].names.count);
	}
	json_object_put(object);
	free(text);
	nt_site_stats_fini(&tally);
}

/* NAME{LABEL="VALUE",...} NUMBER, after the metric's HELP and TYPE. */
static void prometheus_can_read_it(void **state)
{
	struct nt_site_stats tally;
	char *text, *line, *rest;
	char metric[100] = "";
	unsigned samples = 0;

	fill(&tally);
	text = print(nt_site_stats_prometheus, &tally);
	assert_non_null(strstr(text, "user=\"=an,\\\"user-of-a-long-name\\\\0\""));
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		size_t name = strcspn(line, "{ ");
		char *end, *number = strrchr(line, ' ');

		if (strncmp(line, "# TYPE ", 7) == 0) {
			snprintf(metric, sizeof(metric), "%.*s", (int)strcspn(line + 7, " "),
				 line + 7);
			assert_non_null(strstr(line, " gauge"));
			continue;
		}
		if (line[0] == '#')
			continue;
		assert_int_equal(strncmp(line, "nccl_tune_", 10), 0);
		assert_int_equal(strlen(metric), name);
		assert_int_equal(strncmp(line, metric, name), 0);
		strtod(number, &end);
		assert_true(end > number && *end == '\0');
		samples++;
	}
	assert_true(samples > 100);
	free(text);
	nt_site_stats_fini(&tally);
}

static void nothing_is_told_as_such(void **state)
{
	struct nt_site_stats tally;
	char *text;

	nt_site_stats_init(&tally);
	nt_site_stats_sort(&tally);
	text = print(nt_site_stats_text, &tally);
	assert_non_null(strstr(text, "0 jobs ended from 1970-01-"));
	free(text);
	free(print(nt_site_stats_json, &tally));
	free(print(nt_site_stats_prometheus, &tally));
	nt_site_stats_fini(&tally);
}

UNIT_TESTS(text_fits_a_terminal, json_has_all_of_it, prometheus_can_read_it,
	   nothing_is_told_as_such);
