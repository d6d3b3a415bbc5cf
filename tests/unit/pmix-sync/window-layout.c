/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* window-layout.c - each call of a window has its own position, whatever other calls are between */
#include "pmix-sync/window-layout.h"
#include "tests/unit/pmix-sync/agree-pair.h"

#define OTHER (nt_key_band(KEY) + 3) /* the band of all other tasks */

/* A program's calls of the key: so many in a row, then so many other tasks. Every `odd`th time
 * there is one more of the others. */
struct pattern {
	uint32_t burst, others, odd;
};

/* The state of a pair of ranks. */
struct play {
	struct pair *p;
	struct nt_task_log task_log[2];
	uint64_t told_turn[2]; /* plus 1 */
	unsigned at[64]; /* calls of the window by position */
	unsigned excess;
	uint32_t random;
};

static void note(struct play *play, unsigned band)
{
	for (int r = 0; r < 2; r++)
		nt_task_log_note(&play->task_log[r], play->p->turn, band);
	play->p->turn++;
}

/* As tuner/apply-plan.c does. */
static void tell_pace(struct play *play, int r, struct nt_shm_key *key)
{
	const uint64_t turn = play->p->turn, before = play->told_turn[r] - 1;

	if (play->told_turn[r] != 0) {
		atomic_fetch_add(&key->tasks, nt_task_log_count(&play->task_log[r], before, turn,
								nt_key_band(KEY)));
		if (turn - before > atomic_load(&key->gap))
			atomic_store(&key->gap, (uint32_t)(turn - before));
	}
	play->told_turn[r] = turn + 1;
}

/* What a rank follows at this turn: -1 the baseline, or the position; 1000: a committed plan. */
static int64_t look(struct play *play, int r, bool real)
{
	static const float cost[NT_PAIRS];
	struct pair *p = play->p;
	struct nt_shm_key *key =
		&comm_of(p, r)->key[nt_shm_key(&p->slot[r], KEY, 5, cost, NT_SHM_KEYS)];
	const struct nt_plan *plan;
	int64_t position;

	if (real)
		atomic_fetch_add(&key->calls[p->slot[r].index], 1);
	if (atomic_load(&key->state) == NT_KEY_IDLE)
		return -1;
	p->view[r].task_log = &play->task_log[r];
	p->view[r].band = nt_key_band(KEY);
	if (p->slot[r].index == 0)
		tell_pace(play, r, key);
	assert_int_equal(nt_turn_take(key, p->slot[r].index, p->turn, &p->view[r]), NT_TURN_GO);
	plan = nt_turn_plan(&p->view[r], p->turn, &position);
	if (!plan)
		return -1;
	return plan->until == NT_NEVER ? 1000 : position;
}

static bool chance(struct play *play, uint32_t one_in)
{
	play->random = play->random * 1664525 + 1013904223;
	return (play->random >> 16) % one_in == 0;
}

/* One call on both ranks; one of them asks without a call now and then. Returns what it follows. */
static int64_t call(struct play *play)
{
	int64_t follows[2];

	for (int r = 0; r < 2; r++)
		follows[r] = look(play, r, true);
	assert_int_equal(follows[0], follows[1]);
	note(play, nt_key_band(KEY));
	if (chance(play, 3))
		(void)look(play, 1, false);
	return follows[0];
}

static int64_t burst(struct play *play, const struct pattern *pattern, unsigned round)
{
	int64_t follows = -1;

	for (uint32_t i = 0; i < pattern->burst; i++) {
		follows = call(play);
		if (follows >= 0 && follows < 64)
			play->at[follows]++;
		play->excess += follows == NT_TURN_EXCESS;
	}
	for (uint32_t i = 0; i < pattern->others; i++) {
		note(play, OTHER);
		if (chance(play, 20))
			(void)look(play, 1, false);
	}
	if (pattern->odd > 0 && round % pattern->odd == 0)
		note(play, OTHER);
	pass(play->p, 50);
	return follows;
}

/* Calls of the first window with their own position, of `calls`. */
static unsigned alone(const struct pattern *pattern, uint32_t nodes, uint64_t calls)
{
	struct play *play = calloc(1, sizeof(*play));
	unsigned positions = 0;
	int64_t follows = 0;

	assert_non_null(play);
	window_calls = calls;
	play->p = make(nodes, NULL);
	for (unsigned round = 0; follows != 1000 && round < 2000; round++)
		follows = burst(play, pattern, round);
	assert_int_equal(follows, 1000);
	for (uint64_t i = 0; i < calls; i++)
		positions += play->at[i] == 1;
	destroy(play->p);
	free(play);
	return positions;
}

static void every_call_of_a_burst_has_its_position(void **state)
{
	static const struct pattern patterns[] = {
		{ 1, 0, 0 }, { 1, 7, 0 },  { 2, 8, 0 },	 { 2, 3, 0 },  { 2, 40, 4 }, { 3, 9, 0 },
		{ 3, 1, 2 }, { 5, 45, 0 }, { 5, 20, 3 }, { 7, 20, 5 }, { 1, 30, 2 }, { 5, 5, 1 },
	};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		for (uint32_t nodes = 1; nodes <= 2; nodes++) {
			unsigned count = alone(&patterns[i], nodes, 36);

			if (count != 36)
				fail_msg("bursts of %u among %u: %u", patterns[i].burst,
					 patterns[i].others, count);
		}
	}
}

/* Longer than tasks are remembered: several cells, and few places without a call. */
static void a_window_longer_than_the_trail_has_cells(void **state)
{
	static const struct pattern far[] = { { 2, 2000, 0 }, { 3, 5000, 0 }, { 4, 9000, 0 } };

	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		for (uint32_t nodes = 1; nodes <= 2; nodes++) {
			unsigned count = alone(&far[i], nodes, 36);

			if (count < 32)
				fail_msg("bursts of %u among %u: %u", far[i].burst, far[i].others,
					 count);
		}
	}
}

/* 40 positions of a call in 1,000 turns: three cells of 16 would end 8 calls later. */
static void the_cells_of_a_window_are_equal(void **state)
{
	static const struct nt_cadence regular = { 20000, 20, 20, 1000 };
	struct nt_plan plan = { .until = 40 };

	nt_window_layout(&regular, &plan);
	assert_int_equal(plan.cell, 14);
	assert_in_range(nt_window_layout_turns(&plan), 40000, 44000);
}

static void what_cannot_be_counted_is_spread_by_turns(void **state)
{
	/* two tasks to a call; calls further apart than the task log is long; nothing known */
	static const struct nt_cadence odd[] = { { 100, 20, 40, 5 },
						 { 400000, 20, 20, 20000 },
						 { 0, 0, 0, 0 } };
	static const uint32_t stride[] = { 5, 20000, 1 };

	for (unsigned i = 0; i < 3; i++) {
		struct nt_plan plan = { .until = 30 };

		nt_window_layout(&odd[i], &plan);
		assert_int_equal(plan.cell, 1);
		assert_int_equal(plan.stride, stride[i]);
		assert_int_equal(nt_window_layout_turns(&plan), 30 * stride[i]);
	}
}

static void a_plan_for_good_has_no_end(void **state)
{
	static const struct nt_cadence usual = { 100, 20, 20, 5 };
	struct nt_plan plan = { .until = NT_NEVER };

	nt_window_layout(&usual, &plan);
	assert_int_equal(plan.cell, 1);
	assert_true(nt_window_layout_turns(&plan) == NT_NEVER);
}

static void a_trail_forgets_and_does_not_mistake(void **state)
{
	struct nt_task_log *task_log = calloc(1, sizeof(*task_log));

	assert_non_null(task_log);
	assert_int_equal(nt_task_log_count(task_log, 0, 100, 0), 0);
	for (uint64_t seq = 0; seq < 3 * NT_TASK_LOG; seq++) {
		if (seq % 5 != 4) /* one that was not reported */
			nt_task_log_note(task_log, seq, seq % 2 ? 9 : 126);
	}
	assert_int_equal(nt_task_log_count(task_log, 3 * NT_TASK_LOG - 10, 3 * NT_TASK_LOG, 9), 4);
	assert_int_equal(nt_task_log_count(task_log, 3 * NT_TASK_LOG - 10, 3 * NT_TASK_LOG, 126),
			 4);
	assert_int_equal(nt_task_log_count(task_log, 0, 3 * NT_TASK_LOG, 9),
			 nt_task_log_count(task_log, 2 * NT_TASK_LOG, 3 * NT_TASK_LOG, 9));
	assert_int_equal(nt_task_log_count(task_log, 50, 40, 9), 0);
	free(task_log);
}

/* Turns that were not reported are not calls, whatever this rank alone saw two rounds earlier. */
static void gaps_hold_nothing(void **state)
{
	struct nt_task_log *one = calloc(1, sizeof(*one)), *other = calloc(1, sizeof(*other));
	const uint64_t lap = 2 * NT_TASK_LOG;

	assert_non_null(one);
	assert_non_null(other);
	for (uint64_t seq = 0; seq < 100; seq++)
		nt_task_log_note(one, seq, 9);
	for (uint64_t seq = lap + 10; seq < lap + 100; seq += 10) {
		nt_task_log_note(one, seq, 9);
		nt_task_log_note(other, seq, 9);
	}
	assert_int_equal(nt_task_log_count(one, lap, lap + 100, 9), 9);
	assert_int_equal(nt_task_log_count(other, lap, lap + 100, 9), 9);
	free(one);
	free(other);
}

UNIT_TESTS(every_call_of_a_burst_has_its_position, a_window_longer_than_the_trail_has_cells,
	   the_cells_of_a_window_are_equal, what_cannot_be_counted_is_spread_by_turns,
	   a_plan_for_good_has_no_end, a_trail_forgets_and_does_not_mistake, gaps_hold_nothing);
