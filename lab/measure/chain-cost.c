/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* chain-cost.c - what a call costs through a plugin: nt-chain-cost PLUGIN [CALLS] loads it as NCCL
 * 2.28 does
 *
 * One JSON line with the medians of getCollInfo, and of an event's start and stop, for a Coll, a
 * KernelCh below it, and a ProxyStep, that is nobody's but theirs. With nt-chain-probe.so as
 * PLUGIN that is the chained plugin alone; with ours, and that named in NCCL_TUNE_CHAINED_*,
 * what is behind. The clock's own cost is taken off.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/quantile.h"
#include "lab/measure/measure.h"
#include "contract/coll.h"
#include "tuner/abi.h"

static const struct nt_tuner_v5 *tuner;
static const struct nt_prof_v5 *profiler;
static void *tuner_ctx, *profiler_ctx;
static int mask;

static void nothing(void)
{
}

static void decide(void)
{
	float cost[NT_PAIRS];
	int channels = 0;

	for (int i = 0; i < NT_PAIRS; i++)
		cost[i] = i < 6 ? 20.0f + (float)i : -1.0f;
	if (tuner->get_coll_info(tuner_ctx, NT_ALLREDUCE, 262144, 1, (float **)(void *)cost,
				 NT_ALGOS, NT_PROTOS, 0, &channels) != NT_NCCL_OK)
		exit(1);
}

static void event_of(struct nt_prof_descr_v5 *descr)
{
	void *event = NULL;

	if (profiler->start(profiler_ctx, &event, descr) != NT_NCCL_OK)
		exit(1);
	if (event)
		profiler->stop(event);
}

static void coll(void)
{
	static uint64_t seq;
	struct nt_prof_descr_v5 descr = { .type = NT_PROF_COLL };

	descr.coll = (struct nt_prof_coll_v5){ .seq = seq++,
					       .func = "AllReduce",
					       .count = 65536,
					       .datatype = "ncclFloat32",
					       .channels = 2,
					       .algo = "TREE",
					       .proto = "LL" };
	event_of(&descr);
}

static void kernel(void)
{
	struct nt_prof_descr_v5 descr = { .type = NT_PROF_KERNEL_CH, .parent = (void *)&mask };

	event_of(&descr);
}

static void step(void)
{
	struct nt_prof_descr_v5 descr = { .type = NT_PROF_PROXY_STEP, .parent = (void *)&mask };

	event_of(&descr);
}

static uint32_t median(void (*call)(void), uint32_t *took, uint32_t calls)
{
	for (uint32_t i = 0; i < calls; i++) {
		uint64_t began = nt_now_ns();

		call();
		took[i] = (uint32_t)(nt_now_ns() - began);
	}
	nt_sort_u32(took, calls);
	return took[calls / 2];
}

int main(int argc, char **argv)
{
	uint32_t calls = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 500000, clock_ns;
	uint32_t *took = calls >= 100 ? calloc(calls, sizeof(*took)) : NULL;
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;

	if (!library || !took) {
		fprintf(stderr, "usage: nt-chain-cost PLUGIN [CALLS]\n");
		return 2;
	}
	tuner = dlsym(library, "ncclTunerPlugin_v5");
	profiler = dlsym(library, "ncclProfiler_v5");
	if (!tuner || !profiler ||
	    profiler->init(&profiler_ctx, 42, &mask, "cost", 1, 2, 0, nt_quiet) != NT_NCCL_OK ||
	    tuner->init(&tuner_ctx, 42, 2, 1, nt_quiet, NULL, NULL) != NT_NCCL_OK)
		return 1;
	clock_ns = median(nothing, took, calls);
	printf("{\"decide_ns\":%d,\"coll_ns\":%d,\"kernel_ns\":%d,\"step_ns\":%d}\n",
	       (int)median(decide, took, calls) - (int)clock_ns,
	       (int)median(coll, took, calls) - (int)clock_ns,
	       (int)median(kernel, took, calls) - (int)clock_ns,
	       (int)median(step, took, calls) - (int)clock_ns);
	tuner->finalize(tuner_ctx);
	profiler->finalize(profiler_ctx);
	free(took);
	return 0;
}
