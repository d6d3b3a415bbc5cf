/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* follow.h - the part of a decision that is not steady: follow the plans of an open key, wait where
 *            that could be wrong, commit, and end it all where a capture begins
 *
 * Threads:  those that are "decision" in tuner/comm.h.
 * Memory:   no allocation, no log line but before an error. The mask's lock is taken where a key
 *           opens, closes, or starts and ends a window; a rank in doubt sleeps (pmix-sync/turn.h).
 * Errors:   -1: going on alone could corrupt data (docs/design.md, the one exception).
 */
#ifndef NT_FOLLOW_H
#define NT_FOLLOW_H

#include "tuner/comm.h"

#define NT_CONFIRM_CALLS 16 /* calls of a committed arm whose Coll events are still looked at */
#define NT_MEASURE_AHEAD 4 /* positions before a window at which GPU times are switched on */

/* A decision while something is open. key: NULL where there was no room for it. legal: the pairs
 * that may be forced. *arm: one of these that is in force, or NT_ARM_AUTO, as on entry. */
int nt_follow(struct nt_comm *comm, struct nt_own_key *key, const struct nt_call *call,
	      uint32_t legal, int *arm);

/* A capture begins here, at the same place of the program on every rank. Windows end, plans not
 * reached never are, arms committed and reached stay. May wait for an outcome. */
void nt_follow_no_more(struct nt_comm *comm);

#endif
