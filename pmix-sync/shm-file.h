/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* shm-file.h - open the node's memory
 *
 * Threads:  any.
 * Memory:   the caller owns the descriptor.
 * Errors:   -1 and *why set.
 * Host:     slurmstepd's memory cannot shrink (memfd_create(2), F_SEAL_SHRINK), so no access is a
 *           SIGBUS whatever other processes of the user do.
 */
#ifndef NT_SYNC_SHM_FILE_H
#define NT_SYNC_SHM_FILE_H

#include "contract/policy.h"
#include "contract/reason.h"

/* node_step->shm: /proc/<task>/fd/<number>, if it is this step's sealed memory with this layout;
 * else the inherited descriptor of its number; else, because enroot closes descriptors, a file of
 * the user's (NT_SHM_BESIDE). Without Slurm (tests): another path, a file. Files are created at
 * first use. */
int nt_shm_file_open(const struct nt_node_step *node_step, struct nt_reason *why);

#endif
