/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* compare-json.h - two jobs side by side, for programs (docs/schema/compare.schema.json)
 *
 * Threads:  no state of its own.
 * Memory:   the caller's.
 * Errors:   -1 and *err when memory runs out; nothing is printed then.
 */
#ifndef NT_COMPARE_JSON_H
#define NT_COMPARE_JSON_H

#include <stdio.h>
#include "report/model/job-compare.h"

#define NT_COMPARE_VERSION 1

/* job: each as Slurm prints it. */
int nt_job_comparison_json(FILE *out, const char *const job[2],
			   const struct nt_job_comparison *comparison, struct nt_error *err);

#endif
