/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/commit.h"

/* Keep what the arm before has saved, and count anew. */
static void close_account(struct nt_key_decision *d, uint32_t commits, uint64_t calls)
{
	const struct nt_outcome *before = &d->outcome[commits & 1];
	uint64_t since = calls - atomic_load_explicit(&d->commit_calls, memory_order_relaxed);
	double saved_us = 0;

	if (before->samples > 0)
		saved_us = (double)since * ((double)before->baseline_us - (double)before->best_us);
	if (before->chosen_arm != NT_ARM_BASELINE && saved_us > -1e15 && saved_us < 1e15)
		atomic_fetch_add_explicit(&d->saved_us, (int64_t)saved_us, memory_order_relaxed);
}

void nt_commit(struct nt_local_key *key, const struct nt_plan *plan,
	       const struct nt_schedule *schedule, uint32_t arm)
{
	struct nt_key_decision *d = &key->decision;
	uint32_t commits = nt_key_commits(key, NULL);
	uint64_t calls = nt_key_calls(key);

	if (d->commit_epoch == plan->epoch)
		return;
	if (commits > 0) {
		close_account(d, commits, calls);
		if (arm == NT_ARM_BASELINE && d->arm != NT_ARM_BASELINE)
			atomic_fetch_add_explicit(&d->rollbacks, 1, memory_order_relaxed);
		else if (arm != d->arm)
			atomic_fetch_add_explicit(&d->changes, 1, memory_order_relaxed);
	}
	d->commit_epoch = plan->epoch;
	d->arm = arm;
	/* The helper thread may be reading the other one. */
	d->outcome[(commits + 1) & 1] = schedule->outcome;
	atomic_store_explicit(&d->commit_calls, calls, memory_order_relaxed);
	/* Pairs with the acquire in nt_key_commits(). */
	atomic_store_explicit(&d->commits, commits + 1, memory_order_release);
}

void nt_commit_window(struct nt_local_key *key, const struct nt_plan *plan,
		      const struct nt_schedule *schedule)
{
	struct nt_key_decision *d = &key->decision;

	if (d->window_epoch == plan->epoch)
		return;
	d->window_epoch = plan->epoch;
	if (schedule->kind == NT_SCHEDULE_RECHECK)
		atomic_fetch_add_explicit(&d->rechecks, 1, memory_order_relaxed);
}
