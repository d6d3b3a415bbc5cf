/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* alike.h - keys of communicators that are alike, and so are explored together
 *
 * Alike are communicators with as many ranks on the same nodes, this one their home, and no GPU in
 * two of them: the data-parallel groups of a job with tensor parallelism. Their
 * collectives run beside each other, and what follows waits for the slowest. So their homes, which
 * are one, ask the tuner for the same key of all of them at the same time, give each what all have
 * measured of a plan, and let equal plans begin at the same turn with the same epoch: where the
 * tuner makes the same of the same, they run the same arms beside each other and are decided alike.
 *
 * None of this is agreed on. Each communicator has proposals, outcomes and plans of its own, and
 * one that is late, refused or asked for another plan goes on by itself.
 *
 * Threads:  the speaker's.
 * Memory:   nothing is kept here.
 * Units:    turns on the board are published plus one.
 */
#ifndef NT_SYNC_ALIKE_H
#define NT_SYNC_ALIKE_H

#include "pmix-sync/state.h"

/* Is the tuner to be asked of this key later, since others like it are about to be ready, too? */
bool nt_alike_wait(struct nt_agree *a, const struct nt_agree_comm *comm,
		   const struct nt_agree_key *key);

/* key->plan is about to be proposed with plan.at, which is `lead` ahead of `top`, and plan.epoch:
 * begin with the others, if that can be. Neither becomes smaller but by what the lead has to
 * spare; epochs are not used twice. */
void nt_alike_align(struct nt_agree *a, const struct nt_agree_comm *comm, struct nt_agree_key *key,
		    uint64_t top, uint64_t lead);

/* What all nodes have measured of key's plan is told to the tuners of all others that run it. */
void nt_alike_share(struct nt_agree *a, const struct nt_agree_comm *comm,
		    const struct nt_agree_key *key, const uint8_t *bytes, size_t count);

#endif
