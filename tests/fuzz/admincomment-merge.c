/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* admincomment-merge.c - a step's record into whatever AdminComment holds: others keep every byte,
 *            the result is JSON, short enough, and spliced once more the same
 *
 * Input: the step's name, a line; its record, a line; the comment.
 */
#include <json.h>
#include <string.h>
#include "contract/names.h"
#include "lib/json-scanner.h"
#include "record/admincomment-merge.h"
#include "record/step.h"
#include "record/job-summary.h"
#include "tests/fuzz/fuzz.h"

static bool same(struct nt_text a, struct nt_text b)
{
	return a.bytes == b.bytes && memcmp(a.at, b.at, a.bytes) == 0;
}

/* The next member that is not ours. */
static int next_other(struct nt_json_scanner *scan, struct nt_json_member *member)
{
	int rc;

	do
		rc = nt_json_scan_next(scan, member);
	while (rc == 1 && nt_text_is(member->name, NT_RECORD_KEY));
	return rc;
}

static void check_others(const char *before, const char *after)
{
	struct nt_json_scanner was, is;
	struct nt_json_member a, b;
	int rc;

	if (!nt_json_scan_is(nt_text_of(before), '{'))
		return;
	nt_json_scan_begin(&was, nt_text_of(before));
	nt_json_scan_begin(&is, nt_text_of(after));
	do {
		rc = next_other(&was, &a);
		FUZZ_CHECK(next_other(&is, &b) == rc && rc >= 0);
		FUZZ_CHECK(rc == 0 || (same(a.name, b.name) && same(a.value, b.value)));
	} while (rc == 1);
}

static void check_spliced(const char *comment, const char *step, const char *record, char *out)
{
	struct nt_summary summary;
	struct nt_text ours;
	struct nt_error err;
	char *twice;

	FUZZ_CHECK(strlen(out) <= NT_COMMENT_MAX);
	FUZZ_CHECK(nt_json_scan_is(nt_text_of(out), '{'));
	FUZZ_CHECK(nt_json_scan_member(nt_text_of(out), NT_RECORD_KEY, &ours));
	FUZZ_CHECK(ours.bytes <= NT_JOB_RECORD_MAX);
	FUZZ_CHECK(nt_summary_holding(out, strlen(out)) == NT_HOLDS_RECORD);
	check_others(comment, out);
	FUZZ_CHECK(nt_admincomment_merge_step(out, step, record, &twice) ==
			   NT_ADMINCOMMENT_MERGE_UNCHANGED &&
		   !twice);
	nt_summary_init(&summary);
	FUZZ_CHECK(nt_summary_parse(&summary, out, strlen(out), NULL, &err) == 0);
	nt_summary_fini(&summary);
}

static bool is_step(const char *name)
{
	const size_t digits = strspn(name, "0123456789");

	return strcmp(name, "batch") == 0 || (digits > 0 && digits < 11 && name[digits] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = { data, size };
	char *step = fuzz_part(&in, '\n'), *record = fuzz_part(&in, '\n');
	char *comment, *out = NULL;
	enum nt_admincomment_merge rc;

	(void)nt_json_scan_is((struct nt_text){ (const char *)in.at, in.left }, '{');
	(void)nt_summary_holding((const char *)in.at, in.left);
	comment = fuzz_text(in.at, in.left);
	if (step && record && is_step(step)) {
		bool good = nt_step_check(record, strlen(record), NULL) == 0;
		const char *used = good ? record : "{\"mode\":\"bandit\"}";

		rc = nt_admincomment_merge_step(comment, step, used, &out);
		FUZZ_CHECK((rc == NT_ADMINCOMMENT_MERGE_DONE) == (out != NULL));
		if (out)
			check_spliced(comment, step, used, out);
	}
	free(out);
	free(comment);
	free(record);
	free(step);
	return 0;
}

FUZZ_TEXT_TARGET("\"nccl_tune\":", "\"v\":1", "\"more\":2", "\"0\":{\"mode\":\"bandit\"}", "{", "}",
		 "[", "]", ",", ":", "\"launch\":\"sockets-wide\"", "\"set\":\"NCCL_A=1\"",
		 "\"why\":[\"x\"]", "null", "true", "\"a\":{}", "\"\\u00e9\"", "\"fp\":\"00\"", " ",
		 "\"nccl_tune\":{\"v\":1,\"7\":{\"mode\":\"observe\"}}")
