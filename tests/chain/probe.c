/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Profiler v5 and tuner v6. */
#include "tests/chain/probe.h"

#include "config.h"
#include "contract/coll.h"

extern struct chain_probe chain_probe;
/* Unless a test says otherwise: all of v5's events, and a handle for each. */
NT_EXPORT struct chain_probe chain_probe = {
	.arm = -1, .away = -1, .wanted = 0xfff, .handle = &chain_probe
};

/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int init(void **ctx, uint64_t comm, int *mask, const char *name, int nodes, int ranks,
		int rank, nt_nccl_log log)
{
	(void)comm, (void)name, (void)nodes, (void)ranks, (void)rank, (void)log;
	chain_probe.mask = mask;
	chain_probe.inits++;
	*mask = chain_probe.wanted;
	*ctx = &chain_probe;
	return chain_probe.init_rc;
}

static int start(void *ctx, void **event, struct nt_prof_descr_v5 *descr)
{
	(void)ctx;
	chain_probe.starts++;
	chain_probe.descr = *descr;
	*event = chain_probe.handle;
	return chain_probe.rc;
}

static int stop(void *event)
{
	chain_probe.stops++;
	chain_probe.event = event;
	return chain_probe.rc;
}

static int state(void *event, int number, union nt_prof_args_v4 *args)
{
	(void)args;
	chain_probe.states++;
	chain_probe.event = event;
	chain_probe.state = number;
	return chain_probe.rc;
}

static int finalize(void *ctx)
{
	(void)ctx;
	chain_probe.finalizes++;
	return chain_probe.rc;
}

/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int init_tuner(void **ctx, uint64_t comm, size_t ranks, size_t nodes, nt_nccl_log log,
		      struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v5 *constants)
{
	(void)comm, (void)ranks, (void)nodes, (void)log, (void)nvl;
	chain_probe.inits++;
	if (constants) {
		chain_probe.constant = constants->nvls_tree_max_bw[3][2];
		constants->ll_max_bw[0][0] = 4;
	}
	*ctx = &chain_probe;
	return chain_probe.init_rc;
}

/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int decide(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost, int algos,
		  int protos, int registered, int *channels)
{
	(void)ctx, (void)coll, (void)bytes, (void)pipe_ops, (void)registered;
	chain_probe.decisions++;
	if (chain_probe.arm >= 0 && chain_probe.arm < algos * protos)
		((float *)cost)[chain_probe.arm] = 0;
	if (chain_probe.away >= 0 && chain_probe.away < algos * protos)
		((float *)cost)[chain_probe.away] = -1;
	if (chain_probe.channels)
		*channels = chain_probe.channels;
	return chain_probe.rc;
}

/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int chunk(void *ctx, int coll, size_t bytes, int algo, int proto, int channels,
		 size_t *chunk_bytes)
{
	(void)ctx, (void)coll, (void)bytes, (void)algo, (void)proto, (void)channels;
	*chunk_bytes = chain_probe.chunk_bytes;
	return chain_probe.rc;
}

NT_EXPORT const struct nt_prof_v5 ncclProfiler_v5 = { "probe", init, start, stop, state, finalize };
NT_EXPORT const struct nt_tuner_v5 ncclTunerPlugin_v5 = { "probe", init_tuner, decide, finalize };
NT_EXPORT const struct nt_tuner_v6 ncclTunerPlugin_v6 = { "probe", init_tuner, decide, finalize,
							  chunk };
