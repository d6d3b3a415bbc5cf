/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* fit.c - the expected times of arms from other sizes, and their use */
#include "engine/fit.h"
#include "engine/line.h"
#include "tests/unit/engine-bench.h"

#define KIB ((uint64_t)1 << 10)

static double line_us(double latency_us, double bytes_per_us, uint64_t bytes)
{
	return latency_us + (double)bytes / bytes_per_us;
}

static void lines_are_fitted(void **state)
{
	const uint64_t bytes[] = { 1024, 65536, 1 << 20, 16 << 20 };
	double us[4];
	struct nt_line line;

	for (unsigned i = 0; i < 4; i++)
		us[i] = 20 + (double)bytes[i] / 5000;
	assert_true(nt_line_fit(bytes, us, 4, &line));
	assert_true(fabs(line.latency_us - 20) < 1e-3);
	assert_true(fabs(nt_line_us(&line, 4 << 20) - (20 + 4194304.0 / 5000)) < 0.1);
	assert_true(nt_line_fit(bytes + 2, us + 2, 1, &line));
	assert_true(fabs(nt_line_us(&line, 1024) - us[2]) < 1e-9);
	assert_false(nt_line_fit(bytes, us, 0, &line));
}

static void two_sizes_make_a_line(void **state)
{
	struct nt_fit fit = { .count = 0 };

	assert_true(nt_fit_us(&fit, 256 * KIB) == 0);
	nt_fit_add(&fit, 256 * KIB, 64 * KIB, line_us(20, 1000, 64 * KIB));
	assert_true(nt_fit_us(&fit, 256 * KIB) == 0); /* one time, and not a near one */
	nt_fit_add(&fit, 256 * KIB, 1024 * KIB, line_us(20, 1000, 1024 * KIB));
	assert_float_equal(nt_fit_us(&fit, 256 * KIB), line_us(20, 1000, 256 * KIB), 0.1);
	nt_fit_add(&fit, 256 * KIB, 8192 * KIB, 1); /* too far away */
	nt_fit_add(&fit, 256 * KIB, 512 * KIB, 0); /* no time */
	nt_fit_add(&fit, 256 * KIB, 512 * KIB, NAN);
	assert_int_equal(fit.count, 2);
}

static void one_size_serves_its_neighbours(void **state)
{
	struct nt_fit fit = { .count = 0 };

	nt_fit_add(&fit, 384 * KIB, 256 * KIB, 100);
	assert_float_equal(nt_fit_us(&fit, 384 * KIB), 150, 0.1);
	assert_true(nt_fit_us(&fit, 768 * KIB) == 0);
}

/* The measurements of a key: AUTO and one other arm. */
static void keep(struct nt_histories *histories, uint64_t comm, uint64_t bytes, double baseline_us,
		 unsigned arm, double arm_us)
{
	struct nt_key_info info = { .comm = comm,
				    .key = nt_key_id(NT_ALLREDUCE, nt_band(bytes), sockets),
				    .baseline_arm = RING_SIMPLE };
	struct nt_sample_quantiles quantiles = { .samples = 8,
						 .median_us = baseline_us,
						 .p25_us = baseline_us };
	struct nt_history *history = nt_history_create(&info, true);

	assert_non_null(history);
	nt_history_quantiles(history, NT_ARM_BASELINE, &quantiles);
	quantiles.median_us = quantiles.p25_us = arm_us;
	nt_history_quantiles(history, arm, &quantiles);
	nt_histories_keep_take(histories, history);
}

static void histories_of_the_communicator_count(void **state)
{
	struct nt_key_info info = { .comm = 7,
				    .key = nt_key_id(NT_ALLREDUCE, nt_band(256 * KIB), sockets),
				    .baseline_arm = RING_SIMPLE };
	struct nt_histories histories = { .count = 0 };
	float us[NT_PAIRS];

	nt_fit_of(NULL, &info, us);
	assert_true(us[TREE_LL] == 0 && us[RING_SIMPLE] == 0);
	keep(&histories, 8, 256 * KIB, 1, TREE_LL, 1); /* of another one */
	keep(&histories, 7, 128 * KIB, 100, TREE_LL, 1000);
	keep(&histories, 7, 1024 * KIB, 800, TREE_LL, 8000);
	nt_fit_of(&histories, &info, us);
	assert_float_equal(us[RING_SIMPLE], 200, 1); /* the pair that AUTO was there */
	assert_float_equal(us[TREE_LL], 2000, 10);
	assert_true(us[RING_LL] == 0);
	info.baseline_arm = RING_LL; /* unknown */
	nt_fit_of(&histories, &info, us);
	assert_true(us[TREE_LL] == 0 && us[RING_SIMPLE] == 0);
	nt_histories_clear(&histories);
}

/* An arm that was over five times slower at neighbouring sizes is not screened; an unknown one is,
 * and so is the only one. */
static void hopeless_arms_are_left_out(void **state)
{
	struct nt_histories histories = { .count = 0 };
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.home.engine.histories = &histories;
	keep(&histories, 0, 512 * KIB, 500, TREE_LL, 3000);
	keep(&histories, 0, 2048 * KIB, 2000, TREE_LL, 12000);
	(void)explore(&b);
	assert_int_equal(b.first.count, 3);
	assert_int_equal(b.first.arm[1], TREE_SIMPLE);
	assert_int_equal(b.first.arm[2], RING_LL);
	free(b.shm);

	setup(&b, sockets, RING_SIMPLE);
	b.home.engine.histories = &histories;
	b.home.engine.policy.mode = NT_MODE_PROFILE;
	(void)explore(&b);
	assert_int_equal(b.first.count, 4); /* which measures everything */
	free(b.shm);

	setup(&b, BIT(RING_SIMPLE) | BIT(TREE_LL), RING_SIMPLE);
	nt_histories_clear(&histories);
	b.home.engine.histories = &histories;
	keep(&histories, 0, 512 * KIB, 500, TREE_LL, 3000);
	keep(&histories, 0, 2048 * KIB, 2000, TREE_LL, 12000);
	(void)explore(&b);
	assert_int_equal(b.first.count, 2);
	nt_histories_clear(&histories);
	free(b.shm);
}

/* More arms than fit into a round: those with the longest expected times are left out, by measured
 * times, whatever NCCL predicts. */
static void the_least_likely_go_where_room_is_short(void **state)
{
	const uint32_t many = 0xffffu; /* 15 arms beside AUTO */
	struct nt_histories histories = { .count = 0 };
	struct bench b;

	setup(&b, many, RING_SIMPLE);
	b.home.engine.histories = &histories;
	for (unsigned arm = 0; arm < 16; arm++)
		b.key->cost_us[arm] = 100 + (float)arm; /* TREE_LL is NCCL's favourite */
	keep(&histories, 0, 512 * KIB, 500, TREE_LL, 1500);
	keep(&histories, 0, 2048 * KIB, 2000, TREE_LL, 6000);
	(void)explore(&b);
	assert_int_equal(b.first.count, NT_SCHEDULE_ARMS);
	for (unsigned i = 1; i < b.first.count; i++)
		assert_int_not_equal(b.first.arm[i], TREE_LL);
	assert_int_equal(b.first.arm[1], 1);
	assert_int_equal(b.first.arm[11], 12);
	nt_histories_clear(&histories);
	free(b.shm);
}

UNIT_TESTS(lines_are_fitted, two_sizes_make_a_line, one_size_serves_its_neighbours,
	   histories_of_the_communicator_count, hopeless_arms_are_left_out,
	   the_least_likely_go_where_room_is_short);
