/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* read-pace.c - a simulated day of reading logs: its cost in slurmstepd's memory */
#include "tests/lib/unit.h"
#include "pmix-sync/read-pace.h"

#define DAY_MS (UINT64_C(24) * 3600 * 1000)
#define MIB (1u << 20)

struct day {
	uint64_t reads, spent, limited_ms;
};

/* `logs` logs are read all day; each gets another key after so many milliseconds. */
static struct day listen_for_a_day(uint32_t logs, uint64_t key_ms, uint32_t key_bytes)
{
	struct day day = { .limited_ms = DAY_MS };
	uint64_t ms = 0;

	while (ms < DAY_MS) {
		uint64_t keys = 1 + ms / key_ms;
		uint64_t cost = nt_pace_read_cost((uint32_t)keys, keys * key_bytes);

		if (nt_pace_limited((uint32_t)day.reads, day.spent + logs * cost, logs + 1)) {
			day.limited_ms = ms;
			break;
		}
		day.reads += logs;
		day.spent += logs * cost;
		ms += nt_pace_ms(ms, logs, logs * cost, false);
	}
	return day;
}

static void short_logs_are_heard_all_day(void **state)
{
	for (uint32_t logs = 1; logs <= 8; logs++) {
		struct day day = listen_for_a_day(logs, DAY_MS, 64);

		assert_int_equal(day.limited_ms, DAY_MS);
		assert_in_range(day.reads, 900, NT_PACE_READS);
		assert_in_range(day.spent, 4 * MIB, 7 * MIB);
	}
}

static void no_log_costs_more_than_the_budget(void **state)
{
	static const struct {
		uint32_t logs, key_ms, key_bytes;
	} cases[] = { { 1, 100, 50 },  { 7, 100, 50 },	  { 7, 20, 400 },
		      { 8, 1000, 50 }, { 8, 60000, 200 }, { 1, 50, 400 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct day day = listen_for_a_day(cases[i].logs, cases[i].key_ms,
						  cases[i].key_bytes);

		assert_in_range(day.spent, 1 * MIB, 7 * MIB);
		assert_in_range(day.reads, 20, NT_PACE_READS);
	}
}

static void where_ranks_wait_reads_are_frequent_and_not_counted(void **state)
{
	assert_int_equal(nt_pace_ms(DAY_MS, 8, 8 * MIB, true), NT_PACE_URGENT_MS);
	assert_int_equal(nt_pace_ms(0, 1, 4096, true), NT_PACE_LEAST_MS);
	assert_true(nt_pace_spent(NT_PACE_READS + 2, 0, 2));
	assert_true(nt_pace_spent(0, NT_PACE_BUDGET + 2 * NT_PACE_NODE_BYTES, 2));
	assert_false(nt_pace_spent(NT_PACE_READS - 1, NT_PACE_BUDGET, 2));
	assert_true(nt_pace_limited(NT_PACE_READS + 2 - NT_PACE_RESERVE_READS, 0, 2));
	assert_false(nt_pace_limited(NT_PACE_READS + 1 - NT_PACE_RESERVE_READS, 0, 2));
}

/* The coordinator of a communicator of the whole step reads each log once, and has most of the
 * budget left. */
static void joining_many_nodes_leaves_enough(void **state)
{
	uint64_t joined = 1023 * nt_pace_read_cost(4, 400);

	assert_false(nt_pace_limited(1023, joined, 1024));
	assert_true(joined < 8 * MIB);
}

UNIT_TESTS(short_logs_are_heard_all_day, no_log_costs_more_than_the_budget,
	   where_ranks_wait_reads_are_frequent_and_not_counted, joining_many_nodes_leaves_enough);
