/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* dumps.h - leave NCCL's topology dumps in the node's memory, with their communicator
 *
 * NCCL dumps its graphs and the node's devices in a communicator's init, before the profiler's init
 * (src/init.cc:976, :1067, :1251 @v2.28.9-1), into files of the environment; the next communicator
 * of the process overwrites them. Where these are the task's own (spank/topology-env.h), each init
 * copies and empties them.
 *
 * Threads:  NCCL's init threads, several at once.
 * Errors:   none; a file that is empty was not this rank's.
 */
#ifndef NT_DUMPS_H
#define NT_DUMPS_H

#include "contract/policy.h"
#include "tuner/open.h"

/* The dumps of the communicator whose init this is. shm_fd: -1: there is no memory. */
void nt_dumps_leave(const struct nt_policy *policy, int shm_fd, const struct nt_comm_identity *who);

#endif
