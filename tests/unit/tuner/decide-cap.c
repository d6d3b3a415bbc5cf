/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* decide-cap.c - limits of channels: what a rank asks NCCL for, and when it keeps NCCL's own */
#include "tests/unit/tuner/decide-host.h"

#define SIZE 262144u
#define OTHER (8 * SIZE)

static int arm(const char *name)
{
	int number = nt_arm_parse(name);

	assert_true(number >= 0);
	return number;
}

/* The key of this size is decided, for this arm, from its next call on. */
static void decide_for(struct host *h, size_t bytes, const char *name)
{
	const struct nt_schedule final = host_final(arm(name));
	struct nt_plan plan = host_plan(1, host_open_key(h, NT_ALLREDUCE, bytes), &final);

	host_commit(host_key(h, NT_ALLREDUCE, bytes), &plan);
}

static void a_cap_is_written_with_its_arm_alone(void **state)
{
	static struct host h;

	host_open(&h, "bandit,channels=on");
	decide_for(&h, SIZE, "TREE/SIMPLE/4ch");
	for (int i = 0; i < 100; i++) {
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), TREE_SIMPLE);
		assert_int_equal(h.asked_channels, 4);
		assert_true(h.table[NT_PAIRS - 1] < 0);
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, OTHER), RING_SIMPLE);
		assert_int_equal(h.asked_channels, 0);
	}
	/* Events name the pair. */
	assert_int_equal(atomic_load(&host_own_key(&h, NT_ALLREDUCE, SIZE)->events.differed), 0);
	assert_true(atomic_load(&host_own_key(&h, NT_ALLREDUCE, SIZE)->events.forced) > 0);
	/* The pair is not legal today: NCCL's own choice, and its own channels. */
	h.cost[TREE_SIMPLE] = -1;
	assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), RING_SIMPLE);
	assert_int_equal(h.asked_channels, 0);
	host_close(&h);
}

static void a_plain_arm_asks_for_nothing(void **state)
{
	static struct host h;

	host_open(&h, "bandit,channels=on");
	decide_for(&h, SIZE, "TREE/SIMPLE");
	for (int i = 0; i < 10; i++) {
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), TREE_SIMPLE);
		assert_int_equal(h.asked_channels, 0);
	}
	host_close(&h);
}

static void channels_of_pairs_are_told_to_the_node(void **state)
{
	const struct nt_schedule final = host_final(arm("TREE/SIMPLE/4ch"));
	struct nt_shm_key *key;
	struct nt_plan plan;
	static struct host h;

	host_open(&h, "bandit,channels=on");
	h.channels = 12;
	plan = host_plan(1, host_open_key(&h, NT_ALLREDUCE, SIZE), &final);
	key = host_key(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(atomic_load(&key->channels[RING_SIMPLE]), 12);
	h.channels = 4;
	host_commit(key, &plan);
	for (int i = 0; i < 3; i++)
		host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(atomic_load(&key->channels[TREE_SIMPLE]), 0); /* was capped */
	host_close(&h);
}

UNIT_TESTS(a_cap_is_written_with_its_arm_alone, a_plain_arm_asks_for_nothing,
	   channels_of_pairs_are_told_to_the_node);
