/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* call-interval.c - a key that is called once in seconds is decided, and rechecked, in its own
 * time */
#include "pmix-sync/call-interval.h"
#include "tests/unit/pmix-sync/agree-pair.h"
#include "tuner/local-key.h"

static void a_pause_is_the_longest_of_late(void **state)
{
	struct nt_call_interval r = { 0 };
	uint64_t ms = 1000, calls = 0;

	nt_call_interval_see(&r, 0, ms);
	assert_true(nt_call_interval_ms(&r, 4, 10000) == 10000);
	/* Steps of 11 s, each with ten calls in a second. */
	for (unsigned step = 0; step < 5; step++) {
		for (unsigned i = 0; i < 10; i++, ms += 100)
			nt_call_interval_see(&r, ++calls, ms);
		ms += 10000;
		nt_call_interval_see(&r, calls, ms);
	}
	assert_in_range(r.pause_ms, 9900, 11000);
	assert_true(nt_call_interval_ms(&r, 4, 10000) > 39000);
	/* From now on every 100 ms: the pause is forgotten. */
	for (unsigned i = 0; i < 20000; i++, ms += 100)
		nt_call_interval_see(&r, ++calls, ms);
	assert_in_range(r.pause_ms, 100, 200);
	nt_call_interval_see(&r, ++calls, ms + 100000000);
	assert_int_equal(r.pause_ms, NT_CALL_INTERVAL_MAX_MS);
}

static void a_key_is_stalled_by_its_own_calls(void **state)
{
	struct nt_stall s = { .begun = false };
	uint64_t ms = 5000;

	/* Once in 11 s: 40 calls take seven minutes. */
	for (uint64_t calls = 1; calls <= 40; calls++, ms += 11000)
		assert_false(nt_stall_see(&s, 3, false, calls, ms));
	/* A new plan, then a window of 108 calls, and soon afterwards the next entry. */
	assert_false(nt_stall_see(&s, 4, false, 41, ms));
	for (uint64_t calls = 42; calls <= 149; calls++, ms += 3000)
		assert_false(nt_stall_see(&s, 4, true, calls, ms));
	assert_false(nt_stall_see(&s, 4, false, 150, ms));
	/* No entry comes. */
	assert_false(nt_stall_see(&s, 4, false, 5000, ms + NT_STALL_MS - 5000));
	assert_true(nt_stall_see(&s, 4, false, 5001, ms + NT_STALL_MS));
	assert_false(nt_stall_see(&s, 5, false, 5002, ms + NT_STALL_MS));
}

/* A call every step_ms, on two nodes. */
static void is_decided_and_rechecked(uint64_t step_ms)
{
	int counts[32] = { 0 };
	struct pair *p;

	recheck_ms = (uint32_t)(100 * step_ms);
	p = make(2, NULL);
	recheck_ms = 0;
	for (int i = 0; i < 260; i++) {
		counts[collective(p)]++;
		pass(p, step_ms);
	}
	assert_int_equal(counts[10], 6);
	assert_true(counts[11] > 150);
	assert_int_equal(p->rechecks, 1);
	assert_int_equal(counts[20], 6);
	assert_int_equal(p->absorbed, 2);
	destroy(p);
}

static void a_slow_key_is_decided_and_rechecked(void **state)
{
	is_decided_and_rechecked(3000);
	is_decided_and_rechecked(11000);
}

UNIT_TESTS(a_pause_is_the_longest_of_late, a_key_is_stalled_by_its_own_calls,
	   a_slow_key_is_decided_and_rechecked);
