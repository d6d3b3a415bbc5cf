/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* process-abi.c - every version of both interfaces works, and every handle is written */
#include "tests/unit/tuner/process-child.h"

static void init_v7(void)
{
	tuner_ctx = profiler_ctx = UNTOUCHED;
	CHECK(ncclProfiler_v7.init(&profiler_ctx, 0xabc, &mask, "dp", 2, 8, 3, host_log) == 0);
	CHECK(ncclTunerPlugin_v7.init(&tuner_ctx, 0xabc, 8, 2, host_log, NULL, NULL) == 0);
}

static void case_versions(void)
{
	const int algos[] = { 0, 0, 6, 7, 7, 7 };
	int algo = -1, proto = -1, channels = 0;
	void *ctx[8], *prof[8];

	set_policy("bandit");
	CHECK(ncclTunerPlugin_v2.init(8, 2, host_log, &ctx[2]) == 0);
	CHECK(ncclTunerPlugin_v3.init(8, 2, host_log, &ctx[3]) == 0);
	CHECK(ncclProfiler_v4.init(&prof[4], &mask, "dp", 0xabc, 2, 8, 3, host_log) == 0);
	CHECK(ncclTunerPlugin_v4.init(8, 2, host_log, &ctx[4]) == 0 && ctx[4] == prof[4]);
	CHECK(ncclProfiler_v6.init(&prof[6], 0xdef, &mask, NULL, 2, 8, 3, host_log) == 0);
	CHECK(ncclTunerPlugin_v6.init(&ctx[6], 0xdef, 8, 2, host_log, NULL, NULL) == 0 &&
	      ctx[6] == prof[6]);
	CHECK(ncclProfiler_v7.init(&prof[7], 0xfed, &mask, NULL, 2, 8, 3, host_log) == 0);
	CHECK(ncclTunerPlugin_v7.init(&ctx[7], 0xfed, 8, 2, host_log, NULL, NULL) == 0 &&
	      ctx[7] == prof[7]);
	CHECK(ours_of(ctx[4])->fixed.caps.api == 0x404 && ours_of(ctx[6])->fixed.caps.api == 0x606);
	CHECK(ours_of(ctx[7])->fixed.caps.api == 0x707 && ours_of(ctx[7])->fixed.last_wins &&
	      !ours_of(ctx[6])->fixed.last_wins);
	CHECK(ncclTunerPlugin_v6.get_chunk_size == NULL);
	CHECK(ncclTunerPlugin_v7.get_chunk_size == NULL);
	CHECK(ncclTunerPlugin_v2.get_coll_info(ctx[2], 4, SIZE, 0, 0, 1, &algo, &proto,
					       &channels) == 0);
	CHECK(algo == -1 && proto == -1 && channels == 0);
	memcpy(table, fresh, sizeof(table));
	CHECK(ncclTunerPlugin_v3.get_coll_info(ctx[3], 4, SIZE, 1, (float **)table, algos[2], 3,
					       &channels) == 0);
	CHECK(ncclTunerPlugin_v4.get_coll_info(ctx[4], 4, SIZE, 1, (float **)table, 7, 3, 1,
					       &channels) == 0);
	CHECK(ncclTunerPlugin_v6.get_coll_info(ctx[6], 4, SIZE, 1, (float **)table, 7, 3, 0,
					       &channels) == 0);
	CHECK(ncclTunerPlugin_v7.get_coll_info(ctx[7], 4, SIZE, 1, (float **)table, 7, 3, 0,
					       &channels) == 0);
	CHECK(memcmp(table, fresh, sizeof(table)) == 0 && channels == 0);
	CHECK(ncclTunerPlugin_v2.destroy(ctx[2]) == 0 && ncclTunerPlugin_v3.destroy(ctx[3]) == 0);
	CHECK(ncclTunerPlugin_v4.destroy(ctx[4]) == 0 && ncclTunerPlugin_v6.finalize(ctx[6]) == 0);
	CHECK(ncclTunerPlugin_v7.finalize(ctx[7]) == 0 && ncclTunerPlugin_v7.finalize(NULL) == 0);
	CHECK(ncclProfiler_v7.finalize(prof[7]) == 0);
	CHECK(ncclTunerPlugin_v5.finalize(NULL) == 0 && ncclTunerPlugin_v4.destroy(NULL) == 0);
	CHECK(ncclProfiler_v4.finalize(prof[4]) == 0 && ncclProfiler_v6.finalize(prof[6]) == 0);
}

static void every_version_is_answered(void **state)
{
	in_child(case_versions);
}

/* NCCL does not clear the handle of an event that it starts. */
static void case_handles(void)
{
	static const uint64_t types[] = { 1,
					  2,
					  4,
					  8,
					  16,
					  32,
					  64,
					  128,
					  256,
					  512,
					  1024,
					  2048,
					  4096,
					  8192,
					  16384,
					  32768,
					  UINT64_C(1) << 40 };
	union nt_prof_args_v4 args = { .kernel_ch = { 5 } };
	void *event;

	set_policy("bandit");
	init_v5();
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct nt_prof_descr_v4 v4 = { .type = (uint8_t)types[i], .parent = UNTOUCHED };
		struct nt_prof_descr_v5 v5 = { .type = types[i], .parent = UNTOUCHED };
		struct nt_prof_descr_v5 v6 = { .type = types[i], .parent = UNTOUCHED };
		struct nt_prof_descr_v7 v7 = { .type = types[i], .parent = UNTOUCHED };

		event = UNTOUCHED;
		CHECK(ncclProfiler_v4.start(profiler_ctx, &event, &v4) == 0 && event != UNTOUCHED);
		event = UNTOUCHED;
		CHECK(ncclProfiler_v5.start(profiler_ctx, &event, &v5) == 0 && event != UNTOUCHED);
		CHECK(ncclProfiler_v5.state(event, NT_PROF_STATE_KERNEL_CH_STOP, &args) == 0);
		CHECK(ncclProfiler_v5.stop(event) == 0 && ncclProfiler_v5.stop(event) == 0);
		event = UNTOUCHED;
		CHECK(ncclProfiler_v6.start(profiler_ctx, &event, &v6) == 0 && event != UNTOUCHED);
		CHECK(ncclProfiler_v6.stop(UNTOUCHED) == 0);
		event = UNTOUCHED;
		CHECK(ncclProfiler_v7.start(profiler_ctx, &event, &v7) == 0 && event != UNTOUCHED);
		CHECK(ncclProfiler_v7.state(event, NT_PROF_STATE_KERNEL_PHASE_STOP, &args) == 0);
		CHECK(ncclProfiler_v7.stop(event) == 0);
		CHECK(ncclProfiler_v6.state(UNTOUCHED, NT_PROF_STATE_KERNEL_CH_STOP, NULL) == 0);
		CHECK(ncclProfiler_v6.state(UNTOUCHED, NT_PROF_STATE_GROUP_END_START, NULL) == 0);
	}
	finalize_v5();
}

static void handles_are_always_written(void **state)
{
	in_child(case_handles);
}

/* From 2.31 on NCCL asks for symmetric kernels with nothing legal, and for its other choice without
 * a task: neither is a call, and neither table is changed. */
static void case_asked_only(void)
{
	float none[NT_PAIRS], before[NT_PAIRS];
	struct nt_comm *comm;
	int channels = 0;

	set_policy("bandit");
	for (int i = 0; i < NT_PAIRS; i++)
		none[i] = before[i] = -1.0f;
	init_v7();
	comm = ours_of(tuner_ctx);
	for (int tasks = 0; tasks < 2; tasks++)
		CHECK(ncclTunerPlugin_v7.get_coll_info(tuner_ctx, NT_ALLREDUCE, SIZE, tasks,
						       (float **)none, 7, 3, 0, &channels) == 0);
	CHECK(memcmp(none, before, sizeof(none)) == 0 && nt_comm_keys(comm) == 0);
	memcpy(table, fresh, sizeof(table));
	CHECK(ncclTunerPlugin_v7.get_coll_info(tuner_ctx, NT_ALLREDUCE, SIZE, 0, (float **)table, 7,
					       3, 0, &channels) == 0);
	CHECK(nt_comm_keys(comm) == 0);
	CHECK(ncclTunerPlugin_v7.get_coll_info(tuner_ctx, NT_ALLREDUCE, SIZE, 1, (float **)table, 7,
					       3, 0, &channels) == 0);
	CHECK(nt_comm_keys(comm) == 1 && nt_key_calls(&comm->key[0]) == 1);
	/* A committed arm applies only to calls. */
	comm->key[0].decision.arm = TREE_SIMPLE;
	atomic_store(&comm->key[0].decision.state, NT_LOCAL_COMMITTED);
	memcpy(table, fresh, sizeof(table));
	CHECK(ncclTunerPlugin_v7.get_coll_info(tuner_ctx, NT_ALLREDUCE, SIZE, 0, (float **)table, 7,
					       3, 0, &channels) == 0);
	CHECK(memcmp(table, fresh, sizeof(table)) == 0);
	/* The last of the lowest wins: no other entry is 0. */
	table[RING_SIMPLE] = 0;
	CHECK(ncclTunerPlugin_v7.get_coll_info(tuner_ctx, NT_ALLREDUCE, SIZE, 1, (float **)table, 7,
					       3, 0, &channels) == 0);
	CHECK(table[TREE_SIMPLE] == 0 && table[RING_SIMPLE] > 0);
	CHECK(ncclTunerPlugin_v7.finalize(tuner_ctx) == 0 &&
	      ncclProfiler_v7.finalize(profiler_ctx) == 0);
}

static void what_is_only_asked_is_no_call(void **state)
{
	in_child(case_asked_only);
}

UNIT_TESTS_EACH(make_dir, remove_dir, every_version_is_answered, handles_are_always_written,
		what_is_only_asked_is_no_call);
