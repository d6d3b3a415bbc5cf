/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c - valid schedules, and the order of arms, which must be equal on all ranks */
#include "tests/lib/unit.h"
#include "contract/reason.h"
#include "contract/shm-layout.h"
#include "engine/schedule.h"

static struct nt_schedule exploration(unsigned count, unsigned blocks)
{
	struct nt_schedule s = { .kind = NT_SCHEDULE_SCREEN,
				 .count = (uint8_t)count,
				 .blocks = (uint8_t)blocks,
				 .arm = { NT_ARM_BASELINE } };

	for (unsigned i = 1; i < count && i < NT_SCHEDULE_ARMS; i++)
		s.arm[i] = (uint16_t)(2 * i - 2);
	return s;
}

/* Two builds that disagree here would hang a job: these numbers change only with
 * NT_SHM_LAYOUT. */
static void orders_are_fixed(void **state)
{
	static const struct {
		uint32_t epoch;
		int64_t position;
		int index;
	} cases[] = {
		{ 1, 0, 3 }, { 1, 1, 1 }, { 1, 2, 4 },	{ 1, 3, 2 },	       { 1, 4, 0 },
		{ 2, 0, 4 }, { 2, 7, 0 }, { 7, 44, 3 }, { UINT32_MAX, 12, 1 },
	};
	struct nt_schedule s = exploration(5, 9);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(nt_schedule_index(&s, cases[i].epoch, cases[i].position),
				 cases[i].index);
}

/* Keys that are explored at the same time: one key's arm is independent of the other's. */
static void orders_of_keys_are_unlike(void **state)
{
	struct nt_schedule a = exploration(2, 250), b = a;
	unsigned alike[3] = { 0 };

	a.salt = nt_schedule_salt(8, 2, 1000);
	for (unsigned i = 0; i < 3; i++) {
		b.salt = i == 0	  ? a.salt
			 : i == 1 ? nt_schedule_salt(8, 2, 1001)
				  : nt_schedule_salt(16, 2, 1000);
		for (unsigned p = 0; p < 500; p++)
			alike[i] += nt_schedule_arm(&a, 1, p) == nt_schedule_arm(&b, 1, p);
	}
	assert_int_equal(alike[0], 500);
	assert_in_range(alike[1], 190, 310);
	assert_in_range(alike[2], 190, 310);
}

static void outside_is_auto(void **state)
{
	struct nt_schedule s = exploration(5, 9);
	struct nt_schedule final = { .kind = NT_SCHEDULE_COMMITTED, .count = 1, .arm = { 5 } };
	struct nt_schedule kept = { .kind = NT_SCHEDULE_KEPT,
				    .count = 1,
				    .arm = { NT_ARM_BASELINE } };

	assert_int_equal(nt_schedule_positions(&s), 45);
	assert_int_equal(nt_schedule_arm(&s, 1, -1), NT_ARM_BASELINE);
	assert_int_equal(nt_schedule_arm(&s, 1, 45), NT_ARM_BASELINE);
	assert_int_equal(nt_schedule_arm(&s, 1, INT64_MAX), NT_ARM_BASELINE);
	assert_int_equal(nt_schedule_index(&s, 1, 45), -1);
	assert_int_equal(nt_schedule_arm(&s, 1, 3), s.arm[nt_schedule_index(&s, 1, 3)]);
	assert_int_equal(nt_schedule_positions(&final), 1);
	assert_int_equal(nt_schedule_arm(&final, 9, 0), 5);
	assert_int_equal(nt_schedule_arm(&final, 9, -1), NT_ARM_BASELINE);
	assert_int_equal(nt_schedule_positions(&kept), 0);
	assert_int_equal(nt_schedule_arm(&kept, 9, 0), NT_ARM_BASELINE);
}

static int reads(const struct nt_schedule *s)
{
	uint8_t bytes[NT_PLAN_PAYLOAD];
	struct nt_schedule copy;
	size_t count = nt_schedule_write(s, bytes, sizeof(bytes));

	assert_int_equal(count, sizeof(*s));
	if (nt_schedule_read(&copy, bytes, count) < 0)
		return -1;
	assert_memory_equal(&copy, s, sizeof(copy));
	return 0;
}

static void damage_is_refused(void **state)
{
	struct nt_schedule good = exploration(5, 9);
	struct nt_schedule s;
	uint8_t bytes[NT_PLAN_PAYLOAD] = { 0 };

#define REFUSED(change)                          \
	do {                                     \
		s = good;                        \
		change;                          \
		assert_int_equal(reads(&s), -1); \
	} while (0)
	REFUSED(s.kind = 0);
	REFUSED(s.kind = NT_SCHEDULE_RECHECK + 1);
	REFUSED(s.count = 0);
	REFUSED(s.count = NT_SCHEDULE_ARMS + 1);
	REFUSED(s.blocks = 0);
	REFUSED(s.blocks = NT_SCHEDULE_WARM_UP);
	REFUSED(s.blocks = NT_RUN_POSITIONS / 5 + 1);
	REFUSED(s.arm[1] = NT_PAIRS);
	REFUSED(s.arm[1] = 254);
	REFUSED(s.arm[1] = s.arm[2]);
	REFUSED(s.arm[1] = NT_ARM_BASELINE);
	REFUSED(s.arm[0] = 20);
	REFUSED(s.kind = NT_SCHEDULE_COMMITTED);
	REFUSED(s.kind = NT_SCHEDULE_COMMITTED; s.count = 1; s.outcome.verdict = NT_VERDICTS);
	REFUSED(s.kind = NT_SCHEDULE_COMMITTED; s.count = 1; s.outcome.from = NT_FROMS);
	REFUSED(s.kind = NT_SCHEDULE_COMMITTED; s.count = 1; s.outcome.measure = NT_MEASURES);
	REFUSED(s.kind = NT_SCHEDULE_KINDS; s.count = 1);
#undef REFUSED
	assert_int_equal(nt_schedule_read(&s, bytes, 0), -1);
	assert_int_equal(nt_schedule_read(&s, bytes, sizeof(bytes)), -1);
	assert_int_equal(nt_schedule_write(&good, bytes, sizeof(good) - 1), 0);
}

static void arms_with_caps_travel(void **state)
{
	struct nt_schedule s = { .kind = NT_SCHEDULE_SCREEN, .count = 4, .blocks = 4 }, read;
	uint8_t bytes[NT_PLAN_PAYLOAD];
	const int cap = nt_arm_parse("RING/SIMPLE/8ch"), other = nt_arm_parse("RING/SIMPLE/16ch");

	s.arm[0] = NT_ARM_BASELINE;
	s.arm[1] = (uint16_t)cap;
	s.arm[2] = (uint16_t)other;
	s.arm[3] = (uint16_t)nt_arm_pair(cap);
	assert_int_equal(
		nt_schedule_read(&read, bytes, nt_schedule_write(&s, bytes, sizeof(bytes))), 0);
	assert_int_equal(read.arm[2], other);
	s.arm[2] = (uint16_t)cap; /* twice */
	assert_int_equal(
		nt_schedule_read(&read, bytes, nt_schedule_write(&s, bytes, sizeof(bytes))), -1);
	/* a limit of channels that NCCL does not bound */
	s.arm[2] = (uint16_t)(nt_arm_parse("NVLS/SIMPLE") | 7 << 8);
	assert_int_equal(
		nt_schedule_read(&read, bytes, nt_schedule_write(&s, bytes, sizeof(bytes))), -1);
}

UNIT_TESTS(arms_with_caps_travel, orders_are_fixed, orders_of_keys_are_unlike, outside_is_auto,
	   damage_is_refused);
