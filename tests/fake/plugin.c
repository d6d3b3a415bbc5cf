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
 * NT_FAKE_OFF=N            sets the mask to 0 at the N-th decision
 * NT_FAKE_COUNTS=FILE      gets one line of counters from every profiler finalize
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config.h"
#include "contract/coll.h"
#include "tuner/abi.h"

#define TYPES 16

/* Objects for NCCL's handles: kept until the library is closed, because events may be late. */
struct kept {
	struct kept *next;
};

struct object {
	struct kept kept;
	struct comm *comm;
	uint64_t type;
	uint64_t start_ns;
};

/* Per communicator and rank. */
struct comm {
	struct kept kept;
	int rank;
	char name[16];
	_Atomic uint64_t decisions;
	_Atomic uint64_t starts[TYPES];
	_Atomic uint64_t stops[TYPES];
	/* Detects stamps out of order, sequence numbers that do not grow, and wrong parents. */
	_Atomic uint64_t bad;
	_Atomic uint64_t seq[NT_COLLS]; /* newest + 1 */
};

static struct {
	pthread_mutex_t lock;
	struct kept *kept; /* lock */
	int *mask; /* lock */
} plugin = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void *keep(size_t bytes)
{
	struct kept *k = calloc(1, bytes);

	if (!k)
		abort();
	pthread_mutex_lock(&plugin.lock);
	k->next = plugin.kept;
	plugin.kept = k;
	pthread_mutex_unlock(&plugin.lock);
	return k;
}

__attribute__((destructor)) static void free_kept(void)
{
	while (plugin.kept) {
		struct kept *next = plugin.kept->next;

		free(plugin.kept);
		plugin.kept = next;
	}
}

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

static unsigned index_of(uint64_t type)
{
	return (unsigned)__builtin_ctzll(type ? type : 1) % TYPES;
}

static int tuner_init(void **ctx)
{
	if (mode_is("init-error"))
		return NT_NCCL_INTERNAL_ERROR;
	*ctx = newest ? newest : keep(sizeof(struct comm));
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
	const char *off = getenv("NT_FAKE_OFF");
	struct comm *c = ctx;
	uint64_t decision = atomic_fetch_add(&c->decisions, 1) + 1;

	(void)coll;
	(void)bytes;
	(void)pipe_ops;
	(void)protos;
	(void)registered;
	if (mode_is("decide-error"))
		return NT_NCCL_INTERNAL_ERROR;
	if (off && plugin.mask && decision == strtoull(off, NULL, 10))
		atomic_store_explicit((_Atomic int *)plugin.mask, 0, memory_order_relaxed);
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

static int decide_v2(void *ctx, int coll, size_t bytes, int collnet, int nvls, int pipe_ops,
		     int *algo, int *proto, int *channels)
{
	float table[NT_PAIRS] = { 0 };
	int arm;

	(void)collnet;
	(void)nvls;
	if (mode_is("overrun") || mode_is("underrun"))
		return NT_NCCL_OK;
	for (int i = 0; i < NT_PAIRS; i++)
		table[i] = 1;
	if (decide(ctx, coll, bytes, pipe_ops, (float **)table, NT_TUNER_ALGOS_OLD, NT_PROTOS, 0,
		   channels))
		return NT_NCCL_INTERNAL_ERROR;
	for (arm = 0; arm < NT_PAIRS && table[arm] > 0; arm++)
		;
	if (arm < NT_PAIRS) {
		*algo = arm / NT_PROTOS;
		*proto = arm % NT_PROTOS;
	}
	return NT_NCCL_OK;
}

static int decide_v3(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost, int algos,
		     int protos, int *channels)
{
	return decide(ctx, coll, bytes, pipe_ops, cost, algos, protos, 0, channels);
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

NT_EXPORT const struct nt_tuner_v2 ncclTunerPlugin_v2 = { "fake2", init_old, decide_v2, finalize };
NT_EXPORT const struct nt_tuner_v3 ncclTunerPlugin_v3 = { "fake3", init_old, decide_v3, finalize };
NT_EXPORT const struct nt_tuner_v4 ncclTunerPlugin_v4 = { "fake4", init_old, decide, finalize };
NT_EXPORT const struct nt_tuner_v5 ncclTunerPlugin_v5 = { "fake5", init_new, decide, finalize };
NT_EXPORT const struct nt_tuner_v6 ncclTunerPlugin_v6 = { "fake6", init_new, decide, finalize,
							  chunk };
NT_EXPORT const struct nt_tuner_v7 ncclTunerPlugin_v7 = { "fake7", init_v7, decide, finalize,
							  chunk };

static int prof_init(void **ctx, int *mask, const char *name, int rank)
{
	const char *wanted = getenv("NT_FAKE_EVENTS");
	struct comm *c = keep(sizeof(*c));

	c->rank = rank;
	snprintf(c->name, sizeof(c->name), "%s", name ? name : "-");
	newest = c;
	*ctx = c;
	pthread_mutex_lock(&plugin.lock);
	plugin.mask = mask;
	atomic_store_explicit((_Atomic int *)mask, wanted ? (int)strtol(wanted, NULL, 0) : 0,
			      memory_order_relaxed);
	pthread_mutex_unlock(&plugin.lock);
	return NT_NCCL_OK;
}

/* The part common to all versions; *event is an object. */
static struct object *start_object(struct comm *c, uint64_t type, void **event)
{
	struct object *o = keep(sizeof(*o));

	o->comm = c;
	o->type = type;
	atomic_fetch_add(&c->starts[index_of(type)], 1);
	if (!mode_is("no-handle"))
		*event = o;
	return o;
}

static void check_seq(struct comm *c, int coll, uint64_t seq)
{
	if (coll < 0 || coll >= NT_COLLS || seq + 1 <= atomic_load(&c->seq[coll]))
		atomic_fetch_add(&c->bad, 1);
	else
		atomic_store(&c->seq[coll], seq + 1);
}

static void check_parent(struct comm *c, void *parent, uint64_t type)
{
	const struct object *o = parent;

	if (!o || o->type != type)
		atomic_fetch_add(&c->bad, 1);
}

static int stop_event(void *event)
{
	struct object *o = event;

	atomic_fetch_add(&o->comm->stops[index_of(o->type)], 1);
	return NT_NCCL_OK;
}

static int state_v4(void *event, int state, union nt_prof_args_v4 *args)
{
	struct object *o = event;

	if (state == NT_PROF_STATE_KERNEL_CH_STOP &&
	    (args->kernel_ch.stop_ns <= o->start_ns || o->start_ns % 32))
		atomic_fetch_add(&o->comm->bad, 1);
	return NT_NCCL_OK;
}

static int prof_finalize(void *ctx)
{
	const char *path = getenv("NT_FAKE_COUNTS");
	struct comm *c = ctx;
	FILE *f = path ? fopen(path, "ae") : NULL;

	if (!f)
		return NT_NCCL_OK;
	fprintf(f, "rank %d name %s decisions %llu bad %llu", c->rank, c->name,
		(unsigned long long)c->decisions, (unsigned long long)c->bad);
	for (unsigned i = 0; i < TYPES; i++) {
		if (c->starts[i] || c->stops[i])
			fprintf(f, " %#x %llu/%llu", 1u << i, (unsigned long long)c->starts[i],
				(unsigned long long)c->stops[i]);
	}
	fprintf(f, "\n");
	fclose(f);
	return NT_NCCL_OK;
}

static int start_v4(void *ctx, void **event, struct nt_prof_descr_v4 *d)
{
	struct object *o = start_object(ctx, d->type, event);

	if (d->type == NT_PROF_COLL) {
		check_seq(ctx, nt_coll_parse(d->coll.func), d->coll.seq);
		check_parent(ctx, d->parent, NT_PROF_GROUP);
	} else if (d->type == NT_PROF_KERNEL_CH) {
		o->start_ns = d->kernel_ch.start_ns;
		check_parent(ctx, d->parent, NT_PROF_COLL);
	}
	return NT_NCCL_OK;
}

static int start_v5(void *ctx, void **event, struct nt_prof_descr_v5 *d)
{
	struct object *o = start_object(ctx, d->type, event);

	if (d->type == NT_PROF_COLL) {
		check_seq(ctx, nt_coll_parse(d->coll.func), d->coll.seq);
		check_parent(ctx, d->parent, NT_PROF_COLL_API);
		check_parent(ctx, d->coll.group, NT_PROF_GROUP);
	} else if (d->type == NT_PROF_COLL_API) {
		check_parent(ctx, d->parent, NT_PROF_GROUP_API);
	} else if (d->type == NT_PROF_KERNEL_CH) {
		o->start_ns = d->kernel_ch.start_ns;
		check_parent(ctx, d->parent, NT_PROF_COLL);
	}
	return NT_NCCL_OK;
}

static int start_v7(void *ctx, void **event, struct nt_prof_descr_v7 *d)
{
	return start_v5(ctx, event, (struct nt_prof_descr_v5 *)d);
}

static int init_v4(void **ctx, int *mask, const char *name, uint64_t comm, int nodes, int ranks,
		   int rank, nt_nccl_log log)
{
	(void)comm;
	(void)log;
	return nodes > ranks || rank >= ranks ? NT_NCCL_OK : prof_init(ctx, mask, name, rank);
}

static int init_v5(void **ctx, uint64_t comm, int *mask, const char *name, int nodes, int ranks,
		   int rank, nt_nccl_log log)
{
	return init_v4(ctx, mask, name, comm, nodes, ranks, rank, log);
}

NT_EXPORT const struct nt_prof_v4 ncclProfiler_v4 = { "fake4",	  init_v4,  start_v4,
						      stop_event, state_v4, prof_finalize };
NT_EXPORT const struct nt_prof_v5 ncclProfiler_v5 = { "fake5",	  init_v5,  start_v5,
						      stop_event, state_v4, prof_finalize };
NT_EXPORT const struct nt_prof_v6 ncclProfiler_v6 = { "fake6",	  init_v5,  start_v5,
						      stop_event, state_v4, prof_finalize };
NT_EXPORT const struct nt_prof_v7 ncclProfiler_v7 = { "fake7",	  init_v5,  start_v7,
						      stop_event, state_v4, prof_finalize };
