/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/step.h"

#include <stdio.h>
#include <string.h>
#include "contract/policy.h"
#include "lib/json-scanner.h"

#define STEP_ROW(...) NT_FIELD_ROW(struct nt_step, __VA_ARGS__)
const struct nt_fields nt_step_fields = NT_FIELDS(NT_STEP_FIELDS(STEP_ROW));

const struct nt_step_why nt_step_whys[NT_STEP_WHYS] = {
	{ NT_FLAG_NO_TUNER, NT_REASON_OWN_TUNER },
	{ NT_FLAG_NO_PROFILER, NT_REASON_OWN_PROFILER },
	{ NT_FLAG_USER_ALGO, NT_REASON_OWN_ALGO },
	{ NT_FLAG_USER_PROTO, NT_REASON_OWN_PROTO },
	{ NT_FLAG_LL128_NET, NT_REASON_LL128 },
	{ NT_FLAG_LL128_C2C, NT_REASON_LL128_C2C },
	{ NT_FLAG_OTHER_TUNER, NT_REASON_OTHER_TUNER },
	{ NT_FLAG_OTHER_PROFILER, NT_REASON_OTHER_PROFILER },
};

/* ---- findings */

#define FINDINGS_HEAD ",\"" NT_STEP_FINDINGS "\":["

struct step_findings {
	const struct nt_finding *item[NT_STEP_FINDINGS_MAX + 1];
	size_t count;
	struct nt_finding slower; /* of the record; id -1: none */
};

/* Of a record's list, ["ports:n1:...","cpus:..."] */
static void find_slower(struct nt_finding *slower, struct nt_text list)
{
	struct nt_text text;
	size_t pos = 0;

	while (nt_json_scan_text(list, &pos, &text)) {
		if (nt_finding_read(slower, text.at, text.bytes) == 0 &&
		    slower->id == NT_FINDING_SLOWER)
			return;
	}
	slower->id = -1;
}

/* The worst first */
static void put_in_order(struct step_findings *all, const struct nt_finding *findings, size_t count)
{
	bool slower = all->slower.id >= 0;

	for (size_t i = 0; i < count && all->count < NT_STEP_FINDINGS_MAX; i++) {
		if (slower && findings[i].id > all->slower.id) {
			all->item[all->count++] = &all->slower;
			slower = false;
		}
		all->item[all->count++] = &findings[i];
	}
	if (slower)
		all->item[all->count++] = &all->slower;
}

/* Cuts the member out. false: it does not stand there as we write it. */
static bool cut_findings(char *record, struct nt_text list)
{
	const size_t head = sizeof(FINDINGS_HEAD) - 2; /* without the bracket */
	const size_t at = (size_t)(list.at - record);

	if (at < head || memcmp(record + at - head, FINDINGS_HEAD, head) != 0)
		return false;
	memmove(record + at - head, list.at + list.bytes, strlen(list.at + list.bytes) + 1);
	return true;
}

void nt_step_put_findings(char *record, size_t record_bytes, const struct nt_finding *findings,
			  size_t count)
{
	struct step_findings all = { .count = 0, .slower.id = -1 };
	struct nt_text list;
	size_t used, begin;

	if (nt_json_scan_member(nt_text_of(record), NT_STEP_FINDINGS, &list)) {
		find_slower(&all.slower, list);
		if (!cut_findings(record, list))
			return;
	}
	put_in_order(&all, findings, count);
	used = strlen(record);
	if (used < 2 || record[used - 1] != '}')
		return;
	used--;
	begin = used;
	for (size_t i = 0; i < all.count; i++) {
		const char *text = all.item[i]->text, *before = i == 0 ? FINDINGS_HEAD : ",";

		if (used + strlen(before) + strlen(text) + sizeof("\"\"]}") - 1 > record_bytes)
			break;
		used += (size_t)snprintf(record + used, record_bytes - used, "%s\"%s\"", before,
					 text);
	}
	snprintf(record + used, sizeof("]}"), "%s}", used > begin ? "]" : "");
}

int nt_step_check(const char *record, size_t record_bytes, struct nt_error *err)
{
	struct nt_text text = { record, record_bytes };
	int depth = 0;

	if (record_bytes > NT_STEP_RECORD_MAX)
		return nt_error_set(err, "the record has %zu bytes (want at most %d)", record_bytes,
				    NT_STEP_RECORD_MAX);
	for (size_t i = 0; i < record_bytes; i++) {
		char c = record[i];

		if (c < 0x20 || c > 0x7e || c == '\\')
			return nt_error_set(err, "the record has the byte 0x%02x at %zu",
					    (unsigned char)c, i);
		/* No braces in texts, so counting them gives the depth. */
		depth += (c == '{') - (c == '}');
		if (depth < 0 || depth > NT_STEP_DEPTH)
			return nt_error_set(
				err, "the record is nested too deep or not at all at byte %zu", i);
	}
	/* It is spliced in, and must be found again byte for byte. */
	if (depth != 0 || record_bytes == 0 || record[0] != '{' ||
	    record[record_bytes - 1] != '}' || !nt_json_scan_is(text, '{'))
		return nt_error_set(err, "the record is not a JSON object");
	return 0;
}
