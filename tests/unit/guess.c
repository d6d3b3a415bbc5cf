/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Which parallelism a communicator looks like; bandwidths, volumes; codes and words of reasons. */
#include "record/guess.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "engine/schedule.h"
#include "pmix-sync/card.h"
#include "record/bandwidth.h"
#include "record/reason.h"
#include "record/step.h"

struct known {
	const char *name;
	uint32_t ranks, nodes;
	int64_t steps, calls;
	double call_bytes;
	int64_t pairs;
	enum nt_parallel wanted;
};

/* In a step of 32 ranks on 4 nodes. */
static const struct known cases[] = {
	/* by what is called */
	{ "", 8, 1, 100, 6400, 16e6, -1, NT_PARALLEL_TENSOR }, /* 64 calls a step inside a node */
	{ "", 8, 1, -1, 6400, 16e6, -1, NT_PARALLEL_TENSOR },
	{ "", 8, 1, 100, 200, 16e6, -1, NT_PARALLEL_UNKNOWN }, /* two calls a step */
	{ "", 8, 1, -1, 200, 16e6, -1, NT_PARALLEL_UNKNOWN },
	{ "", 4, 4, 100, 1200, 25e6, -1, NT_PARALLEL_DATA }, /* buckets across nodes */
	{ "", 32, 4, 100, 1200, 25e6, -1, NT_PARALLEL_DATA },
	{ "", 32, 4, 100, 300, 8, -1, NT_PARALLEL_WORLD }, /* a loss, a flag */
	{ "", 4, 4, 100, 300, 8, -1, NT_PARALLEL_UNKNOWN },
	{ "", 4, 4, 100, 0, 0, 3200, NT_PARALLEL_PIPELINE },
	{ "", 4, 4, 100, 0, 0, -1, NT_PARALLEL_UNKNOWN }, /* sends were not counted */
	{ "", 4, 4, 100, 10, 1e6, 3200, NT_PARALLEL_DATA },
	/* by name, whatever is called */
	{ "tp", 4, 4, 100, 1200, 25e6, -1, NT_PARALLEL_TENSOR },
	{ "mesh_TP", 8, 1, 100, 0, 0, -1, NT_PARALLEL_TENSOR },
	{ "TENSOR_MODEL_PARALLEL_GROUP", 8, 1, 100, 0, 0, -1, NT_PARALLEL_TENSOR },
	{ "dp_#", 8, 1, 100, 6400, 8, -1, NT_PARALLEL_DATA },
	{ "pipeline0", 2, 2, 100, 0, 0, -1, NT_PARALLEL_PIPELINE },
	{ "expert-data", 4, 4, 100, 1200, 25e6, -1, NT_PARALLEL_DATA },
	{ "MoE", 4, 4, 100, 0, 0, -1, NT_PARALLEL_EXPERT },
	{ "default", 4, 4, 100, 300, 8, -1, NT_PARALLEL_UNKNOWN },
	{ "http", 4, 4, 100, 300, 8, -1, NT_PARALLEL_UNKNOWN }, /* no tp */
	{ "step", 4, 4, 100, 300, 8, -1, NT_PARALLEL_UNKNOWN }, /* no ep */
};

static void looks_like(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct known *c = &cases[i];
		struct nt_guess known = {
			.name = c->name,
			.ranks = c->ranks,
			.nodes = c->nodes,
			.step_ranks = 32,
			.step_nodes = 4,
			.steps = c->steps,
			.calls = { [NT_ALLREDUCE] = c->calls },
			.bytes = { [NT_ALLREDUCE] = (double)c->calls * c->call_bytes },
			.pairs = c->pairs,
		};

		if (nt_guess_parallel(&known) != c->wanted)
			fail_msg("case %zu (%s) looks like \"%s\"", i, c->name,
				 nt_parallel_name((int)nt_guess_parallel(&known)));
	}
	for (int i = 0; i < NT_PARALLEL_COUNT; i++)
		assert_int_equal(nt_parallel_parse(nt_parallel_name(i)), i);
	assert_int_equal(nt_parallel_parse("sideways"), NT_PARALLEL_UNKNOWN);
}

/* The figures of nccl-tests' PERFORMANCE.md: 8 ranks, 1 GB in 10 ms. */
static void bandwidths_are_those_of_nccl_tests(void **state)
{
	double inside, between;

	(void)state;
	assert_float_equal(nt_algbw_gbps(1e9, 10000), 100, 1e-9);
	assert_float_equal(nt_busbw_gbps(NT_ALLREDUCE, 8, 1e9, 10000), 175, 1e-9);
	assert_float_equal(nt_busbw_gbps(NT_ALLGATHER, 8, 1e9, 10000), 87.5, 1e-9);
	assert_float_equal(nt_busbw_gbps(NT_REDUCESCATTER, 8, 1e9, 10000), 87.5, 1e-9);
	assert_float_equal(nt_busbw_gbps(NT_BROADCAST, 8, 1e9, 10000), 100, 1e-9);
	assert_true(isnan(nt_algbw_gbps(0, 10)) && isnan(nt_algbw_gbps(8, 0)));
	assert_true(isnan(nt_busbw_gbps(NT_REDUCE, 8, 8, NAN)) && isnan(nt_coll_bus_factor(99, 8)));
	nt_ring_volume(NT_ALLREDUCE, 8, 1, 1000, &inside, &between);
	assert_true(inside == 14000 && between == 0);
	nt_ring_volume(NT_ALLGATHER, 8, 2, 1000, &inside, &between);
	assert_true(inside == 6 * 875 && between == 2 * 875);
	nt_ring_volume(NT_BROADCAST, 8, 2, 1000, &inside, &between); /* a chain */
	assert_true(inside == 6000 && between == 1000);
	nt_ring_volume(NT_ALLREDUCE, 1, 1, 1000, &inside, &between);
	assert_true(inside == 0 && between == 0);
}

/* Where one of two own times is not known, neither is compared with the other's period. */
static void a_row_shows_times_of_one_kind(void **state)
{
	struct nt_row row;

	(void)state;
	nt_fields_clear(&nt_row_fields, &row);
	row.arm = NT_ARM_AUTO;
	row.auto_us = 200;
	assert_true(!nt_row_own_known(&row) && nt_row_call_us(&row, NT_OF_AUTO) == 200);
	row.auto_own_us = 90;
	assert_true(nt_row_own_known(&row) && nt_row_call_us(&row, NT_OF_AUTO) == 90);
	row.arm_us = 150;
	assert_true(!nt_row_own_known(&row) && nt_row_call_us(&row, NT_OF_AUTO) == 200);
	assert_true(nt_row_call_us(&row, NT_OF_ARM) == 150);
	row.arm_own_us = 60;
	assert_true(nt_row_own_known(&row) && nt_row_call_us(&row, NT_OF_ARM) == 60);
	assert_int_equal(nt_row_in_force(&row), NT_OF_AUTO);
}

static void codes_of_reasons(void **state)
{
	(void)state;
	for (int i = 0; i < NT_REASON_COUNT; i++) {
		assert_int_equal(nt_reason_parse(nt_reason_code(i)), i);
		assert_true(strlen(nt_reason_code(i)) < NT_REASON_CODE_MAX);
	}
	assert_int_equal(nt_reason_parse("of tomorrow"), NT_REASON_OTHER);
	assert_string_equal(nt_reason_code(NT_REASON_COUNT), "");
	assert_int_equal(nt_reason_about(NT_REASON_SMALL), NT_ABOUT_KEY);
	assert_int_equal(nt_reason_about(NT_REASON_UNSEEN), NT_ABOUT_COMM);
}

/* The words that others write, from where they are. */
static void words_of_reasons(void **state)
{
	static const enum nt_reason verdicts[NT_VERDICTS] = {
		[NT_VERDICT_NONE] = NT_REASON_UNFINISHED,
		[NT_VERDICT_FASTER] = NT_REASON_OTHER, /* is no reason */
		[NT_VERDICT_ALONE] = NT_REASON_ALONE,
		[NT_VERDICT_SCREENED] = NT_REASON_SCREENED,
		[NT_VERDICT_SMALL] = NT_REASON_SMALL,
		[NT_VERDICT_CHANCE] = NT_REASON_CHANCE,
		[NT_VERDICT_MEAN] = NT_REASON_MEAN,
		[NT_VERDICT_PERIOD] = NT_REASON_PERIOD,
		[NT_VERDICT_SAMPLES] = NT_REASON_SAMPLES,
		[NT_VERDICT_BUDGET] = NT_REASON_BUDGET,
		[NT_VERDICT_REMEMBERED] = NT_REASON_REMEMBERED,
	};
	static const enum nt_reason idle[] = {
		[NT_IDLE_MODE] = NT_REASON_MODE,
		[NT_IDLE_API] = NT_REASON_API,
		[NT_IDLE_HALF] = NT_REASON_HALF,
		[NT_IDLE_BOARD] = NT_REASON_BOARD,
	};
	static const enum nt_reason cards[] = { NT_REASON_HARDWARE,  NT_REASON_NCCL,
						NT_REASON_INTERFACE, NT_REASON_BUILD,
						NT_REASON_POLICY,    NT_REASON_WARM,
						NT_REASON_DIFFERS };
	char text[160] = "rank 3 on n2 differs: ";
	const size_t used = strlen(text);

	(void)state;
	for (unsigned i = 0; i < NT_VERDICTS; i++)
		assert_int_equal(nt_reason_find(nt_schedule_verdict_name(i)), verdicts[i]);
	for (uint32_t i = NT_IDLE_MODE; i <= NT_IDLE_BOARD; i++)
		assert_int_equal(nt_reason_find(nt_card_idle(i)), idle[i]);
	for (size_t i = 0; i < sizeof(cards) / sizeof(cards[0]); i++) {
		struct nt_card odd = { 0 }, usual = { 0 };

		odd.fingerprint = i == 0;
		odd.nccl = i == 1;
		odd.api = i == 2;
		odd.build = i == 3;
		odd.policy = i == 4;
		odd.warm = i == 5;
		odd.active = i == 6;
		nt_card_difference(&odd, &usual, text + used, sizeof(text) - used);
		assert_int_equal(nt_reason_find(text), cards[i]);
	}
	for (size_t i = 0; i < NT_STEP_WHYS; i++)
		assert_int_equal(nt_reason_find(nt_step_whys[i].text),
				 NT_REASON_OWN_TUNER + (int)i);
	assert_int_equal(nt_reason_find(""), NT_REASON_NONE);
	assert_int_equal(nt_reason_find("as the moon is full"), NT_REASON_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks_like),
		cmocka_unit_test(bandwidths_are_those_of_nccl_tests),
		cmocka_unit_test(a_row_shows_times_of_one_kind),
		cmocka_unit_test(codes_of_reasons),
		cmocka_unit_test(words_of_reasons),
	};

	return cmocka_run_group_tests_name("guess", tests, NULL, NULL);
}
