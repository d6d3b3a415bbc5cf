/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* mask.c - events are on while somebody wants them, and GPU times never again once a graph may
 * have been captured */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tuner/abi.h"
#include "tuner/mask.h"

static void events_follow_the_counts(void **state)
{
	struct nt_mask_hold hold = { false };
	struct nt_mask mask;
	int target = 7;

	(void)state;
	nt_mask_init(&mask);
	nt_mask_attach(&mask, &target);
	assert_int_equal(target, 0);
	nt_mask_open(&mask, 1);
	nt_mask_open(&mask, 1);
	assert_true(target & NT_PROF_COLL);
	assert_false(target & NT_PROF_KERNEL_CH);
	nt_mask_measure(&mask, &hold, true);
	assert_true(target & NT_PROF_KERNEL_CH);
	nt_mask_measure(&mask, &hold, false);
	nt_mask_open(&mask, -1);
	assert_true(target & NT_PROF_COLL);
	nt_mask_open(&mask, -1);
	assert_int_equal(target, 0);
	nt_mask_fini(&mask);
}

static void a_possible_capture_ends_gpu_times_for_good(void **state)
{
	struct nt_mask_hold hold = { false };
	struct nt_mask mask;
	int target = 0;

	(void)state;
	nt_mask_init(&mask);
	nt_mask_attach(&mask, &target);
	nt_mask_open(&mask, 1);
	nt_mask_measure(&mask, &hold, true);
	nt_mask_forbid(&mask);
	assert_false(target & NT_PROF_KERNEL_CH);
	assert_true(target & NT_PROF_COLL);
	nt_mask_measure(&mask, &hold, true);
	assert_false(target & NT_PROF_KERNEL_CH);
	nt_mask_fini(&mask);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_follow_the_counts),
		cmocka_unit_test(a_possible_capture_ends_gpu_times_for_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
