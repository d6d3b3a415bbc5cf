/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* together.c - ranks of one machine start together */
#include "bench/together.h"

#include <sched.h>
#include <stdbool.h>

#define NAME "together"
#define SPINS 20000 /* then others may run, where there are fewer cores than ranks */

int nt_together_open(struct nt_together *t, const struct nt_meet *meet, int rank, int ranks,
		     int timeout_s, struct nt_error *err)
{
	const struct nt_together_page page = { .last_from = NT_TOGETHER_NEVER,
					       .end = NT_TOGETHER_NEVER };

	*t = (struct nt_together){ .rank = rank, .ranks = ranks };
	if (rank == 0 && nt_meet_put(meet, NAME, &page, sizeof(page), err) < 0)
		return -1;
	t->page = nt_meet_map(meet, NAME, sizeof(page), timeout_s, err);
	if (!t->page)
		return -1;
	nt_together_wait(t);
	if (rank == 0)
		nt_meet_remove(meet, NAME);
	return 0;
}

void nt_together_wait(struct nt_together *t)
{
	const uint32_t turn = atomic_load(&t->page->turn);

	if (atomic_fetch_add(&t->page->arrived, 1) + 1 == (uint32_t)t->ranks) {
		atomic_store(&t->page->arrived, 0);
		atomic_fetch_add(&t->page->turn, 1);
		return;
	}
	for (unsigned spins = 0; atomic_load_explicit(&t->page->turn, memory_order_acquire) == turn;
	     spins++) {
		if (spins >= SPINS)
			sched_yield();
	}
}

void nt_together_plan(struct nt_together *t, const struct nt_together_plan *plan, int round,
		      double now_s)
{
	const double since_s = now_s - plan->start_s;
	const int last_from = atomic_load(&t->page->last_from);
	const bool known = atomic_load(&t->page->end) != NT_TOGETHER_NEVER;

	if (last_from == NT_TOGETHER_NEVER) {
		if (since_s >= plan->seconds)
			atomic_store(&t->page->last_from, round + 1);
	} else if (!known && round > last_from && since_s >= plan->seconds + plan->last_seconds) {
		atomic_store(&t->page->end, round + 1);
	}
}

void nt_together_close(struct nt_together *t)
{
	if (t->page)
		nt_meet_unmap(t->page, sizeof(*t->page));
	t->page = NULL;
}
