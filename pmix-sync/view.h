/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - what the node leader reads of its ranks in shared memory
 *
 * "All our ranks" are the local ranks that have joined and not left.
 *
 * Threads:  the node leader's. Turns, states and flags are read sequentially consistent: what is
 *           checked after a hold was set must be read after it (docs/agreement.md).
 * Units:    turns in shared memory are published plus one; 0: not known.
 */
#ifndef NT_SYNC_VIEW_H
#define NT_SYNC_VIEW_H

#include "pmix-sync/agree-state.h"

struct nt_shm_comm *nt_view_comm(struct nt_agree *a, const struct nt_agree_comm *comm);
/* The key must have an index in shared memory. */
struct nt_shm_key *nt_view_key(struct nt_agree *a, const struct nt_agree_comm *comm,
			       const struct nt_agree_key *key);

/* The key was not called for long, or for half of that time. */
bool nt_view_silent(const struct nt_agree *a, const struct nt_agree_key *key);
bool nt_view_pauses(const struct nt_agree *a, const struct nt_agree_key *key);

/* A local rank is at a turn whose outcome is not known here. */
bool nt_view_waits(struct nt_agree *a, const struct nt_agree_comm *comm,
		   const struct nt_agree_key *key);

uint32_t nt_view_slots(const struct nt_shm_comm *shm);
bool nt_view_joined(const struct nt_shm_comm *shm, uint32_t slot);
/* Highest turn of all our ranks, plus one; 0: none is known. */
uint64_t nt_view_top_turn(struct nt_shm_key *key, const struct nt_shm_comm *shm);
/* Do all our ranks know their turn of this key? */
bool nt_view_turns_known(struct nt_shm_key *key, const struct nt_shm_comm *shm);
/* Have all our ranks reached this plan, the newest here, and its end if there is one? */
bool nt_view_passed(struct nt_shm_key *key, const struct nt_shm_comm *shm,
		    const struct nt_plan *plan);
/* Has no rank decided at turn `at` or later? After the hold was set. */
bool nt_view_none_reached(struct nt_shm_key *key, const struct nt_shm_comm *shm, uint64_t at);
/* Are all samples of the plan complete or given up? */
bool nt_view_measured(struct nt_agree *a, const struct nt_plan *plan,
		      const struct nt_shm_comm *shm);
/* Why a rank with these NT_PARTICIPANT_* takes no plan; NT_REASON_NONE: it may. */
int nt_view_barred(uint32_t flags);
/* Why no new plan may be taken: a rank has left, or set a flag. NT_REASON_NONE: it may. */
int nt_view_objection(const struct nt_shm_comm *shm);

#endif
