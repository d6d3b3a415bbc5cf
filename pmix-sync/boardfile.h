/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* boardfile.h - the memory behind a node's board: a sealed one of slurmstepd's, or a file
 *
 * Threads:  any.
 * Memory:   a descriptor, the caller's.
 * Errors:   -1 and *err set.
 * Host:     a sealed board cannot be shrunk (memfd_create(2), F_SEAL_SHRINK), so no access to it is
 *           a SIGBUS, whatever other processes of the user's do with it.
 */
#ifndef NT_SYNC_BOARDFILE_H
#define NT_SYNC_BOARDFILE_H

#include <stdint.h>
#include "contract/error.h"

/* The file of the step's directory, made at its first use. */
int nt_boardfile_open(const char *dir, struct nt_error *err);

/* What path (NT_ENV_BOARD) names, if it is the sealed board of this step, in this layout; or what
 * this process has inherited under that number. */
int nt_boardfile_open_sealed(const char *path, const char *node, uint32_t job, uint32_t step,
			     struct nt_error *err);

/* Leave a trace of a sealed board in the step's directory: who reads it sees that NCCL was here. */
void nt_boardfile_mark(const char *dir);

#endif
