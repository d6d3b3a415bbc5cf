/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* usertext.h - the texts in a job's Extra and Comment, as accounting has them
 *
 * The job's user may write both, so what comes from here is that user's word: no text of one job
 * can be taken for another's, and nothing of it is evidence for others.
 *
 * Threads:  single-threaded programs only (child.h).
 * Errors:   -1 and *err says what could not be asked, and why.
 * Host:     the command sacct; Extra from Slurm 23.02 on.
 */
#ifndef NT_USERTEXT_H
#define NT_USERTEXT_H

#include "report/jobtext.h"

/* For the jobs that are in the list, where these texts are not known yet. cluster may be NULL for
 * this one. */
int nt_usertext_load(struct nt_jobtexts *texts, const char *cluster, int timeout_ms,
		     struct nt_error *err);

#endif
