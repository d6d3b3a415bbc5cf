/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* times.c - 16 bits are precise enough, and the slowest rank's times end at the right arm */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "engine/times.h"
#include "tuner/home.h"

static void the_error_is_bounded(void **state)
{
	(void)state;
	for (double ns = 1024; ns < 4.3e12; ns *= 1.00113) {
		uint64_t whole = (uint64_t)ns;

		assert_true(fabs(nt_times_ns(nt_times_pack(whole)) / (double)whole - 1) < 0.000171);
	}
	assert_int_equal(nt_times_pack(0), 0);
	assert_float_equal(nt_times_ns(0), 0, 0);
	assert_int_equal(nt_times_pack(1), nt_times_pack(1024));
	assert_int_equal(nt_times_pack(1u << 20), 20 << 11);
	assert_float_equal(nt_times_ns(20 << 11), 1048576, 1e-3);
	assert_true(nt_times_ns(nt_times_pack(UINT64_C(1) << 32)) > 4.29e9);
	assert_true(nt_times_ns(nt_times_pack(UINT64_MAX)) > 4.39e12);
}

/* A key that is called every 11 s has times. */
static void the_board_holds_long_times(void **state)
{
	const uint64_t s = 1000000000, ns[] = { 1, 70000, 2 * s, 3 * s, 11 * s, 600 * s, 2100 * s };
	uint32_t before = 0;

	(void)state;
	for (unsigned i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		uint32_t time = nt_board_time(ns[i]);

		assert_true(time > before);
		assert_in_range(nt_board_time_ns(time), ns[i] - (ns[i] > 2 * s ? 1023 : 0), ns[i]);
		before = time;
	}
	assert_int_equal(nt_board_time(3600 * s), 0);
	assert_int_equal(nt_board_time(0), 0);
}

static void order_is_kept(void **state)
{
	(void)state;
	for (uint32_t packed = 2; packed <= UINT16_MAX; packed++)
		assert_true(nt_times_ns((uint16_t)packed) > nt_times_ns((uint16_t)(packed - 1)) ||
			    packed == nt_times_pack(1));
	for (uint32_t ns = 1; ns < 100000; ns++)
		assert_true(nt_times_pack(ns + 1) >= nt_times_pack(ns));
}

/* Of 11 s and 4 s, and of 4 s and 5 ms. */
static void the_longer_of_two_times_counts(void **state)
{
	const uint64_t ns[] = { 11000000000, 4000000000, 4000000000, 5000000 };
	uint16_t node[2][NT_TIMES_MAX] = { { 0 } }, worst[NT_TIMES_MAX];
	const struct nt_schedule two = {
		.kind = NT_SCHEDULE_SCREEN, .count = 2, .blocks = 2, .arm = { NT_ARM_AUTO, 1 }
	};
	uint8_t bytes[2][8];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		node[0][i] = nt_times_pack(ns[i]);
		node[1][i] = nt_times_pack(ns[i ^ 1]);
	}
	for (unsigned n = 0; n < 2; n++)
		assert_int_equal(nt_times_write(node[n], bytes[n], 8), 8);
	nt_times_absorb(worst, true, &two, bytes[0], 8);
	nt_times_absorb(worst, false, &two, bytes[1], 8);
	assert_int_equal(nt_times_combine(bytes[0], 8, bytes[1], 8), 8);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(worst[i], nt_times_pack(ns[i & ~1u]));
		assert_int_equal(bytes[0][2 * i] | bytes[0][2 * i + 1] << 8, worst[i]);
	}
}

static const struct nt_schedule four = {
	.kind = NT_SCHEDULE_SCREEN, .count = 4, .blocks = 3, .arm = { NT_ARM_AUTO, 1, 5, 7 }
};

static struct nt_plan plan_of(const struct nt_schedule *schedule)
{
	struct nt_plan plan = { .epoch = 77, .run = 2, .stride = 1, .until = 12 };

	plan.payload_bytes = (uint32_t)nt_schedule_write(schedule, plan.payload,
							 sizeof(plan.payload));
	return plan;
}

/* Arm i takes 1000 * (i + 1) us in block 0, 1 us more in each block, on seat 1; less on seat 0,
 * more on seat 3. */
static struct nt_board *board_with_times(const struct nt_plan *plan)
{
	struct nt_board *board = calloc(1, sizeof(*board));
	struct nt_board_run *run;

	assert_non_null(board);
	run = &board->run[2];
	for (uint32_t p = 0; p < 12; p++) {
		int index = nt_schedule_index(&four, plan->epoch, p);
		uint32_t ns = (uint32_t)(1000000 * (index + 1)) + 1000 * (p / 4);

		atomic_store(&run->sample[0][p], ns - 50000);
		atomic_store(&run->sample[1][p], ns);
		atomic_store(&run->sample[3][p], ns + 30000);
	}
	atomic_store(&run->issued[0], 12);
	atomic_store(&run->issued[1], 12);
	atomic_store(&run->issued[3], 12);
	return board;
}

static bool reads_as(uint16_t packed, double ns)
{
	return fabs(nt_times_ns(packed) / ns - 1) < 0.000171;
}

static void the_slowest_rank_counts(void **state)
{
	struct nt_plan plan = plan_of(&four);
	struct nt_board *board = board_with_times(&plan);
	uint16_t worst[NT_TIMES_MAX];
	uint8_t bytes[64];

	(void)state;
	memset(worst, 1, sizeof(worst));
	assert_int_equal(nt_home_gather(board, &plan, 2, NT_REWARD_CALL, bytes, sizeof(bytes)), 24);
	nt_times_absorb(worst, true, &four, bytes, 24);
	for (uint32_t i = 0; i < 12; i++)
		assert_true(reads_as(worst[i], 1000000 * (i % 4 + 1) + 1000 * (i / 4)));
	assert_int_equal(worst[12], 0);
	/* Another node was slower, in what it has seen; then a faster one changes nothing. */
	assert_int_equal(nt_home_gather(board, &plan, 16, NT_REWARD_CALL, bytes, sizeof(bytes)),
			 24);
	bytes[0] = 0;
	bytes[1] = 0;
	nt_times_absorb(worst, false, &four, bytes, 22);
	assert_int_equal(worst[0], 0);
	assert_true(reads_as(worst[1], 2030000));
	assert_int_equal(worst[11], 0);
	assert_int_equal(nt_home_gather(board, &plan, 1, NT_REWARD_CALL, bytes, sizeof(bytes)), 24);
	nt_times_absorb(worst, false, &four, bytes, 24);
	assert_int_equal(worst[0], 0);
	assert_true(reads_as(worst[1], 2030000));
	free(board);
}

static void what_one_rank_lacks_is_lacking(void **state)
{
	struct nt_plan plan = plan_of(&four);
	struct nt_board *board = board_with_times(&plan);
	struct nt_board_run *run = &board->run[2];
	uint8_t bytes[64];

	(void)state;
	for (uint32_t p = 4; p < 12; p++)
		atomic_store(&run->sample[1][p], 0);
	assert_int_equal(nt_home_gather(board, &plan, 16, NT_REWARD_CALL, bytes, sizeof(bytes)), 8);
	assert_int_equal(nt_home_gather(board, &plan, 16, NT_REWARD_CALL, bytes, 5), 4);
	assert_int_equal(nt_home_gather(board, &plan, 1, NT_REWARD_CALL, bytes, sizeof(bytes)), 24);
	atomic_store(&run->issued[1], 0); /* takes no part */
	assert_int_equal(nt_home_gather(board, &plan, 16, NT_REWARD_CALL, bytes, sizeof(bytes)),
			 24);
	plan.run = NT_NO_RUN;
	assert_int_equal(nt_home_gather(board, &plan, 16, NT_REWARD_CALL, bytes, sizeof(bytes)), 0);
	plan.run = 2;
	plan.payload[0] = 99;
	assert_int_equal(nt_home_gather(board, &plan, 16, NT_REWARD_CALL, bytes, sizeof(bytes)), 0);
	memset(run, 0, sizeof(*run));
	plan.payload[0] = NT_SCHEDULE_SCREEN;
	assert_int_equal(nt_home_gather(board, &plan, 16, NT_REWARD_CALL, bytes, sizeof(bytes)), 0);
	free(board);
}

static void periods_follow_in_later_rounds(void **state)
{
	struct nt_schedule again = four;
	struct nt_plan plan = plan_of(&four);
	struct nt_board *board = board_with_times(&plan);
	struct nt_board_run *run = &board->run[2];
	uint16_t worst[NT_TIMES_MAX];
	uint8_t bytes[64];

	(void)state;
	for (uint32_t p = 0; p < 11; p++) { /* the last one has none */
		for (unsigned m = 0; m < 4; m++)
			atomic_store(&run->period[m][p], atomic_load(&run->sample[m][p]) + 500000);
	}
	assert_int_equal(nt_home_gather(board, &plan, 2, NT_REWARD_CALL, bytes, sizeof(bytes)), 24);
	again.kind = NT_SCHEDULE_CONFIRM;
	plan = plan_of(&again);
	assert_in_range(nt_home_gather(board, &plan, 2, NT_REWARD_CALL, bytes, sizeof(bytes)), 46,
			48);
	nt_times_absorb(worst, true, &again, bytes, 48);
	for (uint32_t i = 0; i < 12; i++) {
		double ns = 1000000 * (i % 4 + 1) + 1000 * (i / 4);

		assert_true(reads_as(worst[i], ns));
		assert_true(reads_as(worst[12 + i], ns + 500000) ||
			    (worst[12 + i] == 0 &&
			     i == 8 + (uint32_t)nt_schedule_index(&again, 77, 11)));
	}
	assert_int_equal(worst[24], 0);
	nt_times_absorb(worst, false, &again, bytes, 24); /* a node that has seen none */
	assert_true(reads_as(worst[0], 1000000));
	assert_int_equal(worst[12], 0);
	nt_times_absorb(worst, true, &again, bytes, 58);
	assert_int_equal(worst[0], 0);
	assert_in_range(nt_home_gather(board, &plan, 2, NT_REWARD_PERIOD, bytes, sizeof(bytes)), 22,
			24);
	nt_times_absorb(worst, true, &again, bytes, 24);
	assert_true(reads_as(worst[0], 1500000));
	free(board);
}

/* Behind all others: of each arm the median, on the slowest rank. */
static void own_times_follow(void **state)
{
	struct nt_plan plan = plan_of(&four);
	struct nt_board *board = board_with_times(&plan);
	struct nt_board_run *run = &board->run[2];
	uint16_t worst[NT_TIMES_MAX];
	uint8_t bytes[64];

	(void)state;
	for (uint32_t p = 0; p < 12; p++) {
		uint32_t ns = 100000 * ((uint32_t)nt_schedule_index(&four, plan.epoch, p) + 1);

		atomic_store(&run->own[0][p], ns - 1000);
		atomic_store(&run->own[1][p], ns + (p < 4 ? 90000 : 100 * (p / 4)));
	}
	assert_int_equal(nt_home_gather(board, &plan, 2, NT_REWARD_CALL, bytes, sizeof(bytes)), 32);
	nt_times_absorb(worst, true, &four, bytes, 32);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(nt_times_own_at(&four, i), 12 + i);
		assert_true(reads_as(worst[12 + i], 100000 * (i + 1) + 200));
	}
	/* A rank that has no ends: then nobody knows. */
	assert_int_equal(nt_home_gather(board, &plan, 4, NT_REWARD_CALL, bytes, sizeof(bytes)), 24);
	free(board);
}

static void damage_is_no_time_at_all(void **state)
{
	uint16_t worst[NT_TIMES_MAX];
	uint8_t bytes[64];

	(void)state;
	memset(bytes, 1, sizeof(bytes));
	nt_times_absorb(worst, true, &four, bytes, 24);
	assert_int_equal(worst[11], 257);
	nt_times_absorb(worst, false, &four, bytes, 3);
	assert_int_equal(worst[0], 0);
	nt_times_absorb(worst, true, &four, bytes, 34);
	assert_int_equal(worst[0], 0);
}

static void sums_are_added_up(void **state)
{
	uint8_t sum[] = { 5, 1, 7, 0, 9, 9 };
	const uint8_t other[] = { 4, 2, 0, 0, 1, 1, 8, 8 };

	(void)state;
	assert_int_equal(nt_times_combine(sum, sizeof(sum), other, sizeof(other)), 6);
	/* 0x204 beats 0x105; one lacks the second */
	assert_memory_equal(sum, ((uint8_t[]){ 4, 2, 0, 0, 9, 9 }), 6);
	assert_int_equal(nt_times_combine(sum, 6, other, 3), 2);
	assert_int_equal(nt_times_combine(sum, 2, other, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_error_is_bounded),
		cmocka_unit_test(order_is_kept),
		cmocka_unit_test(the_board_holds_long_times),
		cmocka_unit_test(the_longer_of_two_times_counts),
		cmocka_unit_test(the_slowest_rank_counts),
		cmocka_unit_test(what_one_rank_lacks_is_lacking),
		cmocka_unit_test(periods_follow_in_later_rounds),
		cmocka_unit_test(own_times_follow),
		cmocka_unit_test(damage_is_no_time_at_all),
		cmocka_unit_test(sums_are_added_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
