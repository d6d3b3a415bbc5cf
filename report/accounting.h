/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* accounting.h - the text in a job's AdminComment, as accounting has it
 *
 * Threads:  single-threaded programs only (child.h).
 * Errors:   -1 and *err says what could not be asked, and why. A job that is not known is no
 *           error: nothing is added.
 * Host:     the command sacct.
 */
#ifndef NT_ACCOUNTING_H
#define NT_ACCOUNTING_H

#include "report/jobtext.h"

/* cluster may be NULL for this one. */
int nt_accounting_load(struct nt_jobtexts *texts, const struct nt_jobid *id, const char *cluster,
		       struct nt_error *err);

#endif
