/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* costs.c - cost tables of other numbers of algorithms than ours: older ones, and those to come */
#include "tests/unit/tuner/decide-host.h"

#define SIZE 262144u
#define MORE 8 /* algorithms */
#define NEW_PAIR (NT_ALGOS * NT_PROTOS + 2) /* of the eighth */

static float table[NT_COSTS_MAX];

/* A decision on a table of so many algorithms: ours as the host has them, of the others `new_us`.
 * What is beyond the table stays as it is. */
static int decide(struct host *h, int algos, int protos, float new_us)
{
	const struct nt_call call = {
		.coll = NT_ALLREDUCE, .bytes = SIZE, .cost = table, .algos = algos, .protos = protos
	};

	for (int i = 0; i < NT_COSTS_MAX; i++)
		table[i] = i >= algos * protos ? 12345.0f : i < NT_PAIRS ? h->cost[i] : new_us;
	assert_int_equal(nt_comm_decide(h->comm, &call), NT_NCCL_OK);
	for (int i = algos * protos; i < NT_COSTS_MAX; i++)
		assert_true(table[i] == 12345.0f);
	return nt_costs_baseline(table, algos * protos, false);
}

static uint64_t odd_tables(struct host *h)
{
	return atomic_load(&h->process.count[NT_COUNT_ODD_TABLE]);
}

static void tables_of_six_to_sixteen_algorithms_are_read(void **state)
{
	static struct host h;

	host_open(&h, "bandit");
	for (int algos = NT_TUNER_ALGOS_OLD; algos <= NT_COSTS_ALGOS; algos++)
		assert_int_equal(decide(&h, algos, NT_PROTOS, 60.0f), RING_SIMPLE);
	assert_int_equal(odd_tables(&h), 0);
	/* One key, whose mask has our pairs alone */
	assert_int_equal(nt_comm_keys(h.comm), 1);
	assert_int_equal(nt_key_mask(nt_comm_key_id(h.comm, 0)), HOST_LEGAL);
	assert_int_equal(decide(&h, NT_TUNER_ALGOS_OLD - 1, NT_PROTOS, 60.0f), RING_SIMPLE);
	assert_int_equal(decide(&h, NT_ALGOS, 2, 60.0f), RING_SIMPLE);
	assert_int_equal(odd_tables(&h), 2);
	host_close(&h);
}

static void an_arm_wins_over_entries_of_algorithms_to_come(void **state)
{
	const struct nt_schedule final = host_final(TREE_SIMPLE);
	static struct host h;
	struct nt_plan plan;

	host_open(&h, "bandit");
	plan = host_plan(1, host_open_key(&h, NT_ALLREDUCE, SIZE), &final);
	host_commit(host_key(&h, NT_ALLREDUCE, SIZE), &plan);
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(decide(&h, MORE, NT_PROTOS, 60.0f), TREE_SIMPLE);
	assert_true(table[TREE_SIMPLE] == 0.0f && table[NEW_PAIR] == 60.0f);
	/* NCCL takes one of them: its choice stays, and the key is another. */
	assert_int_equal(decide(&h, MORE, NT_PROTOS, 1.0f), NT_PAIRS);
	assert_int_equal(decide(&h, NT_COSTS_ALGOS, NT_PROTOS, 0.0f), NT_PAIRS);
	assert_int_equal(nt_comm_keys(h.comm), 2);
	assert_int_equal(nt_key_mask(nt_comm_key_id(h.comm, 1)), 0);
	assert_int_equal(h.comm->key[1].fixed.baseline_arm, NT_ARM_BASELINE);
	assert_null(h.comm->key[1].fixed.shared);
	assert_int_equal(odd_tables(&h), 0);
	host_close(&h);
}

/* A forced entry is the only one at 0, in all of the table. */
static void nothing_else_stays_at_0(void **state)
{
	for (int i = 0; i < NT_COSTS_MAX; i++)
		table[i] = 0.0f;
	nt_costs_force(table, MORE * NT_PROTOS, TREE_SIMPLE);
	assert_int_equal(nt_costs_baseline(table, MORE * NT_PROTOS, false), TREE_SIMPLE);
	assert_int_equal(nt_costs_baseline(table, MORE * NT_PROTOS, true), TREE_SIMPLE);
	assert_true(table[MORE * NT_PROTOS] == 0.0f);
	table[NEW_PAIR] = -1.0f;
	assert_int_equal(nt_costs_legal(table, MORE), NT_PAIRS_ALL);
}

UNIT_TESTS(tables_of_six_to_sixteen_algorithms_are_read,
	   an_arm_wins_over_entries_of_algorithms_to_come, nothing_else_stays_at_0);
