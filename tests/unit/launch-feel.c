/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Steps against steps: faster, slower or neither; trusted, marked, quarantined */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "launch-world.h"

static const struct nt_feel_rule how = { world_test, 0.01, 0.02, 0.08 };

static struct nt_feeling felt(double ratio, double spread, uint64_t seed)
{
	struct nt_memory_entry base = world_entry("default", 1, 0), arm = world_entry("a", 1, 1);

	world_marker(&base, 1000, spread, 2 * seed);
	world_marker(&arm, 1000 * ratio, spread, 2 * seed + 1);
	return nt_feel(&how, base.period_us, base.periods, arm.period_us, arm.periods);
}

static void differences_are_felt(void **state)
{
	unsigned wrong = 0, missed = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		enum nt_felt same = felt(1, 0.1, seed).felt;

		wrong += same == NT_FELT_FASTER || same == NT_FELT_SLOWER;
		missed += felt(1.15, 0.1, 500 + seed).felt != NT_FELT_SLOWER;
		missed += felt(0.85, 0.1, 900 + seed).felt != NT_FELT_FASTER;
		/* Certain, but too small to matter. */
		assert_int_equal(felt(1.01, 0.001, seed).felt, NT_FELT_SAME);
	}
	assert_true(wrong <= 4);
	assert_true(missed <= 8);
}

static void too_little_is_unknown(void **state)
{
	struct nt_memory_entry base = world_entry("default", 1, 0);
	struct nt_feel_rule blind = how;

	(void)state;
	world_marker(&base, 1000, 0.1, 1);
	assert_int_equal(nt_feel(&how, base.period_us, 64, base.period_us, 7).felt,
			 NT_FELT_UNKNOWN);
	blind.test = NULL;
	assert_int_equal(nt_feel(&blind, base.period_us, 64, base.period_us, 64).felt,
			 NT_FELT_UNKNOWN);
}

static struct nt_memory memory;

/* A step of a job: the default takes 1000. */
static void step(const char *profile, uint32_t job, uint32_t number, double us, bool candidate)
{
	struct nt_memory_entry entry = world_entry(profile, job, number);

	entry.candidate = candidate;
	world_key(&entry, 65536, 10, 100);
	world_marker(&entry, us, 0.03, 1000 * job + number);
	assert_int_equal(nt_memory_add_take(&memory, &entry, NULL), 0);
}

static struct nt_standing standing(void)
{
	static struct nt_step_history history;
	struct nt_where where = world_where();

	history.count = 0;
	nt_history_add(&history, &memory, &where);
	nt_history_add(&history, &memory, &where); /* ids count once */
	nt_history_sort(&history);
	assert_int_equal(history.count, memory.entries);
	return nt_feel_standing(&history, "a", &how, 3);
}

static void trust_is_won_in_three_jobs(void **state)
{
	(void)state;
	nt_memory_init(&memory);
	assert_int_equal(standing().trust, NT_TRUST_UNTRIED);
	for (uint32_t job = 1; job <= 3; job++) {
		step("default", job, 0, 1000, false);
		step("a", job, 1, 800, false);
		step("a", job, 2, 800, false); /* the same job again counts once */
		assert_int_equal(standing().wins, job);
		assert_int_equal(standing().trust, job < 3 ? NT_TRUST_TRIED : NT_TRUST_TRUSTED);
	}
	step("a", 4, 0, 1200, false); /* against the default of another job */
	assert_int_equal(standing().trust, NT_TRUST_MARKED);
	for (uint32_t job = 5; job <= 7; job++)
		step("a", job, 0, 800, false);
	assert_int_equal(standing().trust, NT_TRUST_TRUSTED);
	nt_memory_fini(&memory);
}

static void two_losses_quarantine(void **state)
{
	(void)state;
	nt_memory_init(&memory);
	step("default", 1, 0, 1000, false);
	step("a", 1, 1, 1300, true); /* only tried: no mark */
	assert_int_equal(standing().trust, NT_TRUST_TRIED);
	assert_int_equal(standing().last.felt, NT_FELT_SLOWER);
	step("a", 1, 2, 1300, false);
	assert_int_equal(standing().trust, NT_TRUST_MARKED);
	step("a", 2, 0, 1300, false);
	assert_int_equal(standing().trust, NT_TRUST_QUARANTINED);
	for (uint32_t job = 3; job <= 9; job++)
		step("a", job, 0, 700, false);
	assert_int_equal(standing().trust, NT_TRUST_QUARANTINED);
	nt_memory_fini(&memory);
}

static void other_programs_are_not_compared(void **state)
{
	(void)state;
	nt_memory_init(&memory);
	step("default", 1, 0, 1000, false);
	step("a", 2, 0, 5000, false);
	memory.entry[1].key[0].bytes = 1 << 20;
	assert_int_equal(standing().trust, NT_TRUST_UNTRIED);
	memory.entry[1].key[0].bytes = 65536;
	memory.entry[1].marker_bytes = 4096;
	assert_int_equal(standing().trust, NT_TRUST_UNTRIED);
	memory.entry[1].marker_bytes = 1 << 20;
	assert_int_equal(standing().trust, NT_TRUST_MARKED);
	nt_memory_fini(&memory);
}

/* Of one program, one step was told by its rare call, the other by one made four times as often. */
static void another_marker_of_the_same_program_will_do(void **state)
{
	struct nt_memory_entry *arm;

	(void)state;
	nt_memory_init(&memory);
	step("default", 1, 0, 1000, false);
	step("a", 2, 0, 325, false);
	for (unsigned i = 0; i < 2; i++) {
		world_key(&memory.entry[i], 1 << 20, 200, 100);
		world_key(&memory.entry[i], 4 << 20, 800, 400);
	}
	arm = &memory.entry[1];
	arm->marker_bytes = 4 << 20;
	assert_int_equal(standing().trust, NT_TRUST_MARKED);
	assert_true(fabs(standing().last.ratio - 1.3) < 0.02);
	/* Not where it called the two otherwise. */
	arm->key[arm->keys - 1].calls = 1000;
	assert_int_equal(standing().trust, NT_TRUST_UNTRIED);
	nt_memory_fini(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences_are_felt),
		cmocka_unit_test(too_little_is_unknown),
		cmocka_unit_test(trust_is_won_in_three_jobs),
		cmocka_unit_test(two_losses_quarantine),
		cmocka_unit_test(another_marker_of_the_same_program_will_do),
		cmocka_unit_test(other_programs_are_not_compared),
	};

	return cmocka_run_group_tests_name("launch-feel", tests, NULL, NULL);
}
