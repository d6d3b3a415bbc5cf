/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c - a plugin that works or fails on request, to test the simulated NCCL
 *
 * NT_FAKE_PLUGIN is one of
 *   idle                   do nothing
 *   arm:ALGO/PROTO         force the arm where it is legal
 *   odd:RANK:CALL:ARM      force it on that rank alone, from its CALL-th decision on
 *   channels:N             ask for N channels
 *   odd-channels:RANK:N    ... on that rank alone
 *   odd-chunk:RANK:BYTES   chunks of that size on that rank alone
 *   take:ALGO/PROTO        a negative cost for that arm
 *   raise                  make an arm legal that is not
 *   overrun, underrun      write behind or before the cost table
 *   init-error, decide-error, no-handle, chunk-zero
 *                          break the contract, each in its way
 * NT_FAKE_EVENTS=MASK      the events to ask for
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config.h"
#include "contract/coll.h"
#include "tuner/abi.h"

/* Per communicator and rank. */
struct comm {
	int rank;
	_Atomic uint64_t decisions;
};

/* An event's handle. */
static char event_handle;

static _Thread_local struct comm *newest;

static const char *mode(void)
{
	const char *text = getenv("NT_FAKE_PLUGIN");

	return text ? text : "idle";
}

static bool mode_is(const char *name)
{
	return strcmp(mode(), name) == 0;
}

/* Kept until the process ends: NCCL may ask late. */
static struct comm *new_comm(void)
{
	struct comm *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	return c;
}

static int tuner_init(void **ctx)
{
	if (mode_is("init-error"))
		return NT_NCCL_INTERNAL_ERROR;
	*ctx = newest ? newest : new_comm();
	return NT_NCCL_OK;
}

static void force(float *table, int algos, const char *name)
{
	int arm = nt_arm_parse(name);

	if (arm >= 0 && arm < algos * NT_PROTOS && table[arm] >= 0)
		table[arm] = 0;
}

static void take(float *table, int algos, const char *name)
{
	int arm = nt_arm_parse(name);

	if (arm >= 0 && arm < algos * NT_PROTOS)
		table[arm] = -1;
}

/* NAME:RANK:VALUE, and this is that rank. */
static bool is_odd(const struct comm *c, const char *name, unsigned long *value)
{
	char *end;

	if (strncmp(mode(), name, strlen(name)) != 0 ||
	    strtol(mode() + strlen(name), &end, 10) != c->rank || *end != ':')
		return false;
	*value = strtoul(end + 1, NULL, 10);
	return true;
}

static void act(struct comm *c, uint64_t decision, float *table, int algos, int *channels)
{
	unsigned long value;
	unsigned rank;
	unsigned long long call;
	char arm[32];

	if (strncmp(mode(), "arm:", 4) == 0)
		force(table, algos, mode() + 4);
	else if (strncmp(mode(), "take:", 5) == 0)
		take(table, algos, mode() + 5);
	else if (sscanf(mode(), "odd:%u:%llu:%31s", &rank, &call, arm) == 3 &&
		 c->rank == (int)rank && decision >= call)
		force(table, algos, arm);
	else if (strncmp(mode(), "channels:", 9) == 0)
		*channels = (int)strtol(mode() + 9, NULL, 10);
	else if (is_odd(c, "odd-channels:", &value))
		*channels = (int)value;
	else if (mode_is("raise"))
		table[NT_PAIRS - NT_PROTOS - 1] = 0; /* NVLS_TREE/SIMPLE */
	else if (mode_is("overrun"))
		((volatile float *)table)[(size_t)algos * NT_PROTOS] = 0;
	else if (mode_is("underrun"))
		((volatile float *)table)[-1] = 0;
}

static int decide(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost, int algos,
		  int protos, int registered, int *channels)
{
	struct comm *c = ctx;
	uint64_t decision = atomic_fetch_add(&c->decisions, 1) + 1;

	(void)coll;
	(void)bytes;
	(void)pipe_ops;
	(void)protos;
	(void)registered;
	if (mode_is("decide-error"))
		return NT_NCCL_INTERNAL_ERROR;
	act(c, decision, (float *)cost, algos, channels);
	return NT_NCCL_OK;
}

static int finalize(void *ctx)
{
	(void)ctx;
	return NT_NCCL_OK;
}

static int init_old(size_t ranks, size_t nodes, nt_nccl_log log, void **ctx)
{
	(void)ranks;
	(void)nodes;
	(void)log;
	return tuner_init(ctx);
}

static int init_new(void **ctx, uint64_t comm, size_t ranks, size_t nodes, nt_nccl_log log,
		    struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v5 *constants)
{
	(void)comm;
	(void)ranks;
	(void)log;
	/* Writes to everything that NCCL says exists. */
	if ((size_t)nvl->domains != nodes || constants->nvls_tree_max_bw[3][2] < 0)
		return NT_NCCL_INVALID_ARGUMENT;
	return tuner_init(ctx);
}

static int chunk(void *ctx, int coll, size_t bytes, int algo, int proto, int channels,
		 size_t *chunk_bytes)
{
	unsigned long value;

	(void)coll;
	(void)bytes;
	(void)algo;
	(void)proto;
	(void)channels;
	if (mode_is("chunk-zero"))
		*chunk_bytes = 0;
	else if (is_odd(ctx, "odd-chunk:", &value))
		*chunk_bytes = value;
	return NT_NCCL_OK;
}

static int init_v7(void **ctx, uint64_t comm, size_t ranks, size_t nodes, nt_nccl_log log,
		   struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v7 *constants)
{
	(void)comm;
	(void)ranks;
	(void)log;
	if ((size_t)nvl->domains != nodes || constants->nvls_tree_max_bw[4][2] < 0)
		return NT_NCCL_INVALID_ARGUMENT;
	return tuner_init(ctx);
}

NT_EXPORT const struct nt_tuner_v4 ncclTunerPlugin_v4 = { "fake4", init_old, decide, finalize };
NT_EXPORT const struct nt_tuner_v5 ncclTunerPlugin_v5 = { "fake5", init_new, decide, finalize };
NT_EXPORT const struct nt_tuner_v6 ncclTunerPlugin_v6 = { "fake6", init_new, decide, finalize,
							  chunk };
NT_EXPORT const struct nt_tuner_v7 ncclTunerPlugin_v7 = { "fake7", init_v7, decide, finalize,
							  chunk };

static int prof_init(void **ctx, int *mask, int rank)
{
	const char *wanted = getenv("NT_FAKE_EVENTS");

	newest = new_comm();
	newest->rank = rank;
	*ctx = newest;
	atomic_store_explicit((_Atomic int *)mask, wanted ? (int)strtol(wanted, NULL, 0) : 0,
			      memory_order_relaxed);
	return NT_NCCL_OK;
}

static int start(void **event)
{
	if (!mode_is("no-handle"))
		*event = &event_handle;
	return NT_NCCL_OK;
}

static int start_v4(void *ctx, void **event, struct nt_prof_descr_v4 *d)
{
	(void)ctx;
	(void)d;
	return start(event);
}

static int start_v5(void *ctx, void **event, struct nt_prof_descr_v5 *d)
{
	(void)ctx;
	(void)d;
	return start(event);
}

static int start_v7(void *ctx, void **event, struct nt_prof_descr_v7 *d)
{
	(void)ctx;
	(void)d;
	return start(event);
}

static int stop_event(void *event)
{
	(void)event;
	return NT_NCCL_OK;
}

static int state_v4(void *event, int state, union nt_prof_args_v4 *args)
{
	(void)event;
	(void)state;
	(void)args;
	return NT_NCCL_OK;
}

static int init_v4(void **ctx, int *mask, const char *name, uint64_t comm, int nodes, int ranks,
		   int rank, nt_nccl_log log)
{
	(void)name;
	(void)comm;
	(void)log;
	return nodes > ranks || rank >= ranks ? NT_NCCL_OK : prof_init(ctx, mask, rank);
}

static int init_v5(void **ctx, uint64_t comm, int *mask, const char *name, int nodes, int ranks,
		   int rank, nt_nccl_log log)
{
	return init_v4(ctx, mask, name, comm, nodes, ranks, rank, log);
}

NT_EXPORT const struct nt_prof_v4 ncclProfiler_v4 = { "fake4",	  init_v4,  start_v4,
						      stop_event, state_v4, finalize };
NT_EXPORT const struct nt_prof_v5 ncclProfiler_v5 = { "fake5",	  init_v5,  start_v5,
						      stop_event, state_v4, finalize };
NT_EXPORT const struct nt_prof_v6 ncclProfiler_v6 = { "fake6",	  init_v5,  start_v5,
						      stop_event, state_v4, finalize };
NT_EXPORT const struct nt_prof_v7 ncclProfiler_v7 = { "fake7",	  init_v5,  start_v7,
						      stop_event, state_v4, finalize };
