/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rank-files.h - read the rank records of a running job on this node
 *
 * Only the caller's own directories are read: root reads nothing of a user's here.
 *
 * Threads:  any.
 * Memory:   what is added to the summary.
 * Errors:   -1 and *err without memory; a file that is damaged becomes a remark.
 */
#ifndef NT_WATCHFILES_H
#define NT_WATCHFILES_H

#include "record/job-summary.h"

/* Adds the rank records of the job's steps in rundir; step "": all. *newest_s: when the newest was
 * written, since 1970. Returns the number of directories that are the caller's. */
int nt_watch_load_files(struct nt_summary *summary, const char *rundir, uint32_t job,
			const char *step, int64_t *newest_s, struct nt_error *err);

#endif
