/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sacct-user-text.h - the texts in a job's Extra and Comment, as accounting has them
 *
 * The job's user can write both, so they prove nothing to others, and no text may count for another
 * job.
 *
 * Threads:  single-threaded programs only (child.h).
 * Errors:   -1 and *err says what could not be asked, and why.
 * Host:     the command sacct; Extra from Slurm 23.02 on.
 */
#ifndef NT_USERTEXT_H
#define NT_USERTEXT_H

#include "report/model/jobtext.h"

/* For the jobs in the list whose texts are not known yet. cluster NULL: this one. */
int nt_sacct_user_text_load(struct nt_jobtexts *texts, const char *cluster, int timeout_ms,
			    struct nt_error *err);

#endif
