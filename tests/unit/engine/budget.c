/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* budget.c - each of the limits of what exploring may cost holds by itself */
#include "tests/lib/unit.h"
#include "engine/budget.h"

#define SPENT 10 /* calls */
#define ROUND 40 /* positions of the next round */

static const struct nt_schedule next_round = { .kind = NT_SCHEDULE_SCREEN,
					       .count = 4,
					       .blocks = ROUND / 4,
					       .arm = { NT_ARM_BASELINE, 1, 2, 3 } };

static bool allows(const struct nt_policy *policy, uint64_t calls, uint32_t more_calls)
{
	struct nt_evaluation seen = { .policy = policy };

	seen.info.calls = calls;
	seen.spent.calls = SPENT;
	return nt_budget_allows(&seen, &next_round, more_calls);
}

static void calls_are_limited(void **state)
{
	struct nt_policy policy = { .max_calls = SPENT + ROUND + 5 };

	assert_true(allows(&policy, 0, 5));
	assert_false(allows(&policy, 0, 6));
	policy.max_calls = 0;
	assert_true(allows(&policy, 0, 1000000));
}

/* Percent, in millionths, of all calls that there were. */
static void the_share_of_calls_is_limited(void **state)
{
	struct nt_policy policy = { .budget_micro = 25000000 };
	const uint64_t calls = 4 * (SPENT + ROUND);

	assert_true(allows(&policy, calls, 0));
	assert_false(allows(&policy, calls, 1));
	assert_false(allows(&policy, calls - 4, 0));
	policy.budget_micro = 0;
	assert_true(allows(&policy, 0, 0));
}

UNIT_TESTS(calls_are_limited, the_share_of_calls_is_limited);
