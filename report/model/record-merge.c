/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/record-merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/names.h"
#include "record/member-names.h"
#include "lib/append.h"
#include "lib/json-scanner.h"
#include "record/step.h"
#include "record/job-summary.h"

#define MEMBERS_MAX 1024 /* that are looked at: anybody may have written the text */

/* The value of our member; false: there is none, or it is not an object. */
static bool find_ours(const char *text, struct nt_text *ours)
{
	const struct nt_text whole = nt_text_of(text);

	return nt_json_scan_is(whole, '{') && nt_json_scan_member(whole, NT_RECORD_KEY, ours) &&
	       nt_json_scan_is(*ours, '{');
}

/* The step of the same name in ours. */
static bool find_step(struct nt_text ours, const struct nt_json_member *member,
		      struct nt_text *value)
{
	char name[NT_STEP_NAME_MAX];

	snprintf(name, sizeof(name), "%.*s", (int)member->name.bytes, member->name.at);
	return nt_json_scan_member(ours, name, value);
}

/* text with the member added at the end of ours, which points into text. */
static char *insert(const char *text, struct nt_text ours, const struct nt_json_member *member)
{
	const char *end = ours.at + ours.bytes;
	char *out;

	while (end[-1] != '}')
		end--;
	end--;
	if (asprintf(&out, "%.*s%s\"%.*s\":%.*s%s", (int)(end - text), text,
		     nt_json_scan_count(ours) > 0 ? "," : "", (int)member->name.bytes,
		     member->name.at, (int)member->value.bytes, member->value.at, end) < 0)
		return NULL;
	return out;
}

static int add_member(char **joined, const struct nt_json_member *member)
{
	struct nt_text ours, present;
	char *text;

	if (!nt_step_member_is(member) || !find_ours(*joined, &ours) ||
	    find_step(ours, member, &present))
		return 0;
	text = insert(*joined, ours, member);
	if (!text)
		return -1;
	free(*joined);
	*joined = text;
	return 0;
}

/* Make it an empty record unless it is a record. */
static int begin(char **joined)
{
	static const char empty[] = "{\"" NT_RECORD_KEY "\":{\"v\":1}}";
	char *text;

	if (nt_summary_holding(*joined, strlen(*joined)) == NT_HOLDS_RECORD)
		return 0;
	text = strdup(empty);
	if (!text)
		return -1;
	free(*joined);
	*joined = text;
	return 0;
}

int nt_record_merge_step(char **joined, const char *step, const char *record)
{
	const struct nt_json_member member = { nt_text_of(step), nt_text_of(record) };

	return begin(joined) < 0 ? -1 : add_member(joined, &member);
}

/* The run of its job that a step's record is of. */
static long run_of(struct nt_text record)
{
	struct nt_text run;

	return nt_json_scan_member(record, NT_STEP_RUN, &run) ? strtol(run.at, NULL, 10) : 0;
}

typedef bool nt_record_merge_goes(const void *argument, const struct nt_json_member *member);

/* Move the steps for which goes() is true to *gone, if gone is not NULL. If one was moved, members
 * of other programs next to ours are removed, too. */
static int divide(char **text, nt_record_merge_goes *goes, const void *argument, char **gone)
{
	struct nt_json_member member;
	struct nt_text ours;
	struct nt_json_scanner scan;
	bool taken = false;
	char *left;
	int rc;

	if (!find_ours(*text, &ours))
		return 0;
	left = strdup("");
	rc = left ? begin(&left) : -1;
	nt_json_scan_begin(&scan, ours);
	for (int i = 0; rc == 0 && i < MEMBERS_MAX && nt_json_scan_next(&scan, &member) > 0; i++) {
		if (!nt_step_member_is(&member) || !goes(argument, &member)) {
			rc = add_member(&left, &member);
			continue;
		}
		taken = true;
		if (gone)
			rc = begin(gone) < 0 ? -1 : add_member(gone, &member);
	}
	if (rc == 0 && taken) {
		char *old = *text;

		*text = left;
		left = old;
	}
	free(left);
	return rc;
}

static bool is_in(const void *argument, const struct nt_json_member *member)
{
	struct nt_text value;

	return find_step(*(const struct nt_text *)argument, member, &value) &&
	       run_of(value) == run_of(member->value);
}

int nt_record_merge_without(char **text, const char *earlier)
{
	struct nt_text theirs;

	return find_ours(earlier, &theirs) ? divide(text, is_in, &theirs, NULL) : 0;
}

static bool is_of_run(const void *argument, const struct nt_json_member *member)
{
	return run_of(member->value) == *(const long *)argument;
}

int nt_record_merge_move_run(char **text, long run, char **to)
{
	return divide(text, is_of_run, &run, to);
}

bool nt_record_merge_is_empty(const char *text)
{
	struct nt_json_member member;
	struct nt_text ours;
	struct nt_json_scanner scan;

	if (!find_ours(text, &ours))
		return false;
	nt_json_scan_begin(&scan, ours);
	for (int i = 0; i < MEMBERS_MAX && nt_json_scan_next(&scan, &member) > 0; i++) {
		if (nt_step_member_is(&member))
			return false;
	}
	return true;
}
