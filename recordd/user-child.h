/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* user-child.h - start nt-recordd's children
 *
 * Children that work for the user have the user's rights only, and run in the cgroups of the
 * step's tasks while these exist.
 *
 * Threads:  nt-recordd's one, and its children's.
 * Errors:   -1 and *err: it was not started; in a child -1: it must end.
 */
#ifndef NT_RECORDD_CHILD_H
#define NT_RECORDD_CHILD_H

#include <stddef.h>
#include "recordd/state.h"

int nt_recordd_begin(struct nt_recordd *recordd, enum nt_recordd_work kind, int64_t deadline_ms,
		     struct nt_error *err);

/* After the step's end a child was killed: the step's cgroups have no memory left, or Slurm has
 * killed what is in them. true: the work is due again, outside of the cgroups. */
bool nt_recordd_retry(struct nt_recordd *recordd, enum nt_recordd_work kind,
		      const struct nt_work_result *result);

/* Move all children out of the cgroups. Slurm removes these once, and only if they are empty. */
void nt_recordd_take_out(struct nt_recordd *recordd);

/* "0": our memory is treated as that of others; "1000": we are killed before any of the user's own
 * processes. */
void nt_recordd_oom_score(const char *score);

/* In the child, which keeps the node's memory. file_bytes: nt_rights_drop(). */
int nt_recordd_become_user(const struct nt_recordd *recordd, int out_fd, size_t file_bytes);

#endif
