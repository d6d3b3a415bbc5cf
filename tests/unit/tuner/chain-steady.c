/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* chain-steady.c - with plugins behind ours neither a decision nor an event allocates, takes a
 * lock or makes a system call
 *
 * Counted and filtered as in decide-steady.c. Under sanitizers, which do all that, nothing is
 * checked.
 */
#include "tests/unit/tuner/process-child.h"

#include "tests/chain/probe.h"
#include "tests/unit/tuner/steady.h"

/* Mode observe measures 96 calls, and again whenever their number has doubled: not in between. */
#define OBSERVED (16u << 13) /* short calls: a window begins here, and the next one twice as far */
#define ROUNDS 90000u

/* A step with every kind of handle: plain, of a pair, none. */
static void round_of(struct chain_probe *probe, unsigned i)
{
	struct nt_prof_descr_v5 descr = { .type = NT_PROF_COLL_API };
	void *coll, *kernel;

	probe->handle = i % 3 == 0 ? NULL
				   : (void *)((uintptr_t)probe | (uintptr_t)(i % 3 - 1) << 60);
	(void)ncclProfiler_v5.start(profiler_ctx, &coll, &descr);
	(void)decide_v5();
	descr = (struct nt_prof_descr_v5){ .type = NT_PROF_COLL };
	descr.coll.seq = i;
	descr.coll.func = "AllReduce";
	descr.coll.count = SIZE;
	descr.coll.datatype = "ncclInt8";
	descr.coll.algo = "RING";
	descr.coll.proto = "SIMPLE";
	(void)ncclProfiler_v5.start(profiler_ctx, &coll, &descr);
	(void)ncclProfiler_v5.stop(coll);
	descr = (struct nt_prof_descr_v5){ .type = NT_PROF_KERNEL_CH, .parent = coll };
	(void)ncclProfiler_v5.start(profiler_ctx, &kernel, &descr);
	(void)ncclProfiler_v5.state(kernel, NT_PROF_STATE_KERNEL_CH_STOP,
				    &(union nt_prof_args_v4){ 0 });
	(void)ncclProfiler_v5.stop(kernel);
}

static struct chain_probe *open_chain(void)
{
	char path[512];
	struct chain_probe *probe;
	void *library;

	snprintf(path, sizeof(path), "%s/tests/chain/nt-chain-probe.so", getenv("top_builddir"));
	library = dlopen(path, RTLD_NOW);
	CHECK(library);
	probe = dlsym(library, CHAIN_PROBE);
	CHECK(probe);
	probe->arm = TREE_SIMPLE;
	setenv(NT_ENV_CHAINED_PROFILER, path, 1);
	setenv(NT_ENV_CHAINED_TUNER, path, 1);
	set_policy("observe");
	init_v5();
	/* Past the calls that are observed, up to the next ones. */
	for (unsigned i = 0; i < OBSERVED + OBSERVED / 1024; i++)
		round_of(probe, i);
	return probe;
}

static void case_counted(void)
{
	struct chain_probe *probe = open_chain();
	unsigned long allocations_before = allocations, locks_before = locks;

	CHECK(SANITIZED || (allocations > 0 && locks > 0)); /* the counts work */
	for (unsigned i = 0; i < ROUNDS; i++)
		round_of(probe, i);
	CHECK(allocations == allocations_before && locks == locks_before);
	CHECK(probe->starts >= 3 * ROUNDS && probe->decisions >= ROUNDS);
}

#if !SANITIZED
static void case_filtered(void)
{
	struct chain_probe *probe = open_chain();

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	if (forbid_system_calls() < 0)
		return; /* a kernel without filters; decide-steady says so */
	for (unsigned i = 0; i < ROUNDS; i++)
		round_of(probe, i);
	syscall(SYS_exit_group, 0);
}
#endif

static void nothing_is_allocated_or_locked(void **state)
{
	in_child(case_counted);
}

static void no_system_call_is_made(void **state)
{
#if !SANITIZED
	in_child(case_filtered);
#endif
}

UNIT_TESTS_EACH(make_dir, remove_dir, nothing_is_allocated_or_locked, no_system_call_is_made);
