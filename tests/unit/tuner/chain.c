/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* chain.c - a profiler and a tuner behind ours: their calls, handles and errors */
#include "tests/unit/tuner/process-child.h"

#include <dlfcn.h>
#include "tests/chain/probe.h"
#include "tuner/chain-profiler.h"

#define THEIRS ((void *)0x1230)

static struct chain_probe *probe;

static void chain(const char *option, int wanted)
{
	char path[512];
	void *library;

	snprintf(path, sizeof(path), "%s/tests/chain/nt-chain-probe.so", getenv("top_builddir"));
	setenv(NT_ENV_CHAINED_PROFILER, path, 1);
	setenv(NT_ENV_CHAINED_TUNER, path, 1);
	library = dlopen(path, RTLD_NOW);
	CHECK(library);
	probe = dlsym(library, CHAIN_PROBE);
	CHECK(probe);
	probe->wanted = wanted;
	probe->handle = THEIRS;
	if (option)
		set_policy(option);
	else
		unsetenv(NT_ENV_POLICY);
}

/* NCCL's handle of the event afterwards. */
static void *start(struct nt_prof_descr_v5 descr)
{
	void *event = UNTOUCHED;

	CHECK(ncclProfiler_v5.start(profiler_ctx, &event, &descr) == 0 && event != UNTOUCHED);
	return event;
}

static bool was_told(struct nt_prof_descr_v5 descr, void **event)
{
	unsigned before = probe->starts;

	*event = start(descr);
	return probe->starts != before;
}

static struct nt_prof_descr_v5 coll_of(uint64_t seq, void *group)
{
	return (struct nt_prof_descr_v5){ .type = NT_PROF_COLL,
					  .coll = { .seq = seq,
						    .func = "AllReduce",
						    .count = SIZE,
						    .datatype = "ncclInt8",
						    .algo = "RING",
						    .proto = "SIMPLE",
						    .group = group } };
}

/* One collective; its Coll event as NCCL holds it. */
static void *collective(uint64_t seq)
{
	void *event = NULL, *group = NULL;

	(void)start((struct nt_prof_descr_v5){ .type = NT_PROF_COLL_API });
	CHECK(decide_v5() == 0);
	if (mask & (int)NT_PROF_KERNEL_LAUNCH)
		(void)start((struct nt_prof_descr_v5){ .type = NT_PROF_KERNEL_LAUNCH });
	group = start((struct nt_prof_descr_v5){ .type = NT_PROF_GROUP });
	event = start(coll_of(seq, group));
	if (event)
		CHECK(ncclProfiler_v5.stop(event) == 0);
	return event;
}

static struct nt_prof_descr_v5 kernel_of(void *coll, uint64_t start_ns)
{
	return (struct nt_prof_descr_v5){ .type = NT_PROF_KERNEL_CH,
					  .parent = coll,
					  .kernel_ch = { .start_ns = start_ns } };
}

/* Every event type, with the mask that brings it to them. */
static void case_types(void)
{
	void *event;

	chain("observe", (int)NT_PROF_COLL);
	init_v5();
	CHECK(mask & (int)NT_PROF_COLL && probe->mask != &mask);
	CHECK(was_told((struct nt_prof_descr_v5){ .type = NT_PROF_GROUP_API }, &event) &&
	      event == THEIRS);
	CHECK(was_told((struct nt_prof_descr_v5){ .type = NT_PROF_COLL_API }, &event));
	CHECK(was_told((struct nt_prof_descr_v5){ .type = NT_PROF_GROUP }, &event));
	CHECK(was_told(coll_of(0, THEIRS), &event) && probe->descr.coll.group == THEIRS);
	/* They see none of our events. */
	CHECK(!was_told((struct nt_prof_descr_v5){ .type = NT_PROF_KERNEL_LAUNCH }, &event) &&
	      !event);
	CHECK(!was_told((struct nt_prof_descr_v5){ .type = NT_PROF_P2P_API }, &event) && !event);
	CHECK(!was_told(kernel_of(THEIRS, 64), &event) && !event);
	/* an event of NCCL 2.30 that v5 does not know */
	CHECK(!was_told((struct nt_prof_descr_v5){ .type = NT_PROF_CE_COLL }, &event) && !event);
	CHECK(ncclProfiler_v5.state(THEIRS, NT_PROF_STATE_GROUP_START_DONE, NULL) == 0);
	CHECK(probe->event == THEIRS && probe->state == NT_PROF_STATE_GROUP_START_DONE);
	/* A mask that grows later. */
	*probe->mask = (int)(NT_PROF_KERNEL_CH | NT_PROF_PROXY_OP);
	CHECK(decide_v5() == 0);
	CHECK((mask & 0x48) == 0x48);
	CHECK(was_told(kernel_of(THEIRS, 64), &event) && probe->descr.parent == THEIRS);
	CHECK(was_told((struct nt_prof_descr_v5){ .type = NT_PROF_PROXY_OP, .parent = THEIRS },
		       &event));
	CHECK(!was_told((struct nt_prof_descr_v5){ .type = NT_PROF_NET_PLUGIN }, &event));
	finalize_v5();
	CHECK(probe->finalizes == 2);
}

/* If their mask is empty, we measure as before. */
static void case_hidden(void)
{
	void *event = NULL;

	chain("observe", 0);
	init_v5();
	for (uint64_t seq = 0; seq < 6; seq++)
		event = collective(seq);
	CHECK(probe->starts == 0 && (mask & (int)NT_PROF_KERNEL_CH) && event);
	CHECK(nt_handle_ours(event) && !nt_handle_theirs(event));
	CHECK(probe->stops == 0);
	finalize_v5();
}

static uint64_t times_kept(void)
{
	uint64_t kept = 0;

	for (unsigned i = 0; i < NT_LOCAL_KEYS; i++)
		kept += atomic_load(&ours_of(tuner_ctx)->key[i].laps.observed);
	return kept;
}

/* Both want the same events. */
static void case_pairs(void)
{
	void *event[8];

	chain("observe", (int)(NT_PROF_COLL | NT_PROF_KERNEL_CH));
	init_v5();
	for (uint64_t seq = 0; seq < 8; seq++) {
		probe->handle = (void *)(uintptr_t)(0x1000 + 16 * seq);
		event[seq] = collective(seq);
		CHECK(nt_handle_theirs(event[seq]) == probe->handle &&
		      probe->event == probe->handle);
	}
	CHECK(nt_handle_ours(event[6]) && nt_handle_ours(event[7]));
	CHECK(nt_handle_ours(event[6]) != nt_handle_ours(event[7]));
	for (unsigned i = 4; i < 8; i++) {
		(void)start(kernel_of(event[i], 1000 * i));
		CHECK(probe->descr.parent == (void *)(uintptr_t)(0x1000 + 16 * i));
	}
	CHECK(times_kept() == 3);
	/* A handle that does not look like a pointer. */
	probe->handle = (void *)(uintptr_t)0xff00000000001234;
	event[0] = start((struct nt_prof_descr_v5){ .type = NT_PROF_GROUP_API });
	CHECK(event[0] != probe->handle && nt_handle_theirs(event[0]) == probe->handle);
	CHECK(ncclProfiler_v5.stop(event[0]) == 0 && probe->event == probe->handle);
	finalize_v5();
}

/* A pair that was reused is invalid. */
static void case_ring(void)
{
	void *first, *newest = NULL;

	chain("observe", (int)NT_PROF_GROUP_API);
	init_v5();
	probe->handle = (void *)(uintptr_t)0xff00000000001234;
	first = start((struct nt_prof_descr_v5){ .type = NT_PROF_GROUP_API });
	for (int i = 0; i < 32768; i++)
		newest = start((struct nt_prof_descr_v5){ .type = NT_PROF_GROUP_API });
	CHECK(nt_handle_theirs(first) == NULL && nt_handle_theirs(newest) == probe->handle);
	CHECK(ncclProfiler_v5.stop(first) == 0 && probe->stops == 0);
	finalize_v5();
}

static void case_errors(void)
{
	int channels = 0;

	chain("bandit", (int)NT_PROF_COLL);
	init_v5();
	probe->rc = NT_NCCL_INTERNAL_ERROR;
	probe->arm = TREE_SIMPLE;
	CHECK(start(coll_of(0, NULL)) == THEIRS);
	CHECK(ncclProfiler_v5.stop(THEIRS) == 0);
	CHECK(ncclProfiler_v5.state(THEIRS, NT_PROF_STATE_GROUP_START_DONE, NULL) == 0);
	/* Its partial answer is undone. */
	probe->channels = 3;
	memcpy(table, fresh, sizeof(table));
	CHECK(ncclTunerPlugin_v5.get_coll_info(tuner_ctx, NT_ALLREDUCE, SIZE, 1, (float **)table, 7,
					       3, 0, &channels) == 0);
	CHECK(channels == 0 && memcmp(table, fresh, sizeof(table)) == 0);
	CHECK(atomic_load(&nt_process_now()->count[NT_COUNT_CHAINED_ERRORS]) == 4);
	finalize_v5();
	CHECK(probe->finalizes == 2);
}

static void case_failed_init(void)
{
	void *event;

	chain("bandit", (int)NT_PROF_COLL);
	probe->init_rc = NT_NCCL_SYSTEM_ERROR;
	init_v5();
	CHECK(probe->inits == 2 && tuner_ctx && profiler_ctx);
	CHECK(!was_told(coll_of(0, NULL), &event) && !event);
	CHECK(decide_v5() == 0 && probe->decisions == 0);
	finalize_v5();
	CHECK(probe->finalizes == 0);
}

/* Nothing to tune: only their events are on. */
static void case_alone(void)
{
	void *event;

	chain(NULL, (int)NT_PROF_COLL);
	init_v5();
	CHECK(probe->mask == &mask && mask == (int)NT_PROF_COLL);
	CHECK(was_told(coll_of(0, NULL), &event) && event == THEIRS);
	probe->arm = TREE_SIMPLE;
	CHECK(decide_v5() == 0 && nt_costs_baseline(table, NT_PAIRS, false) == TREE_SIMPLE);
	finalize_v5();
	CHECK(probe->finalizes == 2);
}

static void case_missing(void)
{
	chain("bandit", 0);
	setenv(NT_ENV_CHAINED_PROFILER, "nowhere", 1);
	setenv(NT_ENV_CHAINED_TUNER, "/dev/null", 1);
	host_said[0] = '\0';
	init_v5();
	CHECK(strstr(host_said, "the tuner plugin /dev/null is not loaded: ") ||
	      strstr(host_said, "the profiler plugin nowhere is not loaded: "));
	CHECK(tuner_ctx == profiler_ctx && decide_v5() == 0 && probe->inits == 0);
	host_said[0] = '\0';
	finalize_v5();
	init_v5();
	CHECK(!strstr(host_said, "is not loaded"));
}

/* A table with more algorithms than we know goes through whole, there and back. */
static void case_more_algorithms(void)
{
	float many[NT_COSTS_MAX], before[NT_COSTS_MAX];
	int channels = 0;

	chain("bandit", 0);
	init_v5();
	for (int i = 0; i < NT_COSTS_MAX; i++)
		many[i] = before[i] = i < NT_PAIRS ? fresh[i] : 1000.0f + (float)i;
	probe->rc = NT_NCCL_INTERNAL_ERROR;
	probe->arm = TREE_SIMPLE;
	CHECK(ncclTunerPlugin_v5.get_coll_info(tuner_ctx, NT_ALLREDUCE, SIZE, 1, (float **)many,
					       NT_COSTS_ALGOS, NT_PROTOS, 0, &channels) == 0);
	CHECK(memcmp(many, before, sizeof(many)) == 0);
	finalize_v5();
}

/* What they leave in the table is AUTO, for the key and for the arms. */
static void case_tuner(void)
{
	struct nt_comm *comm;
	unsigned keys = 0;

	chain("observe", 0);
	probe->arm = TREE_SIMPLE;
	probe->channels = 5;
	init_v5();
	CHECK(decide_v5() == 5 && nt_costs_baseline(table, NT_PAIRS, false) == TREE_SIMPLE);
	comm = ours_of(tuner_ctx);
	for (unsigned i = 0; i < NT_LOCAL_KEYS; i++) {
		if (atomic_load(&comm->decision.key_id[i]) == 0)
			continue;
		keys++;
		CHECK(comm->key[i].fixed.baseline_arm == TREE_SIMPLE);
		CHECK(comm->key[i].fixed.cost_us[TREE_SIMPLE] == 50.0f);
		/* Our arm is forced: NCCL's own number of channels. */
		comm->key[i].decision.arm = RING_SIMPLE;
		atomic_store(&comm->key[i].decision.state, NT_LOCAL_COMMITTED);
	}
	CHECK(keys == 1);
	CHECK(decide_v5() == 0 && nt_costs_baseline(table, NT_PAIRS, false) == RING_SIMPLE);
	/* A pair that they make legal is not an arm, and the key is the same. */
	probe->arm = 0;
	CHECK(decide_v5() == 0 && nt_costs_baseline(table, NT_PAIRS, false) == RING_SIMPLE &&
	      table[0] != 0);
	for (unsigned i = 0; i < NT_LOCAL_KEYS; i++)
		keys += atomic_load(&comm->decision.key_id[i]) != 0;
	CHECK(keys == 2);
	finalize_v5();
}

static void case_chunk(void)
{
	size_t bytes = 4096;

	chain("bandit", 0);
	profiler_ctx = tuner_ctx = NULL;
	CHECK(ncclProfiler_v6.init(&profiler_ctx, 0xabc, &mask, "dp", 2, 8, 3, host_log) == 0);
	CHECK(ncclTunerPlugin_v6.init(&tuner_ctx, 0xabc, 8, 2, host_log, NULL, NULL) == 0);
	probe->chunk_bytes = 8192;
	CHECK(ncclTunerPlugin_v6.get_chunk_size(tuner_ctx, 4, SIZE, 1, 2, 1, &bytes) == 0);
	CHECK(bytes == 8192);
	probe->chunk_bytes = 0;
	CHECK(ncclTunerPlugin_v6.get_chunk_size(tuner_ctx, 4, SIZE, 1, 2, 1, &bytes) == 0);
	CHECK(bytes == 8192);
}

/* NCCL 2.32's constants for a v6 tuner; NCCL decides whether to keep its changes. */
static void case_constants(void)
{
	static struct nt_tuner_constants_v7 constants;

	chain("bandit", 0);
	profiler_ctx = tuner_ctx = NULL;
	constants.nvls_tree_max_bw[3][2] = 7;
	constants.nvls_tree_max_bw[4][2] = 8;
	constants.ring_ll128_max_bw[0][0] = 9;
	CHECK(ncclProfiler_v7.init(&profiler_ctx, 0xabc, &mask, "dp", 2, 8, 3, host_log) == 0);
	CHECK(ncclTunerPlugin_v7.init(&tuner_ctx, 0xabc, 8, 2, host_log, NULL, &constants) == 0);
	CHECK(probe->constant == 7 && constants.ll_max_bw[0][0] == 4);
	CHECK(constants.nvls_tree_max_bw[4][2] == 8 && constants.ring_ll128_max_bw[0][0] == 9);
}

/* A negative cost would be the lowest from 2.31 on: pairs that they forbid stay forbidden. */
static void case_taken_away(void)
{
	chain("observe", 0);
	probe->away = RING_SIMPLE;
	init_v5();
	CHECK(decide_v5() == 0 && table[RING_SIMPLE] > 1e30f);
	CHECK(nt_costs_baseline(table, NT_PAIRS, true) == TREE_SIMPLE);
	/* A cost that was already negative stays. */
	probe->away = 1;
	CHECK(decide_v5() == 0 && table[1] == -1.0f);
	finalize_v5();
}

#define CHILD(name)                    \
	static void name(void **state) \
	{                              \
		in_child(case_##name); \
	}

CHILD(types)
CHILD(hidden)
CHILD(pairs)
CHILD(ring)
CHILD(errors)
CHILD(failed_init)
CHILD(alone)
CHILD(missing)
CHILD(tuner)
CHILD(chunk)
CHILD(constants)
CHILD(taken_away)
CHILD(more_algorithms)

static void older_words(void **state)
{
	union nt_chain_descr from = {
		.v5 = { .type = NT_PROF_COLL, .parent = (void *)1, .rank = 7 }
	};
	union nt_chain_descr to, v4;

	from.v5.coll.func = "AllGather";
	from.v5.coll.seq = 9;
	from.v5.coll.count = 77;
	from.v5.coll.datatype = "ncclBfloat16";
	from.v5.coll.algo = "NVLS";
	from.v5.coll.proto = "LL128";
	from.v5.coll.channels = 12;
	from.v5.coll.group = (void *)2;
	assert_true(nt_chain_lower(5, &from, &to));
	assert_true(nt_chain_lower(4, &to, &v4));
	assert_ptr_equal(v4.v4.parent, (void *)2);
	assert_int_equal(v4.v4.coll.count, 77);
	assert_string_equal(v4.v4.coll.algo, "NVLS");
	assert_int_equal(v4.v4.coll.channels, 12);
	assert_int_equal(v4.v4.rank, 7);
	for (unsigned bit = 8; bit < 12; bit++) {
		from = (union nt_chain_descr){ .v5 = { .type = UINT64_C(1) << bit } };
		assert_false(nt_chain_lower(4, &from, &to));
	}
	from = (union nt_chain_descr){ .v7 = { .type = NT_PROF_COLL, .parent = (void *)1 } };
	from.v7.coll.algo = "AGxLL_R";
	from.v7.coll.proto = "";
	from.v7.coll.group = (void *)2;
	from.v7.coll.kernel = "AllGather_AGxLL_R";
	assert_true(nt_chain_lower(6, &from, &to));
	assert_string_equal(to.v5.coll.algo, "AGxLL_R");
	assert_ptr_equal(to.v5.coll.group, (void *)2);
	from = (union nt_chain_descr){ .v7 = { .type = NT_PROF_KERNEL_PHASE } };
	assert_false(nt_chain_lower(6, &from, &to));
	from = (union nt_chain_descr){ .v5 = { .type = NT_PROF_CE_SYNC } };
	assert_false(nt_chain_lower(5, &from, &to));
	from = (union nt_chain_descr){ .v5 = { .type = NT_PROF_P2P } };
	from.v5.p2p.func = "Recv";
	from.v5.p2p.peer = 3;
	from.v5.p2p.group = (void *)6;
	assert_true(nt_chain_lower(4, &from, &to) && to.v4.parent == (void *)6);
	assert_string_equal(to.v4.p2p.func, "Recv");
	assert_int_equal(to.v4.p2p.peer, 3);
}

UNIT_TESTS_EACH(make_dir, remove_dir, types, hidden, pairs, ring, errors, failed_init, alone,
		missing, tuner, chunk, constants, taken_away, more_algorithms, older_words);
