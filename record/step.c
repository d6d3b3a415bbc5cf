/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/step.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "contract/coll.h"
#include "contract/policy.h"
#include "lib/json-scanner.h"

#define STEP_ROW(...) NT_FIELD_ROW(struct nt_step, __VA_ARGS__)
const struct nt_fields nt_step_fields = NT_FIELDS(NT_STEP_FIELDS(STEP_ROW));

const char *nt_step_family(char *out, uint32_t ranks, uint32_t nodes, const char *name)
{
	snprintf(out, NT_FAMILY_MAX, "%" PRIu32 "r%" PRIu32 "n%s%.*s", ranks, nodes,
		 name[0] ? " " : "", NT_COMM_NAME - 1, name);
	return out;
}

void nt_step_put_row(struct nt_json_writer *put, const struct nt_key *row)
{
	char size[32], name[64];

	snprintf(name, sizeof(name), "%s %s", nt_coll_name(row->coll),
		 nt_size_text((size_t)row->bytes, size, sizeof(size)));
	nt_json_put_open(put, name, '{');
	nt_fields_put(put, &nt_short_key_fields, row);
	nt_json_put_close(put);
}

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

const char *nt_step_why_shape(int64_t ranks, int64_t nodes, int64_t comms, char *out,
			      size_t out_bytes)
{
	out[0] = '\0';
	if (ranks > 0)
		snprintf(out, out_bytes, "%" PRId64 "r%" PRId64 "n %" PRId64 " ", ranks, nodes,
			 comms);
	return out;
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
