/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.c - which keys are worth it and which come first, with plain values;
 * tests/unit/pmix-sync/order.c tests it in shared memory */
#include "tests/lib/unit.h"
#include "engine/engine.h"
#include "engine/scheduler.h"

static void what_takes_no_share_is_not_worth_it(void **state)
{
	struct nt_policy policy;

	nt_policy_default(&policy);
	assert_false(nt_min_share_met(&policy, &(struct nt_share){ 0.99, 1000 }));
	/* A tenth is enough: NCCL predicts too short times for small calls. */
	assert_true(nt_min_share_met(&policy, &(struct nt_share){ 1, 1000 }));
	assert_true(nt_min_share_met(&policy, &(struct nt_share){ 0, 1000 })); /* not known */
	assert_true(nt_min_share_met(&policy, &(struct nt_share){ 10, 0 }));
	policy.min_share_micro = 0;
	assert_true(nt_min_share_met(&policy, &(struct nt_share){ 0.1, 1000 }));
	policy.min_share_micro = 50000000;
	assert_false(nt_min_share_met(&policy, &(struct nt_share){ 49.9, 1000 }));
	policy.mode = NT_MODE_PROFILE; /* which measures everything */
	policy = nt_engine_policy(&policy);
	assert_true(nt_min_share_met(&policy, &(struct nt_share){ 0.1, 1000 }));
}

static void the_most_worthy_first(void **state)
{
	const struct nt_scheduled much = { .comm = 9, .ranks = 2, .us = 4096 };
	const struct nt_scheduled less = { .comm = 5, .ranks = 8, .us = 1000 };
	const struct nt_scheduled unknown = { .comm = 5, .ranks = 8 };

	assert_true(nt_scheduler_before(&much, &less));
	assert_false(nt_scheduler_before(&less, &much));
	assert_true(nt_scheduler_before(&less, &unknown));
}

static void of_equal_ones_the_largest_then_the_smaller_ids(void **state)
{
	const struct nt_scheduled large = { .comm = 9, .key = 1, .ranks = 8, .us = 5000 };
	const struct nt_scheduled small = { .comm = 5, .key = 1, .ranks = 2, .us = 5100 };
	const struct nt_scheduled other = { .comm = 4, .key = 1, .ranks = 2, .us = 5050 };
	const struct nt_scheduled key = { .comm = 4, .key = 2, .ranks = 2, .us = 5050 };

	assert_true(nt_scheduler_before(&large, &small));
	assert_false(nt_scheduler_before(&small, &large));
	assert_true(nt_scheduler_before(&other, &small));
	assert_true(nt_scheduler_before(&other, &key));
	assert_false(nt_scheduler_before(&small, &small));
}

/* One of two waits, and never both. */
static void of_two_one_waits(void **state)
{
	for (unsigned i = 0; i < 81; i++) {
		const struct nt_scheduled a = { .comm = 2, .ranks = 3, .us = 100, .ready = true };
		const struct nt_scheduled b = { .comm = 1 + i % 3,
						.ranks = 2 + i / 3 % 3,
						.us = 20 << 2 * (i / 9 % 3),
						.ready = true };
		const bool same = b.comm == 2 && b.ranks == 3 && b.us > 64 && b.us < 256;

		assert_int_equal(
			nt_scheduler_waits(&a, &b, true) + nt_scheduler_waits(&b, &a, true), !same);
	}
}

static void an_open_one_is_waited_for_whatever_its_worth(void **state)
{
	const struct nt_scheduled self = { .comm = 1, .ranks = 8, .us = 99, .ready = true };
	struct nt_scheduled other = { .comm = 2, .ranks = 2, .us = 1, .ready = true };

	assert_false(nt_scheduler_waits(&self, &other, true));
	other.open = true;
	assert_true(nt_scheduler_waits(&self, &other, true));
	/* more, and nothing to explore */
	other = (struct nt_scheduled){ .comm = 2, .ranks = 64, .us = 1e9 };
	assert_false(nt_scheduler_waits(&self, &other, true));
}

static void what_is_rarely_called_holds_nobody(void **state)
{
	const struct nt_scheduled often = { .comm = 1, .calls = 4000, .us = 1e3 };
	struct nt_scheduled rare = {
		.comm = 2, .calls = 999, .us = 1e6, .open = true, .ready = true
	};

	assert_false(nt_scheduler_waits(&often, &rare, true));
	rare.calls = 1000;
	assert_true(nt_scheduler_waits(&often, &rare, true));
}

static void only_those_wait_that_would_be_disturbed(void **state)
{
	const struct nt_scheduled node = { .comm = 1, .ranks = 8, .nodes = 1, .open = true };
	const struct nt_scheduled wide = { .comm = 2, .ranks = 16, .nodes = 2, .open = true };
	const struct nt_scheduled dp = { .comm = 3, .ranks = 2, .nodes = 2, .open = true };
	const struct nt_scheduled like = { .comm = 4, .ranks = 2, .nodes = 2, .open = true };

	assert_true(nt_scheduler_waits(&dp, &node, true)); /* a GPU in both */
	assert_false(nt_scheduler_waits(&dp, &node, false)); /* no GPU, no network */
	assert_true(nt_scheduler_waits(&dp, &wide, false)); /* the network */
	assert_false(nt_scheduler_waits(&dp, &like, false)); /* of one shape: together */
	assert_true(nt_scheduler_waits(&dp, &like, true)); /* twice the same GPUs */
}

static void nobody_waits_for_ever(void **state)
{
	const struct nt_policy policy = { .min_calls = 10 };

	assert_false(nt_scheduler_waited(&policy, 399, 0));
	assert_true(nt_scheduler_waited(&policy, 400, 0));
	assert_false(nt_scheduler_waited(&policy, 399, 11e6));
	assert_true(nt_scheduler_waited(&policy, 400, 11e6));
	/* A thousand times a second. */
	assert_false(nt_scheduler_waited(&policy, 9000, 9e6));
}

UNIT_TESTS(what_takes_no_share_is_not_worth_it, the_most_worthy_first,
	   of_equal_ones_the_largest_then_the_smaller_ids, of_two_one_waits,
	   an_open_one_is_waited_for_whatever_its_worth, what_is_rarely_called_holds_nobody,
	   only_those_wait_that_would_be_disturbed, nobody_waits_for_ever);
