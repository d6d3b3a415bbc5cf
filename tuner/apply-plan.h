/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* apply-plan.h - the slow path of a decision: follow an open key's plans, wait where going on could
 * be wrong, commit, and stop everything when a capture begins
 *
 * Threads:  "decision" in tuner/comm.h.
 * Memory:   no allocation; logs only before an error. Takes the mask's lock where a key opens or
 *           closes, or a window starts or ends; a rank in doubt sleeps (pmix-sync/turn.h).
 * Errors:   -1: going on alone could corrupt data (docs/design.md, the one exception).
 */
#ifndef NT_APPLY_PLAN_H
#define NT_APPLY_PLAN_H

#include "tuner/comm.h"

#define NT_CONFIRM_CALLS 16 /* calls of a committed arm whose Coll events are checked */
#define NT_MEASURE_AHEAD 4 /* positions before a window at which GPU times are switched on */

/* While some key is open. key: NULL if there was no room for it. legal: the pairs that may be
 * forced. *arm becomes the arm in force, a legal one or NT_ARM_BASELINE; if none is, it stays as it
 * was. */
int nt_apply_plan(struct nt_comm *comm, struct nt_local_key *key, const struct nt_call *call,
		  uint32_t legal, int *arm);

/* A plan that commits this arm is in force: the arm, the reason and the time saved are noted in the
 * rank's key. Idempotent. By the thread that has taken the communicator; others read it with
 * nt_key_commits(). */
void nt_commit(struct nt_local_key *key, const struct nt_plan *plan,
	       const struct nt_schedule *schedule, uint32_t arm);

/* A capture begins, at the same point of the program on every rank. Windows end, plans that were
 * not reached are dropped, committed arms that were reached stay. May wait for an outcome. */
void nt_apply_plan_freeze(struct nt_comm *comm);

#endif
