/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* user-child.h - common functions of nt-recordd's children that work for the user
 *
 * They have the user's rights only, and run in the control groups of the step's tasks while these
 * exist.
 *
 * Threads:  nt-recordd's one, and its children's.
 * Errors:   -1: the child must end.
 */
#ifndef NT_RECORDD_CHILD_H
#define NT_RECORDD_CHILD_H

#include <stddef.h>
#include "spank/recordd/state.h"

/* In nt-recordd: add a child to the groups, so that it cannot join after it was removed; remove all
 * children. */
void nt_recordd_put_in(const struct nt_recordd *recordd, enum nt_recordd_work kind);
void nt_recordd_take_out(struct nt_recordd *recordd);

/* "0": our memory is treated as that of others; "1000": we are killed before any of the user's own
 * processes. */
void nt_recordd_oom_score(const char *score);

/* In the child. file_bytes: nt_rights_drop(). */
int nt_recordd_become_user(const struct nt_recordd *recordd, int out_fd, size_t file_bytes);

#endif
