/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sacct-runs.h - the earlier runs of jobs that were requeued
 *
 * Accounting keeps a row for each run, with the AdminComment that the job had when that run ended.
 * Slurm keeps the text for the next run, so the row of a later run may contain steps of an earlier
 * one.
 *
 * Threads:  single-threaded programs only (child.h).
 * Errors:   -1: not all could be asked.
 * Host:     the command sacct.
 */
#ifndef NT_RUNS_H
#define NT_RUNS_H

#include "report/model/jobtext.h"

/* Add the earlier runs of id, as jobs with the label "12 (run 1)". */
int nt_sacct_runs_load(struct nt_jobtexts *texts, const struct nt_jobid *id, int timeout_ms);

#endif
