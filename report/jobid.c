/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Job ids as users type them. */
#include "report/jobid.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/label.h"

#define ID_MAX UINT32_C(0xfffffff0) /* Slurm keeps the numbers above for "none" and "infinite" */

#define WANTED "JOB, JOB_TASK or JOB+COMPONENT, and .STEP with a number, NUMBER+COMPONENT or batch"

static int parse_number(const char **text, uint32_t *number)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)**text))
		return -1;
	errno = 0;
	value = strtoul(*text, &end, 10);
	if (errno || value >= ID_MAX)
		return -1;
	*text = end;
	*number = (uint32_t)value;
	return 0;
}

static int parse_parts(struct nt_jobid *id, const char *text)
{
	uint32_t number;
	char kind;

	if (parse_number(&text, &id->job) < 0 || id->job == 0)
		return -1;
	kind = *text;
	if (kind == '_' || kind == '+') {
		text++;
		if (parse_number(&text, &number) < 0)
			return -1;
		if (kind == '_')
			id->task = number;
		else
			id->component = number;
	}
	if (*text == '.') {
		text++;
		if (strlen(text) >= sizeof(id->step) || !nt_step_name_valid(text))
			return -1;
		memcpy(id->step, text, strlen(text) + 1);
		return 0;
	}
	return *text == '\0' ? 0 : -1;
}

int nt_jobid_parse(struct nt_jobid *id, const char *text, struct nt_error *err)
{
	*id = (struct nt_jobid){ .task = -1, .component = -1 };
	if (parse_parts(id, text) < 0)
		return nt_error_set(err, "'%.40s' is no job (want " WANTED ")", text);
	return 0;
}

const char *nt_jobid_text(const struct nt_jobid *id, char *out, size_t out_bytes)
{
	if (id->task >= 0)
		snprintf(out, out_bytes, "%" PRIu32 "_%" PRId64, id->job, id->task);
	else if (id->component >= 0)
		snprintf(out, out_bytes, "%" PRIu32 "+%" PRId64, id->job, id->component);
	else
		snprintf(out, out_bytes, "%" PRIu32, id->job);
	return out;
}
