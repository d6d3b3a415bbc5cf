/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* shm-file.h - open the file of the node's shared memory: sealed by slurmstepd, or a regular file
 *
 * Threads:  any.
 * Memory:   the caller owns the descriptor.
 * Errors:   -1 and *why set.
 * Host:     sealed memory cannot shrink (memfd_create(2), F_SEAL_SHRINK), so no access is a SIGBUS
 *           whatever other processes of the user do.
 */
#ifndef NT_SYNC_SHM_FILE_H
#define NT_SYNC_SHM_FILE_H

#include <stdint.h>
#include "contract/reason.h"

/* In the step's directory, created at first use. */
int nt_shm_file_open(const char *dir, struct nt_reason *why);

/* The file at path (NT_ENV_SHM), if it is this step's sealed memory with this layout; else the
 * inherited descriptor of its number. */
int nt_shm_file_open_sealed(const char *path, const char *node, uint32_t job, uint32_t step,
			    struct nt_reason *why);

/* Create an empty file in the step's directory: NCCL was active although the memory is sealed. */
void nt_shm_file_mark(const char *dir);

#endif
