/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* report-json.h - a job's summary as JSON, for programs and for the page (report/html)
 *
 * docs/schema/report.schema.json lists the members: a job's steps, the families of their
 * communicators, and the keys of these. Names are those of the records (record/record.def). What is
 * unknown is left out; pairs of times are [NCCL's choice, other arm].
 *
 * Threads:  no state of its own.
 * Memory:   jobs stays the caller's.
 * Errors:   -1 and *err when memory runs out.
 * Units:    in the names; gbs is 10^9 bytes a second.
 */
#ifndef NT_REPORT_JSON_H
#define NT_REPORT_JSON_H

#include <json.h>
#include "lib/error.h"
#include "record/job-summary.h"
#include "report/model/jobtext.h"

#define NT_REPORT_VERSION 1

/* Append a job to jobs, an array. job: its id as Slurm spells it; NULL: not known. */
int nt_summary_json(json_object *jobs, const char *job, const struct nt_summary *summary,
		    struct nt_error *err);

/* What Slurm knows of the job that was appended last; what is unknown is left out. */
int nt_job_json(json_object *jobs, const struct nt_jobtext *text, struct nt_error *err);

#endif
