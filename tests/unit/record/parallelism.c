/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The probable parallelism of a communicator; bandwidths, volumes; codes and texts of reasons. */
#include "record/parallelism.h"

#include <math.h>
#include "tests/lib/unit.h"
#include "engine/schedule.h"
#include "pmix-sync/capabilities.h"
#include "record/row-time.h"
#include "contract/reason.h"
#include "record/step.h"

struct info {
	const char *name;
	uint32_t ranks, nodes;
	int64_t steps, calls;
	double call_bytes;
	int64_t p2p, alltoall;
	enum nt_parallel wanted;
};

/* In a step of 32 ranks on 4 nodes. */
static const struct info cases[] = {
	/* by what is called */
	{ "", 8, 1, 100, 6400, 16e6, 0, 0, NT_PARALLEL_TENSOR }, /* 64 calls a step inside a node */
	{ "", 8, 1, -1, 6400, 16e6, 0, 0, NT_PARALLEL_TENSOR },
	{ "", 8, 1, 100, 200, 16e6, 0, 0, NT_PARALLEL_UNKNOWN }, /* two calls a step */
	{ "", 8, 1, -1, 200, 16e6, 0, 0, NT_PARALLEL_UNKNOWN },
	{ "", 4, 4, 100, 1200, 25e6, 0, 0, NT_PARALLEL_DATA }, /* buckets across nodes */
	{ "", 32, 4, 100, 1200, 25e6, 0, 0, NT_PARALLEL_DATA },
	{ "", 32, 4, 100, 300, 8, 0, 0, NT_PARALLEL_WORLD }, /* a loss, a flag */
	{ "", 4, 4, 100, 300, 8, 0, 0, NT_PARALLEL_UNKNOWN },
	{ "", 4, 4, 100, 0, 0, 3200, 0, NT_PARALLEL_PIPELINE },
	{ "", 4, 4, 100, 0, 0, 0, 200, NT_PARALLEL_EXPERT }, /* 200 all-to-alls */
	{ "", 4, 4, 100, 0, 0, 0, 0, NT_PARALLEL_UNKNOWN }, /* sends were not counted */
	{ "", 4, 4, 100, 10, 1e6, 3200, 0, NT_PARALLEL_DATA },
	/* by name, whatever is called */
	{ "tp", 4, 4, 100, 1200, 25e6, 0, 0, NT_PARALLEL_TENSOR },
	{ "mesh_TP", 8, 1, 100, 0, 0, 0, 0, NT_PARALLEL_TENSOR },
	{ "TENSOR_MODEL_PARALLEL_GROUP", 8, 1, 100, 0, 0, 0, 0, NT_PARALLEL_TENSOR },
	{ "dp_#", 8, 1, 100, 6400, 8, 0, 0, NT_PARALLEL_DATA },
	{ "pipeline0", 2, 2, 100, 0, 0, 0, 0, NT_PARALLEL_PIPELINE },
	{ "expert-data", 4, 4, 100, 1200, 25e6, 0, 0, NT_PARALLEL_DATA },
	{ "MoE", 4, 4, 100, 0, 0, 0, 0, NT_PARALLEL_EXPERT },
	{ "default", 4, 4, 100, 300, 8, 0, 0, NT_PARALLEL_UNKNOWN },
	{ "http", 4, 4, 100, 300, 8, 0, 0, NT_PARALLEL_UNKNOWN }, /* no tp */
	{ "step", 4, 4, 100, 300, 8, 0, 0, NT_PARALLEL_UNKNOWN }, /* no ep */
};

static void looks_like(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct info *c = &cases[i];
		struct nt_parallelism info = {
			.name = c->name,
			.ranks = c->ranks,
			.nodes = c->nodes,
			.step_ranks = 32,
			.steps = c->steps,
			.calls = c->calls,
			.bytes = (double)c->calls * c->call_bytes,
			.p2p = c->p2p,
			.alltoall = c->alltoall,
		};

		if (nt_parallelism_parallel(&info) != c->wanted)
			fail_msg("case %zu (%s) looks like \"%s\"", i, c->name,
				 nt_parallel_name((int)nt_parallelism_parallel(&info)));
	}
}

/* The figures of nccl-tests' PERFORMANCE.md: 8 ranks, 1 GB in 10 ms. */
static void bandwidths_are_those_of_nccl_tests(void **state)
{
	double inside, between;

	assert_float_equal(nt_algbw_gbs(1e9, 10000), 100, 1e-9);
	assert_float_equal(nt_busbw_gbs(NT_ALLREDUCE, 8, 1e9, 10000), 175, 1e-9);
	assert_float_equal(nt_busbw_gbs(NT_ALLGATHER, 8, 1e9, 10000), 87.5, 1e-9);
	assert_float_equal(nt_busbw_gbs(NT_REDUCESCATTER, 8, 1e9, 10000), 87.5, 1e-9);
	assert_float_equal(nt_busbw_gbs(NT_BROADCAST, 8, 1e9, 10000), 100, 1e-9);
	assert_true(isnan(nt_algbw_gbs(0, 10)) && isnan(nt_algbw_gbs(8, 0)));
	assert_true(isnan(nt_busbw_gbs(NT_REDUCE, 8, 8, NAN)) && isnan(nt_coll_bus_factor(99, 8)));
	nt_ring_volume(NT_ALLREDUCE, 8, 1, 1000, &inside, &between);
	assert_true(inside == 14000 && between == 0);
	nt_ring_volume(NT_ALLGATHER, 8, 2, 1000, &inside, &between);
	assert_true(inside == 6 * 875 && between == 2 * 875);
	nt_ring_volume(NT_BROADCAST, 8, 2, 1000, &inside, &between); /* a chain */
	assert_true(inside == 6000 && between == 1000);
	nt_ring_volume(NT_ALLREDUCE, 1, 1, 1000, &inside, &between);
	assert_true(inside == 0 && between == 0);
	/* What is sent to the rank itself is nowhere; peers of other sends are unknown. */
	nt_p2p_volume(NT_P2P_ALLTOALL, 8, 2, 800, &inside, &between);
	assert_true(inside == 300 && between == 400);
	nt_p2p_volume(NT_P2P_SEND, 8, 1, 800, &inside, &between);
	assert_true(inside == 800 && between == 0);
	nt_p2p_volume(NT_P2P_SENDRECV, 2, 2, 800, &inside, &between);
	assert_true(inside == 0 && between == 800);
	nt_p2p_volume(NT_P2P_RECV, 8, 2, 0, &inside, &between);
	assert_true(isnan(inside) && isnan(between));
}

/* If one of two own times is unknown, neither is compared with the other's period. */
static void a_row_shows_times_of_one_kind(void **state)
{
	struct nt_key row;

	nt_key_clear(&row);
	row.arm = NT_ARM_BASELINE;
	row.auto_us = 200;
	assert_true(!nt_row_duration_known(&row) && nt_row_call_us(&row, NT_OF_AUTO) == 200);
	row.auto_own_us = 90;
	assert_true(nt_row_duration_known(&row) && nt_row_call_us(&row, NT_OF_AUTO) == 90);
	row.arm_us = 150;
	assert_true(!nt_row_duration_known(&row) && nt_row_call_us(&row, NT_OF_AUTO) == 200);
	assert_true(nt_row_call_us(&row, NT_OF_ARM) == 150);
	row.arm_own_us = 60;
	assert_true(nt_row_duration_known(&row) && nt_row_call_us(&row, NT_OF_ARM) == 60);
	assert_int_equal(nt_row_in_force(&row), NT_OF_AUTO);
}

static void codes_of_reasons(void **state)
{
	for (int i = 0; i < NT_REASON_COUNT; i++) {
		assert_int_equal(nt_reason_parse(nt_reason_code(i)), i);
		assert_true(strlen(nt_reason_code(i)) < NT_REASON_CODE_MAX);
	}
	assert_int_equal(nt_reason_parse("of tomorrow"), NT_REASON_OTHER);
	assert_string_equal(nt_reason_code(NT_REASON_COUNT), "");
	assert_int_equal(nt_reason_about(NT_REASON_SMALL), NT_ABOUT_KEY);
	assert_int_equal(nt_reason_about(NT_REASON_UNSEEN), NT_ABOUT_COMM);
}

UNIT_TESTS(looks_like, bandwidths_are_those_of_nccl_tests, a_row_shows_times_of_one_kind,
	   codes_of_reasons);
