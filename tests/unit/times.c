/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* times.c - 16 bits are precise enough, and minima over ranks and nodes end at the right arm */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "tuner/times.h"

static void the_error_is_bounded(void **state)
{
	(void)state;
	for (double ns = 2; ns < 4294000000.0; ns *= 1.00113) {
		uint32_t whole = (uint32_t)ns;

		assert_true(fabs(nt_times_ns(nt_times_pack(whole)) / whole - 1) < 0.000171);
	}
	assert_int_equal(nt_times_pack(0), 0);
	assert_float_equal(nt_times_ns(0), 0, 0);
	assert_int_equal(nt_times_pack(1), 1);
	assert_int_equal(nt_times_pack(1u << 20), 20 << 11);
	assert_float_equal(nt_times_ns(20 << 11), 1048576, 1e-3);
	assert_int_equal(nt_times_pack(UINT32_MAX), UINT16_MAX);
	assert_true(nt_times_ns(UINT16_MAX) > 4.29e9);
}

static void order_is_kept(void **state)
{
	(void)state;
	for (uint32_t packed = 2; packed <= UINT16_MAX; packed++)
		assert_true(nt_times_ns((uint16_t)packed) > nt_times_ns((uint16_t)(packed - 1)));
	for (uint32_t ns = 1; ns < 100000; ns++)
		assert_true(nt_times_pack(ns + 1) >= nt_times_pack(ns));
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

/* Rank 1 is the first to see a position's time as it is; arm i takes 1000 * (i + 1) us in block 0,
 * 1 us more in each block. */
static struct nt_board *board_with_times(const struct nt_plan *plan)
{
	struct nt_board *board = calloc(1, sizeof(*board));

	assert_non_null(board);
	for (uint32_t p = 0; p < 12; p++) {
		int index = nt_schedule_index(&four, plan->epoch, p);
		uint32_t ns = (uint32_t)(1000000 * (index + 1)) + 1000 * (p / 4);

		atomic_store(&board->run[2].sample_ns[0][p], ns + 50000);
		atomic_store(&board->run[2].sample_ns[1][p], ns);
		atomic_store(&board->run[2].sample_ns[3][p], ns - 30000);
	}
	return board;
}

static void ranks_meet_in_the_arms_order(void **state)
{
	struct nt_plan plan = plan_of(&four);
	struct nt_board *board = board_with_times(&plan);
	uint16_t best[NT_RUN_POSITIONS] = { 0 };
	uint8_t bytes[64];

	(void)state;
	assert_int_equal(nt_times_gather(board, &plan, 2, bytes, sizeof(bytes)), 24);
	nt_times_absorb(best, &four, bytes, 24);
	for (uint32_t i = 0; i < 12; i++) {
		double ns = 1000000 * (i % 4 + 1) + 1000 * (i / 4);

		assert_true(fabs(nt_times_ns(best[i]) / ns - 1) < 0.000171);
	}
	/* A third member was faster, a node that lacks a sample changes nothing. */
	assert_int_equal(nt_times_gather(board, &plan, NT_BOARD_MEMBERS, bytes, sizeof(bytes)), 24);
	bytes[0] = 0;
	bytes[1] = 0;
	nt_times_absorb(best, &four, bytes, 24);
	assert_true(fabs(nt_times_ns(best[0]) / 1000000 - 1) < 0.000171);
	assert_true(fabs(nt_times_ns(best[1]) / 1970000 - 1) < 0.000171);
	free(board);
}

static void what_is_missing_is_left_out(void **state)
{
	struct nt_plan plan = plan_of(&four);
	struct nt_board *board = calloc(1, sizeof(*board));
	uint8_t bytes[64];

	(void)state;
	assert_non_null(board);
	assert_int_equal(nt_times_gather(board, &plan, 16, bytes, sizeof(bytes)), 0);
	for (uint32_t p = 0; p < 4; p++)
		atomic_store(&board->run[2].sample_ns[15][p], 5000);
	assert_int_equal(nt_times_gather(board, &plan, 15, bytes, sizeof(bytes)), 0);
	assert_int_equal(nt_times_gather(board, &plan, 16, bytes, sizeof(bytes)), 8);
	assert_int_equal(nt_times_gather(board, &plan, 16, bytes, 5), 4);
	plan.run = NT_NO_RUN;
	assert_int_equal(nt_times_gather(board, &plan, 16, bytes, sizeof(bytes)), 0);
	plan.run = 2;
	plan.payload[0] = 99;
	assert_int_equal(nt_times_gather(board, &plan, 16, bytes, sizeof(bytes)), 0);
	free(board);
}

static void damage_is_ignored(void **state)
{
	uint16_t best[NT_RUN_POSITIONS] = { 0 };
	uint8_t bytes[64];

	(void)state;
	memset(bytes, 1, sizeof(bytes));
	nt_times_absorb(best, &four, bytes, 3);
	nt_times_absorb(best, &four, bytes, 26);
	assert_int_equal(best[0], 0);
	nt_times_absorb(best, &four, bytes, 2);
	assert_int_equal(best[0], 257);
	assert_int_equal(best[1], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_error_is_bounded),
		cmocka_unit_test(order_is_kept),
		cmocka_unit_test(ranks_meet_in_the_arms_order),
		cmocka_unit_test(what_is_missing_is_left_out),
		cmocka_unit_test(damage_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
