/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c - who is explored first, as plain values; tests/unit/engine.c has the same on a board */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "engine/queue.h"

static void the_largest_first_then_the_smaller_id(void **state)
{
	const struct nt_queued large = { .id = 9, .ranks = 8 };
	const struct nt_queued small = { .id = 5, .ranks = 2 };
	const struct nt_queued other = { .id = 4, .ranks = 2 };

	(void)state;
	assert_true(nt_queue_before(&large, &small));
	assert_false(nt_queue_before(&small, &large));
	assert_true(nt_queue_before(&other, &small));
	assert_false(nt_queue_before(&small, &small));
}

/* One of two waits, and never both. */
static void of_two_one_waits(void **state)
{
	(void)state;
	for (unsigned ranks = 2; ranks < 5; ranks++) {
		for (uint64_t id = 1; id < 4; id++) {
			const struct nt_queued a = { .id = 2, .ranks = 3, .ready = true };
			const struct nt_queued b = { .id = id, .ranks = ranks, .ready = true };
			const bool same = id == 2 && ranks == 3;

			assert_int_equal(nt_queue_waits(&a, &b) + nt_queue_waits(&b, &a), !same);
		}
	}
}

static void an_open_one_is_waited_for_whatever_its_size(void **state)
{
	const struct nt_queued self = { .id = 1, .ranks = 8, .ready = true };
	struct nt_queued other = { .id = 2, .ranks = 2, .ready = true };

	(void)state;
	assert_false(nt_queue_waits(&self, &other));
	other.open = true;
	assert_true(nt_queue_waits(&self, &other));
	other = (struct nt_queued){ .id = 2, .ranks = 64 }; /* larger, and nothing to explore */
	assert_false(nt_queue_waits(&self, &other));
}

static void nobody_waits_for_ever(void **state)
{
	const struct nt_policy policy = { .min_calls = 10 };

	(void)state;
	assert_false(nt_queue_waited(&policy, 399));
	assert_true(nt_queue_waited(&policy, 400));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_first_then_the_smaller_id),
		cmocka_unit_test(of_two_one_waits),
		cmocka_unit_test(an_open_one_is_waited_for_whatever_its_size),
		cmocka_unit_test(nobody_waits_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
