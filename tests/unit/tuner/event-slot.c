/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* event-slot.c - handles as numbers: late, repeated and stale ones; many threads */
#include "tests/lib/unit.h"
#include <pthread.h>
#include <sched.h>
#include "tuner/event-slot.h"

static struct nt_event_slots slots;
static const struct nt_sample sample = {
	.run = 3, .owner = 77, .epoch = 4, .rank_slot = 2, .position = 9
};

static int clear(void **state)
{
	memset(&slots, 0, sizeof(slots));
	return 0;
}

static void *take(void)
{
	struct nt_sample victim;
	void *handle;
	bool lost;

	handle = nt_event_slot_take(&slots, &sample, &lost, &victim);
	assert_non_null(handle);
	assert_false(lost);
	return handle;
}

static void other_numbers_are_no_handles(void **state)
{
	static const uint64_t numbers[] = { 0,
					    1,
					    2,
					    3,
					    5,
					    0x5a5a5a5a5a5aul,
					    UINT64_MAX,
					    UINT64_C(1) << 32,
					    UINT64_C(1) << 32 | 2,
					    UINT64_C(1) << 32 | NT_EVENT_SLOT_COUNT << 2 | 1,
					    UINT64_C(2) << 32 | 1 };
	struct nt_sample out;

	assert_int_equal((uintptr_t)take(), UINT64_C(1) << 32 | 1);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		assert_false(nt_event_slot_live(&slots, (void *)numbers[i]));
		assert_false(nt_event_slot_finish(&slots, (void *)numbers[i], &out));
	}
}

static void an_ended_communicator_is_forgotten(void **state)
{
	const void *mine = &slots, *other = &sample;
	struct nt_sample of_mine = sample, of_other = sample, out;
	void *a, *b;
	bool lost;

	of_mine.whose = mine;
	of_other.whose = other;
	a = nt_event_slot_take(&slots, &of_mine, &lost, &out);
	b = nt_event_slot_take(&slots, &of_other, &lost, &out);
	nt_event_slot_forget(&slots, mine);
	assert_false(nt_event_slot_live(&slots, a));
	assert_true(nt_event_slot_live(&slots, b));
}

#define ROUNDS 5000
#define THREADS 2

struct race {
	_Atomic(void *) handle;
	_Atomic uint64_t finished;
	_Atomic int end;
};

UNIT_TESTS_EACH(clear, NULL, other_numbers_are_no_handles, an_ended_communicator_is_forgotten);
