/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* user-child.h - what nt-recordd's children that work for the user have in common
 *
 * They have the user's rights and no others, and run in the control groups of the step's tasks as
 * long as these are there.
 *
 * Threads:  nt-recordd's one, and its children's.
 * Errors:   -1: the child is to end.
 */
#ifndef NT_RECORDD_CHILD_H
#define NT_RECORDD_CHILD_H

#include <stddef.h>
#include "spank/recordd/state.h"

/* In nt-recordd: a child comes into the groups, so that it cannot come in after it was taken out;
 * all of them leave. */
void nt_recordd_put_in(const struct nt_recordd *recordd, enum nt_recordd_work kind);
void nt_recordd_take_out(struct nt_recordd *recordd);

/* "0": memory is ours as others'; "1000": we go before any of the user's own processes. */
void nt_recordd_oom_score(const char *score);

/* In the child. file_bytes: nt_rights_drop(). */
int nt_recordd_become_user(const struct nt_recordd *recordd, int out_fd, size_t file_bytes);

#endif
