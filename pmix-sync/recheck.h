/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* recheck.h - committed keys are open once more now and then, so that their home can measure anew
 *
 * When, every node knows by itself: at times after its first commit whose distances double. So
 * nobody has to listen in between, and all keys of a communicator share the reads of a recheck.
 * Nodes are never exactly in time; what is asked and answered is what it always is, READY first,
 * so that only time is lost by it. A node may end a recheck alone whenever it is not in doubt and
 * no window is in force on it: its ranks then follow the committed plan as all others do.
 */
#ifndef NT_SYNC_RECHECK_H
#define NT_SYNC_RECHECK_H

#include "pmix-sync/state.h"

/* Open the keys of which it is time. */
void nt_recheck_begin(struct nt_agree *a, struct nt_agree_comm *comm);
/* Ranks look at the board no more: the committed plan is what they follow. */
void nt_recheck_end(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key);
/* At every step of a key. True: say READY once all turns are known. */
bool nt_recheck_step(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key);

/* Do others have anything to say of this key? Not while a window is in force here: this node
 * speaks first then. */
bool nt_recheck_listens(const struct nt_agree_key *key);
/* Is it time to read logs for rechecks? The reads are counted. */
bool nt_recheck_looks(struct nt_agree *a, struct nt_agree_comm *comm);

#endif
