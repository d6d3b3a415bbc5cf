/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* report-follow.h - print a running job's summary whenever it changes, until the job ends
 *
 * Threads, host: as model/jobload.h.
 * Memory:   none is kept.
 * Errors:   -1 and *err: there is no such job, or it has left no record.
 */
#ifndef NT_REPORT_FOLLOW_H
#define NT_REPORT_FOLLOW_H

#include "report/model/jobid.h"

/* In place on a terminal, else a line for each change. */
int nt_report_follow(const struct nt_jobid *id, struct nt_error *err);

#endif
