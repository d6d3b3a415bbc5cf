/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* dumps.h - keep what NCCL has written of its topology apart by communicators
 *
 * NCCL writes its graphs and the node's devices in a communicator's init, before the profiler's
 * (src/init.cc:976, :1067, :1251 @v2.28.9-1), to files whose names the environment holds, and the
 * next communicator of the process writes there, too. Where these are in the step's directory, as
 * spank/topology.h has them, they get the communicator's name in its init.
 *
 * Threads:  NCCL's init threads, several at once.
 * Errors:   none; a file that is not there was not written by this rank.
 */
#ifndef NT_DUMPS_H
#define NT_DUMPS_H

#include "contract/policy.h"
#include "tuner/open.h"

/* Of the communicator whose init this is. */
void nt_dumps_name(const struct nt_policy *policy, const struct nt_place *place,
		   const struct nt_comm_identity *who);

#endif
