/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - the page of a record that anybody may have written: what is in it ends no element of the
 *          page, and the page's script reads what the report's JSON says
 *
 * Input: a job's record; behind a byte 1 the JSON of jobs itself, as no reader of ours would have
 * it.
 */
#include <math.h>
#include <string.h>
#include "record/job-summary.h"
#include "report/html/html.h"
#include "report/metrics/report-json.h"
#include "tests/fuzz/fuzz.h"

#define DEPTH 100

/* Numbers that JSON has no words for. */
static bool is_finite(json_object *value)
{
	if (json_object_is_type(value, json_type_double))
		return isfinite(json_object_get_double(value));
	if (json_object_is_type(value, json_type_object)) {
		json_object_object_foreach(value, name, member)
		{
			(void)name;
			if (!is_finite(member))
				return false;
		}
	}
	for (size_t i = 0;
	     json_object_is_type(value, json_type_array) && i < json_object_array_length(value);
	     i++) {
		if (!is_finite(json_object_array_get_idx(value, i)))
			return false;
	}
	return true;
}

static json_object *parsed(const char *text, size_t bytes)
{
	json_tokener *tokener = json_tokener_new_ex(DEPTH);
	json_object *value;

	FUZZ_CHECK(tokener != NULL && bytes < INT32_MAX);
	value = json_tokener_parse_ex(tokener, text, (int)bytes);
	if (json_tokener_get_error(tokener) != json_tokener_success) {
		json_object_put(value);
		value = NULL;
	}
	json_tokener_free(tokener);
	return value;
}

/* By their texts: a number without a fraction is read as another type than it was written of. */
static bool same(json_object *a, json_object *b)
{
	char *text = strdup(json_object_to_json_string_ext(a, JSON_C_TO_STRING_PLAIN));
	const bool is_same = text && strcmp(text, json_object_to_json_string_ext(
							  b, JSON_C_TO_STRING_PLAIN)) == 0;

	free(text);
	return is_same;
}

/* json-c keeps the text of a number such as "7E" and writes it again. */
static bool is_json(json_object *value)
{
	const char *text = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
	json_object *again = parsed(text, strlen(text));
	const bool is = same(again, value);

	json_object_put(again);
	return is;
}

static bool is_ascii(json_object *value)
{
	for (const char *at = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN); *at;
	     at++) {
		if ((unsigned char)*at >= 0x80)
			return false;
	}
	return true;
}

/* What stands between the page's own parts. */
static void check_data(const char *data, size_t bytes, json_object *jobs)
{
	json_object *value, *shown = NULL;

	for (size_t i = 0; i < bytes; i++) {
		FUZZ_CHECK((unsigned char)data[i] >= ' ' && data[i] != 0x7f);
		FUZZ_CHECK(!strchr("<>&", data[i]));
	}
	value = parsed(data, bytes);
	FUZZ_CHECK(json_object_is_type(value, json_type_object));
	FUZZ_CHECK(json_object_object_length(value) == 2);
	FUZZ_CHECK(json_object_object_get_ex(value, "jobs", &shown));
	FUZZ_CHECK(same(shown, jobs));
	json_object_put(value);
}

static void check_page(json_object *jobs)
{
	const size_t head = strlen(nt_html_head), tail = strlen(nt_html_tail);
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	FUZZ_CHECK(out != NULL);
	nt_html_write(out, jobs);
	fclose(out);
	FUZZ_CHECK(bytes > head + tail && memcmp(text, nt_html_head, head) == 0);
	FUZZ_CHECK(memcmp(text + bytes - tail, nt_html_tail, tail) == 0);
	check_data(text + head, bytes - head - tail, jobs);
	free(text);
}

static void check_record(const struct fuzz *in)
{
	json_object *jobs = json_object_new_array();
	struct nt_summary summary;
	struct nt_error err;

	nt_summary_init(&summary);
	FUZZ_CHECK(nt_summary_parse(&summary, (const char *)in->at, in->left, NULL, &err) == 0);
	FUZZ_CHECK(nt_summary_json(jobs, "12", &summary, &err) == 0);
	FUZZ_CHECK(json_object_array_length(jobs) == 1 && is_finite(jobs) && is_ascii(jobs));
	check_page(jobs);
	nt_summary_fini(&summary);
	json_object_put(jobs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = { data, size };
	json_object *jobs;

	if (size == 0 || data[0] != 1) {
		check_record(&in);
		return 0;
	}
	jobs = parsed((const char *)data + 1, size - 1);
	if (jobs && is_finite(jobs) && is_json(jobs))
		check_page(jobs);
	json_object_put(jobs);
	return 0;
}

FUZZ_TEXT_TARGET("{\"nccl_tune\":{\"v\":1,", "\"0\":{\"mode\":\"bandit\"}", "\"8r2n\":{",
		 "</script><script>alert(1)</script>", "<!--", "\\u003c/script\\u003e", "]]>",
		 "\\ud800", "\\u2028", "&lt;", "\"AllReduce 256K\":{", "\"auto\":\"RING/SIMPLE\"",
		 "\"arm\":\"TREE/LL\"", "\"us\":[1,2]", "\"why\":[\"\\u001b[2J\"]", "\"p\":0.01",
		 "\"spent_ms\":", "\"saved_ms\":", "\"launch\":\"wide\"", "\"fabric\":\"socket\"",
		 "\"step_us\":[1,2,3]", "[", "{\"steps\":[", "null", "1e308", "\xc3\xa9",
		 "\xf0\x9f\x98\x80", "\xed\xa0\x80")
