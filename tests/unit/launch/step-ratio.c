/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A program's own steps with a launch profile against those with the default */
#include "tests/lib/unit.h"
#include "launch/step-ratio.h"
#include "tests/unit/launch/select-world.h"

static struct nt_memory memory;

static struct nt_memory_entry *step(const char *profile, uint32_t job, uint32_t number, double us)
{
	struct nt_memory_entry entry = world_entry(profile, job, number);

	world_key(&entry, 65536, 10, 100);
	world_marker(&entry, us, 0.03, 1000 * job + number);
	assert_int_equal(nt_memory_add_take(&memory, &entry, NULL), 0);
	return &memory.entry[memory.entries - 1];
}

static struct nt_step_ratio look(void)
{
	struct nt_where where = world_where();

	return nt_step_ratio(&memory, &where, "a");
}

/* Steps of one thing differ by so much: of 200 such memories, how many are called slower? */
static unsigned count_slower(double deviation, double ratio, unsigned steps)
{
	uint64_t seed = 1;
	unsigned slower = 0;

	for (unsigned i = 0; i < 200; i++) {
		nt_memory_init(&memory);
		for (uint32_t k = 0; k < 2 * steps; k++)
			step(k % 2 ? "a" : "default", 1, k,
			     1000 * (k % 2 ? ratio : 1) * exp(deviation * world_normal(&seed)));
		slower += look().slower;
		nt_memory_fini(&memory);
	}
	return slower;
}

/* Forty periods of a step are one sample: they have in common what it differs by from the next. */
static void a_step_is_one_sample(void **state)
{
	assert_true(count_slower(0.15, 1, 1) <= 40);
	assert_true(count_slower(0.15, 1, 5) <= 56);
	assert_int_equal(count_slower(0.09, 0.7, 4), 0);
	assert_true(count_slower(0.03, 1.25, 3) > 180);
	/* Certain, but too small to matter. */
	assert_int_equal(count_slower(0.001, 1.01, 20), 0);
}

static void both_sides_are_needed(void **state)
{
	nt_memory_init(&memory);
	assert_false(look().known);
	step("a", 1, 1, 2000);
	assert_false(look().known);
	step("default", 1, 0, 1000)->periods = NT_STEPS_PERIODS - 1;
	assert_false(look().known);
	memory.entry[1].periods = NT_STEPS_PERIODS;
	assert_true(look().known && look().slower);
	assert_true(fabs(look().ratio - 2) < 0.1);
	assert_int_equal(look().when_s, memory.entry[0].when_s);
	nt_memory_fini(&memory);
}

/* A network that became slower makes the profile's newest step slow, then the default's, too. */
static void the_newest_steps_are_compared_too(void **state)
{
	nt_memory_init(&memory);
	for (uint32_t job = 1; job <= 4; job++) {
		step("default", job, 0, 1000);
		step("a", job, 1, 600);
	}
	assert_true(look().known && !look().slower);
	assert_true(fabs(look().ratio - 0.6) < 0.03);
	step("a", 5, 0, 4000);
	assert_true(look().slower);
	step("default", 5, 1, 6000);
	assert_false(look().slower);
	nt_memory_fini(&memory);
}

static void like_is_compared_with_like(void **state)
{
	struct nt_memory_entry *other;

	nt_memory_init(&memory);
	step("default", 1, 0, 1000);
	other = step("a", 2, 0, 5000);
	assert_true(look().known);
	other->marker_bytes = 4096;
	assert_false(look().known);
	other->marker_bytes = 1 << 20;
	snprintf(other->where.program, sizeof(other->where.program), "other.py");
	assert_false(look().known);
	other->where.program[0] = '\0';
	other->origin = NT_ORIGIN_CALIBRATE;
	assert_false(look().known);
	nt_memory_fini(&memory);
}

UNIT_TESTS(a_step_is_one_sample, both_sides_are_needed, the_newest_steps_are_compared_too,
	   like_is_compared_with_like);
