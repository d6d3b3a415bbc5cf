/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* dumps.h - rename NCCL's topology dumps by communicator
 *
 * NCCL dumps its graphs and the node's devices in a communicator's init, before the profiler's init
 * (src/init.cc:976, :1067, :1251 @v2.28.9-1), to file names from the environment; the process's
 * next communicator writes to the same files. If they are in the step's directory, as
 * spank/topology-env.h sets them, each communicator's init renames them.
 *
 * Threads:  NCCL's init threads, several at once.
 * Errors:   none; a missing file was not written by this rank.
 */
#ifndef NT_DUMPS_H
#define NT_DUMPS_H

#include "contract/policy.h"
#include "tuner/open.h"

/* Rename the dumps of the communicator that is being initialised. */
void nt_dumps_name(const struct nt_policy *policy, const struct nt_place *place,
		   const struct nt_comm_identity *who);

#endif
