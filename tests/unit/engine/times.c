/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* times.c - 16 bits are precise enough, and the slowest rank's times belong to the right arm */
#include <math.h>
#include <stdbool.h>
#include "tests/lib/unit.h"
#include "engine/times.h"
#include "tuner/explorer.h"

static void the_error_is_bounded(void **state)
{
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
static void shared_memory_holds_long_times(void **state)
{
	const uint64_t s = 1000000000, ns[] = { 1, 70000, 2 * s, 3 * s, 11 * s, 600 * s, 2100 * s };
	uint32_t before = 0;

	for (unsigned i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		uint32_t time = nt_shm_time(ns[i]);

		assert_true(time > before);
		assert_in_range(nt_shm_time_ns(time), ns[i] - (ns[i] > 2 * s ? 1023 : 0), ns[i]);
		before = time;
	}
	assert_int_equal(nt_shm_time(3600 * s), 0);
	assert_int_equal(nt_shm_time(0), 0);
}

static void order_is_kept(void **state)
{
	for (uint32_t packed = 2; packed <= UINT16_MAX; packed++)
		assert_true(nt_times_ns((uint16_t)packed) > nt_times_ns((uint16_t)(packed - 1)) ||
			    packed == nt_times_pack(1));
	for (uint32_t ns = 1; ns < 100000; ns++)
		assert_true(nt_times_pack(ns + 1) >= nt_times_pack(ns));
}

static const struct nt_schedule four = {
	.kind = NT_SCHEDULE_SCREEN, .count = 4, .blocks = 3, .arm = { NT_ARM_BASELINE, 1, 5, 7 }
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
static struct nt_shm *shm_with_times(const struct nt_plan *plan)
{
	struct nt_shm *shm = calloc(1, sizeof(*shm));
	struct nt_shm_run *run;

	assert_non_null(shm);
	run = &shm->run[2];
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
	return shm;
}

static bool reads_as(uint16_t packed, double ns)
{
	return fabs(nt_times_ns(packed) / ns - 1) < 0.000171;
}

static size_t gather(struct nt_shm *shm, const struct nt_plan *plan, uint32_t slots,
		     uint8_t bytes[64])
{
	return nt_explorer_gather(shm, plan, slots, NT_REWARD_CALL, bytes, 64);
}

static void what_one_rank_lacks_is_lacking(void **state)
{
	struct nt_plan plan = plan_of(&four);
	struct nt_shm *shm = shm_with_times(&plan);
	struct nt_shm_run *run = &shm->run[2];
	uint8_t bytes[64];

	for (uint32_t p = 4; p < 12; p++)
		atomic_store(&run->sample[1][p], 0);
	assert_int_equal(gather(shm, &plan, 16, bytes), 8);
	assert_int_equal(nt_explorer_gather(shm, &plan, 16, NT_REWARD_CALL, bytes, 5), 4);
	assert_int_equal(gather(shm, &plan, 1, bytes), 24);
	atomic_store(&run->issued[1], 0); /* takes no part */
	assert_int_equal(gather(shm, &plan, 16, bytes), 24);
	plan.run = NT_NO_RUN;
	assert_int_equal(gather(shm, &plan, 16, bytes), 0);
	plan.run = 2;
	plan.payload[0] = 99;
	assert_int_equal(gather(shm, &plan, 16, bytes), 0);
	memset(run, 0, sizeof(*run));
	plan.payload[0] = NT_SCHEDULE_SCREEN;
	assert_int_equal(gather(shm, &plan, 16, bytes), 0);
	free(shm);
}

static void damage_is_no_time_at_all(void **state)
{
	uint16_t worst[NT_TIMES_MAX];
	uint8_t bytes[64];

	memset(bytes, 1, sizeof(bytes));
	nt_times_read(worst, &four, bytes, 24);
	assert_int_equal(worst[11], 257);
	nt_times_read(worst, &four, bytes, 3);
	assert_int_equal(worst[0], 0);
	nt_times_read(worst, &four, bytes, 34);
	assert_int_equal(worst[0], 0);
}

static void sums_are_added_up(void **state)
{
	uint8_t sum[] = { 5, 1, 7, 0, 9, 9 };
	const uint8_t other[] = { 4, 2, 0, 0, 1, 1, 8, 8 };

	assert_int_equal(nt_times_combine(sum, sizeof(sum), other, sizeof(other)), 6);
	/* 0x204 beats 0x105; one lacks the second */
	assert_memory_equal(sum, ((uint8_t[]){ 4, 2, 0, 0, 9, 9 }), 6);
	assert_int_equal(nt_times_combine(sum, 6, other, 2), 2);
	assert_int_equal(nt_times_combine(sum, 2, other, 0), 0);
}

static const struct nt_schedule all = { .kind = NT_SCHEDULE_SCREEN,
					.count = 4,
					.blocks = 3,
					.measure = NT_MEASURE_ALL,
					.arm = { NT_ARM_BASELINE, 1, 5, 7 } };

/* Two ranks here, one there, in either order, and as a record has them. */
static void other_measures_are_of_all_ranks(void **state)
{
	struct nt_plan plan = plan_of(&all);
	struct nt_shm *shm = shm_with_times(&plan);
	const int mean = nt_times_measure_at(&all, NT_MEASURE_MEAN),
		  fastest = nt_times_measure_at(&all, NT_MEASURE_FASTEST);
	uint16_t packed[NT_TIMES_MAX];
	uint8_t bytes[2][NT_TIMES_BYTES];
	size_t count[2];

	assert_int_equal(nt_times_values(&all), 12 + 4 + 2 * 12 + 1);
	assert_int_equal(mean, 16);
	assert_int_equal(fastest, 28);
	for (unsigned first = 0; first < 2; first++) {
		count[0] = nt_explorer_gather(shm, &plan, 2, NT_REWARD_CALL, bytes[first], 200);
		atomic_store(&shm->run[2].issued[0], 0);
		atomic_store(&shm->run[2].issued[1], 0);
		for (uint32_t p = 0; p < 12; p++) {
			shm->run[3].sample[0][p] = shm->run[2].sample[3][p];
			assert_int_equal(shm->run[3].issued[1], 0);
		}
		shm->run[3].issued[0] = 12;
		plan.run = 3;
		count[1] = nt_explorer_gather(shm, &plan, 2, NT_REWARD_CALL, bytes[!first], 200);
		plan.run = 2;
		shm->run[2].issued[0] = shm->run[2].issued[1] = 12;
		assert_int_equal(count[0], 2 * 41 + 3);
		assert_int_equal(count[1], count[0]);
		assert_int_equal(nt_times_combine(bytes[0], count[0], bytes[1], count[1]),
				 count[0]);
		for (unsigned cut = 0; cut <= 3; cut += 3) {
			nt_times_read(packed, &all, bytes[0], count[0] - cut);
			assert_true(reads_as(packed[5], 2031000));
			assert_true(reads_as(packed[mean + 5], 2001000 - 20000 / 3.0));
			assert_true(reads_as(packed[fastest + 5], 1951000));
			assert_int_equal(packed[40], 3);
		}
	}
	free(shm);
}

static void a_later_round_tells_one_more(void **state)
{
	struct nt_schedule one = all;
	uint16_t packed[NT_TIMES_MAX] = { 0 };
	uint8_t bytes[2 * NT_TIMES_MAX];

	one.kind = NT_SCHEDULE_CONFIRM;
	one.measure = NT_MEASURE_FASTEST;
	assert_int_equal(nt_times_measure_at(&one, NT_MEASURE_SLOWEST), 0);
	assert_int_equal(nt_times_measure_at(&one, NT_MEASURE_MEAN), -1);
	assert_int_equal(nt_times_measure_at(&one, NT_MEASURE_FASTEST), 2 * 12 + 4);
	assert_int_equal(nt_times_values(&one), 2 * 12 + 4 + 12 + 1);
	/* No time at all, and no room. */
	assert_int_equal(nt_times_write(packed, &one, 8, bytes, sizeof(bytes)), 0);
	packed[0] = packed[28] = 30000;
	assert_int_equal(nt_times_write(packed, &one, 8, bytes, 2 * 41 + 2), 0);
	assert_int_equal(nt_times_write(packed, &one, 8, bytes, 2 * 41 + 3), 2 * 41 + 3);
}

/* What another node may send. */
static void nonsense_between_nodes_is_no_time(void **state)
{
	uint16_t packed[NT_TIMES_MAX] = { 30000 };
	uint8_t good[NT_TIMES_BYTES], bad[NT_TIMES_BYTES];
	const size_t count = nt_times_write(packed, &all, 2, good, sizeof(good));

	for (unsigned at = 1; at <= 3; at++) {
		memcpy(bad, good, count);
		bad[count - at] ^= 0x82;
		assert_int_equal(nt_times_combine(bad, count, good, count), 0);
		nt_times_read(packed, &all, bad, count);
		assert_int_equal(packed[0], 0);
	}
	memcpy(bad, good, count);
	assert_int_equal(nt_times_combine(bad, count, good, count - 2), 0);
	assert_int_equal(nt_times_combine(bad, count, good, 24), 0);
	assert_int_equal(nt_times_combine(bad, 1, good, 1), 0);
	nt_times_read(packed, &four, good, count);
	assert_int_equal(packed[0], 0);
	nt_times_read(packed, &all, good, count);
	assert_int_equal(packed[0], 30000);
}

UNIT_TESTS(the_error_is_bounded, order_is_kept, shared_memory_holds_long_times,
	   what_one_rank_lacks_is_lacking, damage_is_no_time_at_all, sums_are_added_up,
	   other_measures_are_of_all_ranks, a_later_round_tells_one_more,
	   nonsense_between_nodes_is_no_time);
