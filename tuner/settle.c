/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* settle.c - a plan for good becomes a rank's arm, and the board is not looked at until the key
 * is open again
 */
#include "tuner/comm.h"

/* What the arm before has saved is kept; what comes now is counted anew. */
static void close_account(struct nt_own_key *key, uint32_t settled, uint64_t calls)
{
	const struct nt_outcome *before = &key->outcome[settled & 1];
	uint64_t since = calls - atomic_load_explicit(&key->latched_calls, memory_order_relaxed);
	double saved_us = 0;

	if (before->samples > 0)
		saved_us = (double)since * ((double)before->auto_us - (double)before->best_us);
	if (before->chosen_arm != NT_ARM_AUTO && saved_us > -1e15 && saved_us < 1e15)
		atomic_fetch_add_explicit(&key->saved_us, (int64_t)saved_us, memory_order_relaxed);
}

void nt_comm_settle(struct nt_own_key *key, const struct nt_plan *plan,
		    const struct nt_schedule *final, int arm)
{
	uint32_t settled = atomic_load_explicit(&key->settled, memory_order_relaxed);
	uint64_t calls = atomic_load_explicit(&key->calls, memory_order_relaxed);

	if (key->settled_epoch == plan->epoch)
		return;
	if (settled > 0) {
		close_account(key, settled, calls);
		if (arm == NT_ARM_AUTO && key->arm != NT_ARM_AUTO)
			atomic_fetch_add_explicit(&key->rollbacks, 1, memory_order_relaxed);
		else if ((uint32_t)arm != key->arm)
			atomic_fetch_add_explicit(&key->changes, 1, memory_order_relaxed);
	}
	key->settled_epoch = plan->epoch;
	key->arm = (uint32_t)arm;
	/* The helper may be reading the other one. */
	key->outcome[(settled + 1) & 1] = final->outcome;
	atomic_store_explicit(&key->latched_calls, calls, memory_order_relaxed);
	/* Pairs with the helper's acquire. */
	atomic_store_explicit(&key->settled, settled + 1, memory_order_release);
}

void nt_comm_latch(struct nt_comm *c, struct nt_own_key *key)
{
	nt_comm_measure_key(c, key, false);
	key->confirmed = 0;
	/* Pairs with the helper's acquire. */
	atomic_store_explicit(&key->state, NT_OWN_LATCHED, memory_order_release);
}

void nt_comm_count_window(struct nt_own_key *key, const struct nt_plan *plan,
			  const struct nt_schedule *schedule)
{
	if (key->window_epoch == plan->epoch)
		return;
	key->window_epoch = plan->epoch;
	if (schedule->kind == NT_SCHEDULE_RECHECK)
		atomic_fetch_add_explicit(&key->rechecks, 1, memory_order_relaxed);
}
