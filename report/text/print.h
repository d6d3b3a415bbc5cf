/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* print.h - a job's summary as a table for people
 *
 * Threads:  no state of its own.
 * Errors:   -1 when memory runs out; write errors stay on the stream for the caller (ferror).
 */
#ifndef NT_PRINT_H
#define NT_PRINT_H

#include <stdbool.h>
#include <stdio.h>
#include "lib/error.h"
#include "record/job-summary.h"

/* job: Slurm's spelling of the job id; NULL: unknown. full: all rows with their reasons, and what
 * to do. */
int nt_summary_print(FILE *out, const char *job, const struct nt_summary *summary, bool full,
		     struct nt_error *err);

#endif
