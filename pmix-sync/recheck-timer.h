/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* recheck-timer.h - reopen committed keys from time to time, so that the coordinator can measure
 * again
 *
 * Every node knows when: at doubling intervals after its first commit, and once early in each if
 * the program has become slower, which all nodes see. So nobody listens in between, and all keys of
 * a communicator share a recheck's reads. Nodes are never exactly in time; READY comes first, as
 * always, so a difference only costs time. A node may end a recheck by itself unless it is in doubt
 * or has a window in force: its ranks follow the committed plan, like all others.
 */
#ifndef NT_SYNC_RECHECK_TIMER_H
#define NT_SYNC_RECHECK_TIMER_H

#include "pmix-sync/agree-state.h"

/* Open the keys that are due. */
void nt_recheck_begin(struct nt_agree *a, struct nt_agree_comm *comm);
/* Its ranks follow the committed plan, and read shared memory no more. */
void nt_recheck_end(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key);
/* At every step of a key. True: send READY once all turns are known. */
bool nt_recheck_step(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key);

/* May other nodes have something to say on this key? Not during a window: this node must report
 * first. */
bool nt_recheck_listens(const struct nt_agree_key *key);
/* Is it time to read logs for rechecks? Also counts the reads. */
bool nt_recheck_looks(struct nt_agree *a, struct nt_agree_comm *comm);

#endif
