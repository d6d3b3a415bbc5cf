/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* decide-plan.c - a rank's decisions: turns, plans, the mask */
#include "tests/unit/tuner/decide-host.h"
#include "tuner/comm-status.h"

#define SIZE 262144u
#define COLL_ON ((int)(NT_PROF_COLL | NT_PROF_KERNEL_LAUNCH | NT_PROF_P2P_API))
#define KERNEL_ON (COLL_ON | (int)NT_PROF_KERNEL_CH)

static void odd_tables_are_left_alone(void **state)
{
	struct nt_call odd[] = {
		{ NT_ALLREDUCE, SIZE, NULL, 17, 3, false, NULL, NULL },
		{ NT_ALLREDUCE, SIZE, NULL, 7, 4, false, NULL, NULL },
		{ NT_COLLS, SIZE, NULL, 7, 3, false, NULL, NULL },
		{ -1, SIZE, NULL, 7, 3, false, NULL, NULL },
		{ NT_ALLREDUCE, SIZE, NULL, 0, 3, false, NULL, NULL },
	};
	float table[51], before[51];
	static struct host h;

	host_open(&h, "bandit");
	for (int i = 0; i < 51; i++)
		before[i] = table[i] = (float)i;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		odd[i].cost = table;
		assert_int_equal(nt_comm_decide(h.comm, &odd[i]), NT_NCCL_OK);
	}
	assert_memory_equal(table, before, sizeof(table));
	assert_int_equal(atomic_load(&h.process.count[NT_COUNT_ODD_TABLE]), 5);
	host_close(&h);
}

static void six_algorithms_are_enough(void **state)
{
	const struct nt_call call = { NT_ALLREDUCE, SIZE, NULL, 6, 3, false, NULL, NULL };
	struct nt_call mine = call;
	float table[18];
	static struct host h;

	host_open(&h, "bandit");
	for (int i = 0; i < 18; i++)
		table[i] = i == RING_SIMPLE ? 3.0f : -1024.0f;
	mine.cost = table;
	assert_int_equal(nt_comm_decide(h.comm, &mine), NT_NCCL_OK);
	assert_int_equal(nt_key_mask(atomic_load(&h.comm->fixed.shm->key[0].id)),
			 1u << RING_SIMPLE);
	assert_true(h.comm->fixed.shm->key[0].cost_us[18] < 0);
	host_close(&h);
}

static void a_full_table_of_keys_is_auto(void **state)
{
	static struct host h;

	host_open(&h, "bandit");
	for (int coll = 0; coll < NT_COLLS; coll++) {
		for (unsigned band = 2; band < 60; band++)
			assert_int_equal(host_collective(&h, coll, nt_band_floor(band)),
					 RING_SIMPLE);
	}
	assert_int_equal(atomic_load(&h.process.count[NT_COUNT_NO_KEY]), 0);
	h.cost[TREE_SIMPLE] = -1; /* other keys: what is legal has changed */
	for (int coll = 0; coll < NT_COLLS; coll++) {
		for (unsigned band = 2; band < 60; band++)
			assert_int_equal(host_collective(&h, coll, nt_band_floor(band)),
					 RING_SIMPLE);
	}
	assert_int_equal(atomic_load(&h.process.count[NT_COUNT_NO_KEY]), 10 * 58 - NT_LOCAL_KEYS);
	host_close(&h);
}

static bool has_place(struct host *h, unsigned band)
{
	return host_own_key(h, NT_ALLREDUCE, nt_band_floor(band))->fixed.shared != NULL;
}

/* Half of the slots are taken; then two keys are called equally often, and one takes a millionth of
 * the other's time. */
static void what_is_worth_nothing_gets_no_place(void **state)
{
	const float usual = 1000;
	float of[NT_PAIRS];
	static struct host h;

	host_open(&h, "bandit");
	host_unhelp(&h);
	for (int coll = NT_REDUCE; coll < NT_ALLREDUCE; coll++) {
		for (unsigned band = 2; band < 60; band++) {
			nt_shm_grow(&h.process.map, h.comm->fixed.slot.comm);
			host_collective(&h, coll, nt_band_floor(band));
		}
	}
	memcpy(of, h.cost, sizeof(of));
	for (unsigned calls = 0; calls < 200; calls++) {
		for (unsigned band = 10; band < 30; band += 10) {
			for (unsigned i = 0; i < NT_PAIRS; i++)
				h.cost[i] = of[i] < 0 ? of[i]
						      : of[i] * (band == 10 ? 0.001f : usual);
			host_collective(&h, NT_ALLREDUCE, nt_band_floor(band));
		}
		assert_false(has_place(&h, 10));
		assert_int_equal(has_place(&h, 20), calls >= 15);
	}
	/* Without min_share, all keys that are called often. */
	h.process.policy.min_share_micro = 0;
	for (unsigned calls = 0; calls < 200; calls++)
		host_collective(&h, NT_ALLREDUCE, nt_band_floor(10));
	assert_true(has_place(&h, 10));
	host_close(&h);
}

static void destroying_a_communicator_returns_its_mask(void **state)
{
	static struct host h;

	host_open(&h, "bandit");
	(void)host_open_key(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(h.mask, COLL_ON);
	nt_comm_close_tuner(h.comm);
	assert_int_equal(h.mask, 0);
	assert_int_equal(atomic_load(&h.comm->fixed.shm->slot[h.comm->fixed.slot.index].state),
			 NT_PARTICIPANT_LEFT);
	nt_comm_close_profiler(h.comm);
	nt_comm_close_tuner(NULL);
	nt_comm_close_profiler(NULL);
	host_close(&h);
}

static void an_exploration_is_followed_and_measured(void **state)
{
	const struct nt_schedule screen = host_screen();
	struct nt_shm_key *key;
	struct nt_shm_run *run;
	struct nt_plan plan;
	unsigned m;
	static struct host h;

	host_open(&h, "bandit");
	plan = host_plan(1, host_open_key(&h, NT_ALLREDUCE, SIZE) + 10, &screen);
	key = host_key(&h, NT_ALLREDUCE, SIZE);
	plan.run = host_run(&h, key);
	run = &h.process.map.shm->run[plan.run];
	m = h.comm->fixed.slot.index;
	host_commit(key, &plan);
	while (h.seq[NT_ALLREDUCE] < plan.at) {
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), RING_SIMPLE);
		/* GPU times come on shortly before the window, so that its first collective has
		 * them. */
		assert_int_equal(h.mask, h.seq[NT_ALLREDUCE] - 1 + NT_MEASURE_AHEAD >= plan.at
						 ? KERNEL_ON
						 : COLL_ON);
		assert_int_equal(atomic_load(&key->passed[m]), 0);
	}
	for (uint64_t at = 0; at < plan.until - plan.at; at++) {
		int arm = nt_schedule_arm(&screen, 1, (int64_t)at);

		h.duration_ns = 50000 + (uint32_t)at;
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE),
				 arm == NT_ARM_BASELINE ? RING_SIMPLE : arm);
		/* A collective's time is known when the next one starts. */
		if (at > 0)
			assert_int_equal(atomic_load(&run->sample[m][at - 1]), 50000 + at - 1);
		assert_int_equal(atomic_load(&run->sample[m][at]), 0);
		assert_int_equal(h.mask, KERNEL_ON);
	}
	assert_int_equal(atomic_load(&key->passed[m]), 1);
	assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), RING_SIMPLE);
	/* The one after the window was appended with GPU times still on: it ends the last one's
	 * time. */
	assert_int_equal(atomic_load(&run->sample[m][11]), 50011);
	assert_int_equal(h.mask, COLL_ON);
	assert_int_equal(atomic_load(&run->issued[m]), 12);
	assert_int_equal(atomic_load(&run->done[m]), 12);
	assert_int_equal(atomic_load(&host_own_key(&h, NT_ALLREDUCE, SIZE)->events.forced), 8);
	assert_int_equal(atomic_load(&h.process.count[NT_COUNT_STALE]), 0);
	assert_int_equal(atomic_load(&h.process.count[NT_COUNT_UNMATCHED]), 0);
	host_close(&h);
}

/* Two calls of the key, then eight others of its function, again and again. */
static void a_burst_has_a_position_for_each_call(void **state)
{
	const struct nt_schedule screen = host_screen();
	struct nt_shm_key *key;
	struct nt_shm_run *run;
	struct nt_plan plan;
	unsigned m, position = 0;
	static struct host h;

	host_open(&h, "bandit");
	plan = host_plan(1, host_open_key(&h, NT_ALLREDUCE, SIZE) + 2, &screen);
	plan.cell = 12;
	plan.stride = 100;
	plan.until = plan.at + 100;
	key = host_key(&h, NT_ALLREDUCE, SIZE);
	plan.run = host_run(&h, key);
	run = &h.process.map.shm->run[plan.run];
	m = h.comm->fixed.slot.index;
	host_commit(key, &plan);
	while (h.seq[NT_ALLREDUCE] < plan.at + 2)
		host_collective(&h, NT_ALLREDUCE, SIZE);
	for (position = 2; position < 14; position++) {
		int arm = nt_schedule_arm(&screen, 1, position < 12 ? (int64_t)position : -1);

		for (unsigned i = 0; position % 2 == 0 && i < 8; i++)
			host_collective(&h, NT_ALLREDUCE, SIZE * 16);
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE),
				 arm == NT_ARM_BASELINE ? RING_SIMPLE : arm);
	}
	host_collective(&h, NT_ALLREDUCE, SIZE * 16);
	for (position = 0; position < 12; position++)
		assert_int_not_equal(atomic_load(&run->sample[m][position]), 0);
	assert_int_equal(atomic_load(&run->issued[m]), 12);
	assert_int_equal(atomic_load(&run->done[m]), 12);
	/* The data for the coordinator's plans. */
	assert_in_range(atomic_load(&key->gap), 9, 9);
	assert_in_range(atomic_load(&key->tasks), 13, 18);
	host_close(&h);
}

/* Others can write to shared memory, too. */
static void a_plan_of_no_turns_is_none(void **state)
{
	const struct nt_schedule screen = host_screen();
	struct nt_shm_key *key;
	struct nt_plan plan;
	static struct host h;

	host_open(&h, "bandit");
	plan = host_plan(1, host_open_key(&h, NT_ALLREDUCE, SIZE), &screen);
	plan.stride = 0;
	key = host_key(&h, NT_ALLREDUCE, SIZE);
	host_commit(key, &plan);
	for (int i = 0; i < 20; i++)
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), RING_SIMPLE);
	host_close(&h);
}

static void a_forced_arm_wins_ties(void **state)
{
	const struct nt_schedule final = host_final(RING_SIMPLE);
	struct nt_plan plan;
	static struct host h;

	host_open(&h, "bandit");
	h.cost[TREE_LL] = 0.0f;
	h.cost[TREE_SIMPLE] = 0.0f;
	plan = host_plan(1, host_open_key(&h, NT_ALLREDUCE, SIZE), &final);
	host_commit(host_key(&h, NT_ALLREDUCE, SIZE), &plan);
	assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), RING_SIMPLE);
	assert_true(h.table[TREE_LL] > 0 && h.table[TREE_LL] < 1e-30f);
	for (int i = 0; i < NT_PAIRS; i++) {
		if (h.cost[i] < 0)
			assert_float_equal(h.table[i], -1.0f, 0);
	}
	host_close(&h);
}

/* Of two communicators the second finds no room: none may be timed any more, which shows in the
 * flags of the first and in the capabilities of the second. */
static void no_times_without_room(void **state)
{
	struct nt_comm *second;
	struct host h;

	host_open(&h, "bandit");
	assert_int_equal(h.comm->fixed.caps.idle, NT_IDLE_NO);
	nt_comm_measure_key(h.comm, &h.comm->key[0], true);
	assert_true(h.mask & (int)NT_PROF_KERNEL_CH);
	host_shm_lacks = true;
	second = host_add_comm(&h, 0xdef, 3, 5, 5);
	host_shm_lacks = false;
	assert_int_equal(second->fixed.caps.idle, NT_IDLE_ROOM);
	assert_false(second->fixed.joined);
	assert_false(h.mask & (int)NT_PROF_KERNEL_CH);
	assert_int_equal(nt_comm_status_flags(h.comm), NT_PARTICIPANT_ROOM);
	/* For good */
	second = host_add_comm(&h, 0x123, 3, 5, 5);
	assert_int_equal(second->fixed.caps.idle, NT_IDLE_ROOM);
	host_close(&h);
	/* Interface 7 came with an NCCL that has no pool. */
	host_shm_lacks = true;
	host_open_api(&h, "bandit", 7, 7);
	assert_int_equal(h.comm->fixed.caps.idle, NT_IDLE_NO);
	host_close(&h);
	host_shm_lacks = false;
}

/* The same plan with the interfaces of NCCL 2.27, if the user promises that there are no graphs. */
static void version_4_follows_plans_too(void **state)
{
	const struct nt_schedule screen = host_screen();
	struct nt_shm_key *key;
	struct nt_plan plan;
	static struct host h;

	host_open_api(&h, "bandit,graphs=never", 4, 4);
	plan = host_plan(1, host_open_key(&h, NT_ALLREDUCE, SIZE) + 2, &screen);
	key = host_key(&h, NT_ALLREDUCE, SIZE);
	plan.run = host_run(&h, key);
	host_commit(key, &plan);
	while (h.seq[NT_ALLREDUCE] < plan.at)
		host_collective(&h, NT_ALLREDUCE, SIZE);
	for (int64_t at = 0; at < 12; at++) {
		int arm = nt_schedule_arm(&screen, 1, at);

		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE),
				 arm == NT_ARM_BASELINE ? RING_SIMPLE : arm);
	}
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(
		atomic_load(&h.process.map.shm->run[plan.run].done[h.comm->fixed.slot.index]), 12);
	host_close(&h);
}

/* Decisions that no collective follows, on this rank alone, must not move its turn. */
static void simulated_groups_do_not_count(void **state)
{
	struct nt_shm_key *key;
	uint64_t before;
	unsigned m;
	static struct host h;

	host_open(&h, "bandit");
	m = h.comm->fixed.slot.index;
	(void)host_open_key(&h, NT_ALLREDUCE, SIZE);
	key = host_key(&h, NT_ALLREDUCE, SIZE);
	before = h.seq[NT_ALLREDUCE];
	for (int i = 0; i < 5; i++) {
		nt_event_call(h.comm, false);
		host_decide(&h, NT_ALLREDUCE, SIZE);
		assert_int_equal(atomic_load(&key->turn[m]), before + 1);
	}
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(atomic_load(&key->turn[m]), before + 1);
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(atomic_load(&key->turn[m]), before + 2);
	assert_int_equal(atomic_load(&h.process.count[NT_COUNT_UNMATCHED]), 0);
	host_close(&h);
}

UNIT_TESTS(odd_tables_are_left_alone, six_algorithms_are_enough, a_full_table_of_keys_is_auto,
	   what_is_worth_nothing_gets_no_place, destroying_a_communicator_returns_its_mask,
	   an_exploration_is_followed_and_measured, a_burst_has_a_position_for_each_call,
	   a_plan_of_no_turns_is_none, a_forced_arm_wins_ties, no_times_without_room,
	   version_4_follows_plans_too, simulated_groups_do_not_count);
