/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sibling-comms.h - explore the same keys of sibling communicators together
 *
 * Siblings have the same number of ranks on the same nodes, this node as their coordinator, and no
 * GPU in common: the data-parallel groups of a job with tensor parallelism. They run side by side,
 * and the program waits for the slowest. So their coordinator asks the tuner for the same key of
 * all at the same time, gives each the measurements of all, and lets equal plans begin at the same
 * turn with the same epoch. A tuner that treats equal input equally then runs the same arms side by
 * side, and decides alike.
 *
 * Nothing of this is agreed on: each communicator has its own proposals, outcomes and plans, and
 * goes on alone if it is late, refused or given another plan.
 *
 * Threads:  the node leader's.
 * Memory:   no state is kept here.
 * Units:    turns in shared memory are published plus one.
 */
#ifndef NT_SYNC_SIBLING_COMMS_H
#define NT_SYNC_SIBLING_COMMS_H

#include "pmix-sync/agree-state.h"

/* Ask the tuner later, because siblings will soon be ready for this key, too? */
bool nt_siblings_wait(struct nt_agree *a, const struct nt_agree_comm *comm,
		      const struct nt_agree_key *key);

/* Before key->plan is proposed with plan.epoch and plan.at, `lead` turns ahead of `top`: begin with
 * the siblings if possible. Takes at most the slack from the lead, and never reuses an epoch. */
void nt_siblings_align(struct nt_agree *a, const struct nt_agree_comm *comm,
		       struct nt_agree_key *key, uint64_t top, uint64_t lead);

/* Give all nodes' measurements of key's plan to siblings that run the same plan. */
void nt_siblings_share(struct nt_agree *a, const struct nt_agree_comm *comm,
		       const struct nt_agree_key *key, const uint8_t *bytes, size_t count);

#endif
