/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* runs.h - the earlier runs of jobs that were requeued
 *
 * Accounting keeps a row for each run, with the AdminComment that the job had when that run ended.
 * Slurm leaves the text in place for the next one, so that steps of an earlier run may stand in a
 * later one's row.
 *
 * Threads:  single-threaded programs only (child.h).
 * Errors:   -1 and *err says what could not be asked, and why.
 * Host:     the command sacct.
 */
#ifndef NT_RUNS_H
#define NT_RUNS_H

#include "report/jobtext.h"

/* Add the runs of id that have a record, as jobs of the label "12 (run 1)"; the last run loses what
 * stands in its text from these. */
int nt_runs_load(struct nt_jobtexts *texts, const struct nt_jobid *id, int timeout_ms,
		 struct nt_error *err);

#endif
