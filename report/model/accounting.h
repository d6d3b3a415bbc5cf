/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* accounting.h - jobs' AdminComments, as accounting has them
 *
 * Threads:  single-threaded programs only (child.h).
 * Errors:   -1 and *err says what could not be asked, and why. A job that is not known is no
 *           error: nothing is added.
 * Host:     the command sacct.
 */
#ifndef NT_ACCOUNTING_H
#define NT_ACCOUNTING_H

#include "report/model/jobtext.h"

int nt_accounting_load(struct nt_jobtexts *texts, const struct nt_jobid *id, struct nt_error *err);

/* Several jobs of one cluster (NULL: this one) by Slurm's own numbers. For a task of an array the
 * whole array comes. */
#define NT_ACCOUNTING_JOBS 64
int nt_accounting_load_jobs(struct nt_jobtexts *texts, const uint32_t *jobs, size_t count,
			    const char *cluster, int timeout_ms, struct nt_error *err);

/* Which jobs; NULL: not limited. Times as sacct takes them. */
struct nt_accounting_span {
	const char *since, *until, *user, *partition;
};

/* Those that ran or ended in a time span; only the caller's own unless user is given. */
int nt_accounting_load_span(struct nt_jobtexts *texts, const struct nt_accounting_span *span,
			    struct nt_error *err);

#endif
