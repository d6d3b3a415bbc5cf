/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* jobid.h - a job as its user names it
 *
 * "12", "12_3" (task 3 of an array), "12+1" (component 1 of a heterogeneous job), each with
 * ".STEP" behind it. A bare id of an array or a heterogeneous job means all its tasks or
 * components. A range is "12-20" (jobs) or "12_3-7" (tasks of an array), with ".STEP" likewise.
 *
 * Threads:  pure functions, any thread.
 * Memory:   value types.
 * Errors:   -1 and *err names the text.
 */
#ifndef NT_JOBID_H
#define NT_JOBID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "contract/names.h"

#define NT_JOB_LABEL_MAX 40

struct nt_jobid {
	uint32_t job;
	int64_t task; /* of an array; -1 for none */
	int64_t component; /* of a heterogeneous job; -1 for none */
	char step[NT_STEP_NAME_MAX]; /* "" for all */
};

/* Jobs, or tasks of one array; both ends count. */
struct nt_jobrange {
	struct nt_jobid first;
	uint32_t last_job;
	int64_t last_task; /* -1: no range of tasks */
};

#define NT_JOBRANGE_MAX 10000 /* jobs or tasks */

int nt_jobid_parse(struct nt_jobid *id, const char *text, struct nt_error *err);

/* A single job is a range of one. */
int nt_jobrange_parse(struct nt_jobrange *range, const char *text, struct nt_error *err);

/* One job, or one task of an array? */
bool nt_jobrange_is_single(const struct nt_jobrange *range);

/* Slurm's spelling of the job, without the step: "12", "12_3", "12+1". */
const char *nt_jobid_text(const struct nt_jobid *id, char *out, size_t out_bytes);

#endif
