/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Steps against steps: faster, slower or neither; trusted, marked, quarantined */
#include "tests/lib/unit.h"
#include "tests/unit/select-world.h"

static struct nt_memory memory;

/* A step of a job: the default takes 1000. */
static void step(const char *profile, uint32_t job, uint32_t number, double us, bool asked)
{
	struct nt_memory_entry entry = world_entry(profile, job, number);

	entry.asked = asked;
	world_key(&entry, 65536, 10, 100);
	world_marker(&entry, us, 0.03, 1000 * job + number);
	assert_int_equal(nt_memory_add_take(&memory, &entry, NULL), 0);
}

static struct nt_step_history history;

static void look(void)
{
	struct nt_where where = world_where();

	history.count = 0;
	nt_history_add(&history, &memory, &where);
	nt_history_add(&history, &memory, &where); /* ids count once */
	nt_history_sort(&history);
	assert_int_equal(history.count, memory.entries);
}

static struct nt_profile_trust trust(void)
{
	look();
	return nt_history_trust(&history, "a");
}

static struct nt_step_test_result test(uint32_t job)
{
	look();
	return nt_history_test(&history, job, NT_PROFILE_DEFAULT, "a");
}

/* Steps of one thing differ by so much; how often are they called faster, how often slower? */
static void count_verdicts(double deviation, double ratio, unsigned steps, unsigned *faster,
			   unsigned *slower)
{
	uint64_t seed = 1;

	*faster = *slower = 0;
	for (unsigned i = 0; i < 200; i++) {
		enum nt_step_verdict verdict;

		nt_memory_init(&memory);
		for (uint32_t k = 0; k < 2 * steps; k++)
			step(k % 2 ? "a" : "default", 1, k,
			     1000 * (k % 2 ? ratio : 1) * exp(deviation * world_normal(&seed)),
			     false);
		verdict = test(1).verdict;
		*faster += verdict == NT_STEPS_FASTER;
		*slower += verdict == NT_STEPS_SLOWER;
		nt_memory_fini(&memory);
	}
}

/* Forty periods of a step are one sample: they have in common what it differs by from the next. */
static void a_step_is_one_sample(void **state)
{
	unsigned faster, slower;

	count_verdicts(0.15, 1, 1, &faster, &slower);
	assert_true(faster <= 2 && slower <= 40);
	count_verdicts(0.15, 1, 5, &faster, &slower);
	assert_true(faster <= 4 && slower <= 36);
	count_verdicts(0.09, 0.7, 1, &faster, &slower);
	assert_true(faster < 40);
	count_verdicts(0.09, 0.7, 4, &faster, &slower);
	assert_true(faster > 180 && slower == 0);
	count_verdicts(0.03, 1.25, 3, &faster, &slower);
	assert_true(slower > 180 && faster == 0);
	/* Certain, but too small to matter. */
	count_verdicts(0.001, 1.01, 20, &faster, &slower);
	assert_true(faster == 0 && slower == 0);
}

static void too_little_is_unknown(void **state)
{
	nt_memory_init(&memory);
	assert_int_equal(test(0).verdict, NT_STEPS_UNKNOWN);
	step("a", 1, 1, 2000, false);
	assert_int_equal(test(1).verdict, NT_STEPS_UNKNOWN);
	step("default", 1, 0, 1000, false);
	memory.entry[1].periods = NT_STEPS_PERIODS - 1;
	assert_int_equal(test(1).verdict, NT_STEPS_UNKNOWN);
	memory.entry[1].periods = NT_STEPS_PERIODS;
	assert_int_equal(test(1).verdict, NT_STEPS_SLOWER);
	nt_memory_fini(&memory);
}

/* What other jobs have seen counts, unless this job's own steps contradict it. */
static void the_nearest_steps_win_a_contradiction(void **state)
{
	struct nt_step_test_result seen;

	nt_memory_init(&memory);
	for (uint32_t job = 1; job <= 4; job++) {
		step("default", job, 0, 1000, false);
		step("a", job, 1, 800, false);
	}
	step("default", 5, 0, 2000, false);
	step("a", 5, 1, 1700, false);
	seen = test(5);
	assert_int_equal(seen.verdict, NT_STEPS_FASTER);
	assert_true(seen.ratio > 0.8 && seen.ratio < 0.85);
	step("a", 6, 0, 4000, false); /* against the default of all jobs */
	seen = test(6);
	assert_int_equal(seen.verdict, NT_STEPS_SLOWER);
	assert_true(seen.ratio > 3);
	nt_memory_fini(&memory);
}

static void trust_is_won_in_three_jobs(void **state)
{
	nt_memory_init(&memory);
	assert_int_equal(trust().level, NT_TRUST_UNTRIED);
	for (uint32_t job = 1; job <= 3; job++) {
		step("default", job, 0, 1000, false);
		step("a", job, 1, 700, false);
		step("a", job, 2, 700, false); /* the same job again counts once */
		assert_int_equal(trust().jobs, job);
		assert_int_equal(trust().level, job < 3 ? NT_TRUST_TRIED : NT_TRUST_TRUSTED);
	}
	nt_memory_fini(&memory);
}

static void two_slow_steps_quarantine(void **state)
{
	nt_memory_init(&memory);
	step("default", 1, 0, 1000, false);
	step("a", 1, 1, 2000, true); /* only tried: no mark */
	assert_int_equal(trust().level, NT_TRUST_UNTRIED);
	assert_int_equal(test(1).verdict, NT_STEPS_SLOWER);
	step("a", 1, 2, 2000, false);
	assert_int_equal(trust().level, NT_TRUST_MARKED);
	step("a", 2, 0, 1900, false);
	assert_int_equal(trust().level, NT_TRUST_QUARANTINED);
	nt_memory_fini(&memory);
}

static void other_programs_are_not_compared(void **state)
{
	nt_memory_init(&memory);
	step("default", 1, 0, 1000, false);
	step("a", 2, 0, 5000, false);
	memory.entry[1].key[0].bytes = 1 << 20;
	assert_int_equal(trust().level, NT_TRUST_UNTRIED);
	memory.entry[1].key[0].bytes = 65536;
	memory.entry[1].marker_bytes = 4096;
	assert_int_equal(trust().level, NT_TRUST_UNTRIED);
	memory.entry[1].marker_bytes = 1 << 20;
	assert_int_equal(trust().level, NT_TRUST_MARKED);
	nt_memory_fini(&memory);
}

/* Of one program, one step was told by its rare call, the other by one made four times as often. */
static void another_marker_of_the_same_program_will_do(void **state)
{
	struct nt_memory_entry *arm;

	nt_memory_init(&memory);
	step("default", 1, 0, 1000, false);
	step("a", 2, 0, 500, false);
	for (unsigned i = 0; i < 2; i++) {
		world_key(&memory.entry[i], 1 << 20, 200, 100);
		world_key(&memory.entry[i], 4 << 20, 800, 400);
	}
	arm = &memory.entry[1];
	arm->marker_bytes = 4 << 20;
	assert_int_equal(trust().level, NT_TRUST_MARKED);
	assert_true(fabs(trust().test.ratio - 2) < 0.04);
	/* Not where it called the two otherwise. */
	arm->key[arm->keys - 1].calls = 1000;
	assert_int_equal(trust().level, NT_TRUST_UNTRIED);
	nt_memory_fini(&memory);
}

UNIT_TESTS(a_step_is_one_sample, too_little_is_unknown, the_nearest_steps_win_a_contradiction,
	   trust_is_won_in_three_jobs, two_slow_steps_quarantine,
	   another_marker_of_the_same_program_will_do, other_programs_are_not_compared);
