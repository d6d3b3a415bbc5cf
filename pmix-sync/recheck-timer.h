/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* recheck-timer.h - reopen committed keys from time to time, so that the coordinator can measure
 * again
 *
 * Every node knows when: at doubling intervals after its first commit, and at most once in each if
 * the program has become slower, which all nodes see. So nobody has to listen in between, and all
 * keys of a communicator share the log reads of a recheck. Nodes are never exactly in time; the
 * protocol is the usual one, READY first, so a difference only costs time. A node may end a recheck
 * by itself whenever it is not in doubt and no window is in force on it: its ranks then follow the
 * committed plan like all others.
 */
#ifndef NT_SYNC_RECHECK_TIMER_H
#define NT_SYNC_RECHECK_TIMER_H

#include "pmix-sync/agree-state.h"

/* Open the keys that are due. */
void nt_recheck_begin(struct nt_agree *a, struct nt_agree_comm *comm);
/* Ranks no longer read shared memory: they follow the committed plan. */
void nt_recheck_end(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key);
/* Call at every step of a key. True: send READY once all turns are known. */
bool nt_recheck_step(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key);

/* May other nodes have something to say on this key? Not while a window is in force here: this node
 * must report first. */
bool nt_recheck_listens(const struct nt_agree_key *key);
/* Is it time to read logs for rechecks? Counts the reads. */
bool nt_recheck_looks(struct nt_agree *a, struct nt_agree_comm *comm);

#endif
