/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* dumps.h - give NCCL's topology dumps their communicator's name
 *
 * NCCL dumps its graphs and the node's devices in a communicator's init, before the profiler's init
 * (src/init.cc:976, :1067, :1251 @v2.28.9-1), under names from the environment; the next
 * communicator of the process overwrites them. Where spank/topology-env.h has put them into the
 * step's directory, each init renames them.
 *
 * Threads:  NCCL's init threads, several at once.
 * Errors:   none; a file that is missing was not this rank's.
 */
#ifndef NT_DUMPS_H
#define NT_DUMPS_H

#include "contract/policy.h"
#include "tuner/open.h"

/* The dumps of the communicator whose init this is */
void nt_dumps_name(const struct nt_policy *policy, const struct nt_place *place,
		   const struct nt_comm_identity *who);

#endif
