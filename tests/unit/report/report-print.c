/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Records to tables and JSON, against files in data/report: NAME.json is read, NAME.txt and
 * NAME.out.json are what it must give. */
#include "report/text/print.h"

#include <math.h>
#include "tests/lib/unit.h"
#include "lib/file.h"
#include "cli/report-output.h"
#include "record/row-time.h"
#include "lib/table.h"
#include "report/metrics/prometheus.h"
#include "tests/lib/schema.h"
#include "tests/unit/table-file.h"
#include "lib/wrap.h"

static char *read_data(const char *name, const char *suffix)
{
	const char *top = getenv("top_srcdir");
	struct nt_error err;
	char path[512];
	size_t bytes;
	char *text;

	snprintf(path, sizeof(path), "%s/tests/unit/data/report/%s%s", top ? top : ".", name,
		 suffix);
	if (nt_file_read(path, 1u << 20, &text, &bytes, &err) < 0)
		fail_msg("%s", err.text);
	return text;
}

static bool is_json(const char *suffix)
{
	return strcmp(suffix, ".out.json") == 0;
}

/* It is kept in one line (see it with jq), whose breaks are not compared. */
static bool same(const char *suffix, const char *a, const char *b)
{
	json_object *first, *second;
	bool equal;

	if (!is_json(suffix))
		return strcmp(a, b) == 0;
	first = json_tokener_parse(a);
	second = json_tokener_parse(b);
	equal = first && json_object_equal(first, second);
	json_object_put(first);
	json_object_put(second);
	return equal;
}

/* What differs is left for diff, or with NT_WRITE set replaces what is kept. */
static void compare(const char *name, const char *suffix, const char *actual)
{
	char *expected = read_data(name, suffix);
	char path[512];
	FILE *file;

	if (!same(suffix, actual, expected)) {
		table_file_path(path, sizeof(path), "tests/unit/data/report", name, suffix);
		file = fopen(path, "we");
		if (file) {
			json_object *plain = is_json(suffix) ? json_tokener_parse(actual) : NULL;

			fputs(plain ? json_object_to_json_string_ext(plain, JSON_C_TO_STRING_PLAIN)
				    : actual,
			      file);
			fputs(plain ? "\n" : "", file);
			json_object_put(plain);
			fclose(file);
		}
		fail_msg("not %s%s: see %s", name, suffix, path);
	}
	free(expected);
}

static void read_summary(const char *name, struct nt_summary *summary)
{
	char *text = read_data(name, ".json");
	struct nt_error err;

	nt_summary_init(summary);
	assert_int_equal(nt_summary_parse(summary, text, strlen(text), NULL, &err), 0);
	free(text);
}

static void check_text(const char *name, const char *job)
{
	struct nt_summary summary;
	struct nt_error err;
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	read_summary(name, &summary);
	assert_int_equal(nt_summary_print(out, job, &summary, false, &err), 0);
	fclose(out);
	compare(name, ".txt", text);
	free(text);
	nt_summary_fini(&summary);
}

/* Into a form that has its own suffix. */
static void check_form(const char *name, const char *job, enum nt_form form, const char *suffix)
{
	struct nt_summary summary;
	struct nt_output output;
	struct nt_error err;
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	read_summary(name, &summary);
	assert_int_equal(nt_output_open(&output, form, out, &err), 0);
	assert_int_equal(nt_output_add(&output, job, &summary, &err), 0);
	nt_output_close(&output, true);
	fclose(out);
	compare(name, suffix, text);
	free(text);
	nt_summary_fini(&summary);
}

static void check_json(const char *name, const char *job)
{
	char file[64], *text;
	struct nt_error err;

	check_form(name, job, NT_FORM_JSON, ".out.json");
	snprintf(file, sizeof(file), "%s.out", name);
	text = read_data(file, ".json");
	if (nt_schema_check_text("report", text, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	free(text);
}

static void prints_metrics(void **state)
{
	check_form("full", "4711", NT_FORM_PROMETHEUS, ".prom");
}

/* The same job twice: no two samples have the same labels, and each metric is in one place. */
static void repeats_no_sample(void **state)
{
	struct nt_summary summary;
	struct nt_output output;
	struct nt_error err;
	char *text, *once = read_data("full", ".prom");
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	read_summary("full", &summary);
	assert_int_equal(nt_output_open(&output, NT_FORM_PROMETHEUS, out, &err), 0);
	assert_int_equal(nt_output_add(&output, "4711", &summary, &err), 0);
	assert_int_equal(nt_output_add(&output, "4711", &summary, &err), 0);
	nt_output_close(&output, true);
	fclose(out);
	assert_string_equal(text, once);
	free(text);
	free(once);
	nt_summary_fini(&summary);
}

/* Whatever accounting has as a name. */
static void escapes_labels(void **state)
{
	static const struct {
		const char *value, *label;
	} cases[] = {
		{ "", "{x=\"\"" },
		{ "gpu", "{x=\"gpu\"" },
		{ "a\"b", "{x=\"a\\\"b\"" },
		{ "\\", "{x=\"\\\\\"" },
		{ "a\nb", "{x=\"a\\nb\"" },
		{ "{a=1,b}", "{x=\"{a=1,b}\"" },
		{ "\xc3\xa9", "{x=\"\xc3\xa9\"" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t bytes;
		char *text;
		FILE *out = open_memstream(&text, &bytes);

		assert_non_null(out);
		nt_metric_label(out, "{", "x", cases[i].value);
		fclose(out);
		assert_string_equal(text, cases[i].label);
		free(text);
	}
}

/* The samples of a job that ran there, by this user. */
static char *samples_of(const char *cluster, const char *user, const char *partition)
{
	struct nt_samples samples = { NULL, 0 };
	struct nt_summary summary;
	struct nt_error err;
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	read_summary("full", &summary);
	snprintf(summary.job.cluster, sizeof(summary.job.cluster), "%s", cluster);
	snprintf(summary.job.user, sizeof(summary.job.user), "%s", user);
	snprintf(summary.job.partition, sizeof(summary.job.partition), "%s", partition);
	assert_int_equal(nt_samples_add(&samples, "4711", &summary, &err), 0);
	nt_samples_print(out, &samples);
	nt_samples_fini(&samples);
	nt_summary_fini(&summary);
	fclose(out);
	return text;
}

static void labels_samples_with_their_job(void **state)
{
#define JOB "\",slurm_job_id=\"4711\","
	char *text = samples_of("c\"1", "ann\\", "gpu,big"), *rest;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (line[0] != '#' &&
		    !strstr(line, JOB "cluster=\"c\\\"1\",user=\"ann\\\\\",partition=\"gpu,big\""))
			fail_msg("%s", line);
	}
	free(text);
	/* What is not known is no label. */
	text = samples_of("", "", "gpu");
	assert_non_null(strstr(text, JOB "partition=\"gpu\""));
	assert_null(strstr(text, "cluster="));
	assert_null(strstr(text, "user="));
	free(text);
}

static void prints_all_states(void **state)
{
	check_text("full", "4711");
	check_json("full", "4711");
}

static void prints_a_record_without_rows(void **state)
{
	check_text("empty", "12_3");
}

static void helps_with_ranks_that_differ(void **state)
{
	check_text("differs", "7");
}

static void prints_the_widest_rows(void **state)
{
	check_text("wide", NULL);
}

static void prints_what_is_whole_of_a_damaged_record(void **state)
{
	check_text("damaged", "1");
}

static void prints_launch_profiles(void **state)
{
	check_text("launch", "4711");
	check_json("launch", "4711");
}

static void says_what_was_too_short(void **state)
{
	check_text("short", "4711");
}

static void fits_80_columns(void **state)
{
	static const char *const names[] = {
		"full", "wide", "launch", "differs", "damaged", "short"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *text = read_data(names[i], ".txt");

		for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
			if (strcspn(line, "\n") > NT_WRAP_COLUMNS)
				fail_msg("%s: '%.100s'", names[i], line);
		}
		free(text);
	}
}

static void writes_numbers(void **state)
{
	char text[48];

	assert_string_equal(nt_decimal_text(0.04, 1, text, sizeof(text)), "0.0");
	assert_string_equal(nt_decimal_text(99999.94, 1, text, sizeof(text)), "99999.9");
	assert_string_equal(nt_decimal_text(-123456.7, 1, text, sizeof(text)), "-123457");
	assert_string_equal(nt_decimal_text(1e300, 1, text, sizeof(text)), "1e+300");
	assert_string_equal(nt_share_text(0.00009, text, sizeof(text)), "<0.0001");
	assert_string_equal(nt_share_text(0.0, text, sizeof(text)), "0.0000");
}

/* A record may claim any time. */
static void nothing_is_infinitely_faster(void **state)
{
	static const char *const claimed[] = { "0", "1e-320", "1e-7", "280" };
	struct nt_summary summary;
	char text[256];

	for (size_t i = 0; i < sizeof(claimed) / sizeof(claimed[0]); i++) {
		snprintf(text, sizeof(text),
			 "{\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"bandit\",\"ranks\":8,"
			 "\"nodes\":2,\"8r2n\":{\"AllReduce 1M\":{\"auto\":\"RING/SIMPLE\","
			 "\"arm\":\"TREE/SIMPLE\",\"us\":[%s,170],\"samples\":1}}}}}",
			 claimed[i]);
		nt_summary_init(&summary);
		assert_int_equal(nt_summary_parse(&summary, text, strlen(text), NULL, NULL), 0);
		assert_int_equal(summary.row_count, 1);
		if (i == 3)
			assert_float_equal(nt_row_gain(&summary.rows[0]), 39.2857, 0.001);
		else
			assert_true(isnan(nt_row_gain(&summary.rows[0])));
		nt_summary_fini(&summary);
	}
}

UNIT_TESTS(nothing_is_infinitely_faster, prints_all_states, prints_a_record_without_rows,
	   helps_with_ranks_that_differ, prints_the_widest_rows,
	   prints_what_is_whole_of_a_damaged_record, prints_launch_profiles, prints_metrics,
	   repeats_no_sample, escapes_labels, labels_samples_with_their_job,
	   says_what_was_too_short, fits_80_columns, writes_numbers);
