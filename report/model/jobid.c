/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Job ids as users type them. */
#include "report/model/jobid.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "lib/number.h"
#include "record/member-names.h"

#define ID_MAX UINT32_C(0xfffffff0) /* Slurm keeps the numbers above for "none" and "infinite" */

#define WANTED "JOB, JOB_TASK or JOB+COMPONENT, and .STEP with a number, NUMBER+COMPONENT or batch"

static int parse_number(const char **text, uint32_t *number)
{
	uint64_t value;
	const char *end = nt_number_read(*text, ID_MAX - 1, &value);

	if (!end)
		return -1;
	*text = end;
	*number = (uint32_t)value;
	return 0;
}

/* ".STEP", or "" */
static int parse_step(struct nt_jobid *id, const char *text)
{
	if (*text == '\0')
		return 0;
	if (*text++ != '.' || strlen(text) >= sizeof(id->step) || !nt_step_name_valid(text))
		return -1;
	memcpy(id->step, text, strlen(text) + 1);
	return 0;
}

/* Returns the rest of text; NULL: it is not a job. */
static const char *parse_job(struct nt_jobid *id, const char *text)
{
	uint32_t number;
	char kind;

	if (parse_number(&text, &id->job) < 0 || id->job == 0)
		return NULL;
	kind = *text;
	if (kind != '_' && kind != '+')
		return text;
	text++;
	if (parse_number(&text, &number) < 0)
		return NULL;
	if (kind == '_')
		id->task = number;
	else
		id->component = number;
	return text;
}

int nt_jobid_parse(struct nt_jobid *id, const char *text, struct nt_error *err)
{
	const char *rest;

	*id = (struct nt_jobid){ .task = -1, .component = -1 };
	rest = parse_job(id, text);
	if (!rest || parse_step(id, rest) < 0)
		return nt_error_set(err, "'%.40s' is not a job (want " WANTED ")", text);
	return 0;
}

/* LAST of "FIRST-LAST". */
static const char *parse_last(struct nt_jobrange *range, const char *text)
{
	bool tasks = range->first.task >= 0;
	uint32_t first = tasks ? (uint32_t)range->first.task : range->first.job;
	uint32_t last;

	if (range->first.component >= 0 || parse_number(&text, &last) < 0 || last < first ||
	    last - first >= NT_JOBRANGE_MAX)
		return NULL;
	if (tasks)
		range->last_task = last;
	else
		range->last_job = last;
	return text;
}

int nt_jobrange_parse(struct nt_jobrange *range, const char *text, struct nt_error *err)
{
	const char *rest;

	*range = (struct nt_jobrange){ .first = { .task = -1, .component = -1 }, .last_task = -1 };
	rest = parse_job(&range->first, text);
	range->last_job = range->first.job;
	if (rest && *rest == '-')
		rest = parse_last(range, rest + 1);
	if (!rest || parse_step(&range->first, rest) < 0)
		return nt_error_set(err,
				    "'%.40s' is not a job (want " WANTED
				    "; FIRST-LAST for up to %d of "
				    "them)",
				    text, NT_JOBRANGE_MAX);
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

bool nt_jobrange_is_single(const struct nt_jobrange *range)
{
	return range->last_job == range->first.job && range->last_task < 0;
}
