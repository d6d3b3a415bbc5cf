/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rights.h - give up root's rights, in a process that reads what a user wrote
 *
 * Threads:  single-threaded programs.
 * Errors:   -1 and *err: some rights may remain, so the process must end.
 */
#ifndef NT_RIGHTS_H
#define NT_RIGHTS_H

#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

/* In the child of a root process: become uid and gid permanently, with no groups, no way to regain
 * rights, and small limits. file_bytes: the longest file that it may write; 0: none. */
int nt_rights_drop(uint32_t uid, uint32_t gid, size_t file_bytes, struct nt_error *err);

/* The same with the limits of a debugger, which opens every library of a process. */
int nt_rights_drop_for_tools(uint32_t uid, uint32_t gid, struct nt_error *err);

#endif
