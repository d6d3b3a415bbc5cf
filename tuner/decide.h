/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* decide.h - a rank's decision: count the call, find the arm in force, write it into NCCL's table
 *
 * In the steady state, with no key of the communicator open, this is a scan of the table, one
 * lookup and a few loads: no allocation, lock, system call or log. The rest is in
 * tuner/apply-plan.h.
 *
 * Threads:  "decision" in tuner/comm.h.
 */
#ifndef NT_DECIDE_H
#define NT_DECIDE_H

#include "tuner/comm.h"

/* NT_NCCL_OK, or NT_NCCL_SYSTEM_ERROR if going on alone could corrupt data (docs/design.md, the one
 * exception) */
int nt_comm_decide(struct nt_comm *comm, const struct nt_call *call);

/* The key's entry, made at its first use; NULL: no room. cost has algos * NT_PROTOS entries. model:
 * NCCL's prediction where a chained tuner has changed cost. */
struct nt_local_key *nt_comm_key(struct nt_comm *comm, uint64_t id, const struct nt_call *call);

#endif
