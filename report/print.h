/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* print.h - a job's summary as a table for people and as JSON for programs
 *
 * Threads:  no state of its own.
 * Memory:   nt_summary_json returns a new reference.
 * Errors:   -1 when memory runs out; write errors stay on the stream for the caller (ferror).
 */
#ifndef NT_PRINT_H
#define NT_PRINT_H

#include <json.h>
#include <stdio.h>
#include "contract/error.h"
#include "record/summary.h"
#include "report/verdict.h"

/* job: Slurm's spelling of the job id, or NULL where it is not known. */
int nt_summary_print(FILE *out, const char *job, const struct nt_summary *summary,
		     struct nt_error *err);

/* The sentences alone, each with what to do, in lines of at most NT_WRAP_COLUMNS. */
void nt_verdict_print(FILE *out, const struct nt_verdict_text *verdict);

/* Append to array one object a row, then one a remark, a count of what was left out, and a step's
 * launch profile. Every object has the same members; null is unknown. */
int nt_summary_json(json_object *array, const char *job, const struct nt_summary *summary,
		    struct nt_error *err);

#endif
