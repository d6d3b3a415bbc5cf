/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A program's own steps against those with an earlier NCCL or driver */
#include "tests/lib/unit.h"
#include "launch/step-before.h"
#include "tests/unit/launch/select-world.h"

static struct nt_memory memory;
static struct nt_step_before before;

/* The step with this number, of a step time of us */
static struct nt_memory_entry *step(uint32_t number, uint32_t nccl, double us)
{
	struct nt_memory_entry entry = world_entry("default", number, 0);

	entry.where.nccl = nccl;
	snprintf(entry.where.program, sizeof(entry.where.program), "train.py");
	world_key(&entry, 65536, 10, 100);
	world_key(&entry, 1048576, 1000, 300);
	world_marker(&entry, us, 0.03, number);
	assert_int_equal(nt_memory_add_take(&memory, &entry, NULL), 0);
	return &memory.entry[memory.entries - 1];
}

static bool look(uint32_t nccl)
{
	struct nt_where where = world_where();

	where.nccl = nccl;
	snprintf(where.program, sizeof(where.program), "train.py");
	return nt_step_slower(&memory, &where, "default", &before);
}

/* Steps of two NCCLs with such noise between them: in how many of 200 such memories is the second
 * called slower? */
static unsigned count_slower(double deviation, double ratio, uint32_t steps)
{
	uint64_t seed = 7;
	unsigned slower = 0;

	for (unsigned i = 0; i < 200; i++) {
		nt_memory_init(&memory);
		for (uint32_t k = 1; k <= 2 * steps; k++)
			step(k, k <= steps ? 22705 : 22809,
			     1000 * (k <= steps ? 1 : ratio) *
				     exp(deviation * world_normal(&seed)));
		slower += look(22809);
		nt_memory_fini(&memory);
	}
	return slower;
}

static void noise_is_none(void **state)
{
	static const double noise[] = { 0.09, 0.12, 0.15 };

	for (size_t i = 0; i < LENGTH(noise); i++) {
		for (uint32_t steps = 3; steps <= 24; steps *= 2)
			assert_true(count_slower(noise[i], 1, steps) <= 1);
	}
	/* Certain, and too small to matter */
	assert_int_equal(count_slower(0.001, 1.04, 20), 0);
}

/* A user looks after each of twenty steps: in how many of 150 such histories is anything said? */
static void nor_is_it_after_many_looks(void **state)
{
	uint64_t seed = 11;
	unsigned said = 0;

	for (unsigned i = 0; i < 150; i++) {
		bool slower = false;

		nt_memory_init(&memory);
		for (uint32_t k = 1; k <= 24; k++) {
			step(k, k <= 4 ? 22705 : 22809, 1000 * exp(0.15 * world_normal(&seed)));
			slower = slower || (k > 4 && look(22809));
		}
		said += slower;
		nt_memory_fini(&memory);
	}
	assert_true(said <= 2);
}

static void what_is_slower_is_said(void **state)
{
	assert_true(count_slower(0.01, 1.25, 5) > 180);
	assert_true(count_slower(0.03, 1.25, 6) > 180);
	assert_true(count_slower(0.09, 1.4, 8) > 180);
	nt_memory_init(&memory);
	for (uint32_t k = 1; k <= 24; k++)
		step(k, k <= 12 ? 22705 : 22809, k <= 12 ? 1000 : 1110);
	assert_true(look(22809));
	assert_true(before.growth > 0.09 && before.growth < 0.13);
	assert_string_equal(before.than, "NCCL 2.27.5");
	assert_int_equal(before.job, 12);
	assert_false(look(22705)); /* it was faster */
	nt_memory_fini(&memory);
}

static void a_driver_counts_too(void **state)
{
	nt_memory_init(&memory);
	for (uint32_t k = 1; k <= 12; k++) {
		struct nt_memory_entry *entry = step(k, 22809, k <= 6 ? 1000 : 1500);

		if (k <= 6)
			snprintf(entry->where.driver, sizeof(entry->where.driver), "550.54.14");
	}
	assert_true(look(22809));
	assert_string_equal(before.than, "driver 550.54.14");
	for (uint32_t k = 0; k < 6; k++)
		memory.entry[k].where.driver[0] = '\0';
	assert_false(look(22809));
	nt_memory_fini(&memory);
}

/* What is called seldom, as by an evaluation, is other, or called more often: it does not count. */
static void other_calls_are_not_compared(void)
{
	for (int i = 0; i < 3; i++) {
		nt_memory_init(&memory);
		for (uint32_t k = 1; k <= 12; k++) {
			struct nt_memory_entry *entry = step(k, k <= 6 ? 22705 : 22809,
							     k <= 6 ? 1000 : 1500);

			if (k > 6)
				continue;
			if (i == 0)
				entry->key[0].bytes *= 2;
			else
				entry->key[0].calls = i == 1 ? 50 : 500;
		}
		assert_int_equal(look(22809), i < 2);
		nt_memory_fini(&memory);
	}
}

/* Each is a change to the earlier steps, by which they no longer tell. */
static void other_work_is_not_compared(void **state)
{
	for (int i = 0; i < 9; i++) {
		nt_memory_init(&memory);
		for (uint32_t k = 1; k <= 12; k++) {
			struct nt_memory_entry *entry = step(k, k <= 6 ? 22705 : 22809,
							     k <= 6 ? 1000 : 1500);

			if (k > 6)
				continue;
			switch (i) {
			case 1: entry->where.program[0] = 'b'; break;
			case 2: entry->where.nodes = 4; break;
			case 3: entry->where.user_env = 9; break;
			case 4: entry->marker_calls = 7; break;
			case 5: entry->key[1].bytes *= 2; break;
			case 6: entry->profile[0] = 'x'; break;
			case 7: entry->origin = NT_ORIGIN_CALIBRATE; break;
			case 8: entry->periods = k < 5 ? 2 : entry->periods; break;
			default: break;
			}
		}
		assert_int_equal(look(22809), i == 0);
		nt_memory_fini(&memory);
	}
	other_calls_are_not_compared();
}

/* In mode observe there is no marker. */
static void calls_tell_without_a_marker(void **state)
{
	nt_memory_init(&memory);
	for (uint32_t k = 1; k <= 12; k++) {
		struct nt_memory_entry *entry = step(k, k <= 6 ? 22705 : 22809, 1000);

		entry->marker_coll = -1;
		entry->periods = 0;
		entry->key[1].untuned.median_us *= k <= 6 ? 1 : 1.5;
		assert_int_equal(look(22809), k >= 6 + NT_BEFORE_STEPS);
	}
	assert_true(before.growth > 0.45 && before.growth < 0.55);
	nt_memory_fini(&memory);
}

UNIT_TESTS(noise_is_none, nor_is_it_after_many_looks, what_is_slower_is_said, a_driver_counts_too,
	   other_work_is_not_compared, calls_tell_without_a_marker);
