/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* probe.c - an NCCL plugin that writes down what NCCL tells a plugin, forces arms, switches events
 *
 * Tuner v5 and profiler v5 (NCCL 2.28.3 and later). It agrees with nobody: what it does depends on
 * the number of the decision alone, so that all ranks do the same as long as they decide equally
 * often.
 *
 *   NT_PROBE_DIR     where probe.<rank>.<pid>.csv goes, when the process ends
 *   NT_PROBE_BLOCK   decisions of a communicator to a block (64)
 *   NT_PROBE_MASKS   event masks, one a block, over and over (66: Coll and KernelCh)
 *   NT_PROBE_ARMS    arms, one a block, over and over (AUTO); one that is not legal stands for AUTO
 *   NT_PROBE_LAUNCH  if set, CUDA events are recorded in KernelLaunch events, which the mask must
 *                    hold
 *
 * A program that loads the same file may say before each call which arm and mask it has instead
 * (nt_probe_tell), on the thread that calls.
 *
 * Rows, by their first word:
 *   comm,ID,RANK,RANKS,NODES,LATE_TUNER,LATE_PROFILER,CAPTURED,CUDA_ERRORS
 *     LATE: KernelCh events after that finalize
 *   table,ID,COLL,BYTES,LEGAL_BITS,COST_HASH,CALLS,COST_HASHES_SEEN
 *   decision,ID,INDEX,COLL,BYTES,ARM,MASK,HOST_NS
 *   coll,ID,SEQ,COLL,COUNT,TYPE,ARM,CHANNELS,STARTS,STOPS,FIRST_START_NS,LAST_STOP_NS,LAUNCH_US
 */
#include "lab/gpu/probe.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "contract/coll.h"
#include "lib/hash.h"
#include "tuner/abi.h"

/* What a handle points to, in its lowest bits; a KernelCh event is its collective's. */
enum { TAG_COLL = 1, TAG_KERNEL_CH = 2, TAG_LAUNCH = 3, TAG_BITS = 3 };

struct probe nt_probe;

static __thread int told_arm, told_mask = -1; /* -1: nothing was told */
static __thread struct comm *made; /* by this thread's last profiler init, for its tuner init */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Comma list of masks or arms. */
static unsigned read_list(const char *name, const char *fallback, int *out,
			  int (*parse)(const char *))
{
	const char *rest = getenv(name);
	unsigned n = 0;
	char part[32];

	if (!rest)
		rest = fallback;
	while (*rest && n < LIST) {
		size_t length = strcspn(rest, ",");

		snprintf(part, sizeof(part), "%.*s", (int)length, rest);
		out[n] = parse(part);
		if (out[n] < 0) {
			fprintf(stderr, "nt-probe: %s: '%s'\n", name, part);
			abort();
		}
		n++;
		rest += length + (rest[length] == ',');
	}
	return n;
}

static int parse_mask(const char *text)
{
	char *end;
	long value = strtol(text, &end, 0);

	return *end || end == text ? -1 : (int)value;
}

static void load_cuda(void)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW);

	if (!cuda || !getenv("NT_PROBE_LAUNCH"))
		return;
	*(void **)&nt_probe.event_create = dlsym(cuda, "cuEventCreate");
	*(void **)&nt_probe.event_record = dlsym(cuda, "cuEventRecord");
	*(void **)&nt_probe.event_elapsed = dlsym(cuda, "cuEventElapsedTime");
	nt_probe.launch = calloc(LAUNCHES, sizeof(nt_probe.launch[0]));
}

static void set_up(void)
{
	const char *block = getenv("NT_PROBE_BLOCK");

	nt_probe.decision = calloc(DECISIONS, sizeof(nt_probe.decision[0]));
	nt_probe.coll = calloc(COLLS, sizeof(nt_probe.coll[0]));
	if (!nt_probe.decision || !nt_probe.coll)
		abort();
	nt_probe.block = block ? strtoul(block, NULL, 10) : 64;
	if (nt_probe.block == 0)
		nt_probe.block = 64;
	nt_probe.masks = read_list("NT_PROBE_MASKS", "66", nt_probe.mask, parse_mask);
	nt_probe.arms = read_list("NT_PROBE_ARMS", "AUTO", nt_probe.arm, nt_arm_parse);
	load_cuda();
	atexit(nt_probe_write);
}

static int profiler_init(void **ctx, uint64_t id, int *mask, const char *name, int nodes, int ranks,
			 int rank, nt_nccl_log log)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	unsigned n;

	(void)name;
	(void)log;
	pthread_once(&once, set_up);
	n = atomic_fetch_add(&nt_probe.comms, 1);
	if (n >= COMMS)
		abort();
	made = &nt_probe.comm[n];
	made->id = id;
	made->rank = rank;
	made->ranks = ranks;
	made->nodes = nodes;
	atomic_store(&nt_probe.nccl_mask, mask);
	*mask = nt_probe.mask[0];
	*ctx = made;
	return NT_NCCL_OK;
}

static int tuner_init(void **ctx, uint64_t id, size_t ranks, size_t nodes, nt_nccl_log log,
		      struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v5 *constants)
{
	(void)ranks;
	(void)nodes;
	(void)log;
	(void)nvl;
	(void)constants;
	*ctx = made && made->id == id ? made : NULL;
	return NT_NCCL_OK;
}

NT_EXPORT void nt_probe_tell(int arm, int mask)
{
	told_arm = arm;
	told_mask = mask;
}

static void note_table(struct comm *c, int coll, size_t bytes, const float *cost, int entries)
{
	struct table *t = c->table;
	uint64_t hash = nt_hash64(NT_HASH64, cost, (size_t)entries * sizeof(*cost));

	while (t < c->table + c->tables && (t->coll != coll || t->bytes != bytes))
		t++;
	if (t == c->table + TABLES)
		return;
	if (t == c->table + c->tables) {
		c->tables++;
		*t = (struct table){ .coll = coll, .bytes = bytes };
	}
	for (int i = 0; i < entries && i < 32; i++)
		t->legal |= cost[i] >= 0 ? 1u << i : 0;
	t->hashes += t->calls == 0 || t->hash != hash;
	t->hash = hash;
	t->calls++;
}

static int get_coll_info(void *ctx, int coll, size_t bytes, int pipe_ops, float **table, int algos,
			 int protos, int registered, int *channels)
{
	float *cost = (float *)table;
	struct comm *c = ctx;
	unsigned long block;
	unsigned n;
	int arm, mask;

	(void)pipe_ops;
	(void)registered;
	(void)channels;
	if (!c || protos != NT_PROTOS)
		return NT_NCCL_OK;
	note_table(c, coll, bytes, cost, algos * protos);
	block = c->decisions / nt_probe.block;
	arm = told_mask >= 0 ? told_arm : nt_probe.arm[block % nt_probe.arms];
	mask = told_mask >= 0 ? told_mask : nt_probe.mask[block % nt_probe.masks];
	if (arm != NT_ARM_BASELINE && (arm >= algos * protos || cost[arm] < 0))
		arm = NT_ARM_BASELINE;
	if (arm != NT_ARM_BASELINE)
		cost[arm] = 0;
	__atomic_store_n(atomic_load(&nt_probe.nccl_mask), mask, __ATOMIC_RELAXED);
	n = atomic_fetch_add(&nt_probe.decisions, 1);
	if (n < DECISIONS)
		nt_probe.decision[n] = (struct decision){ c,	c->decisions, coll,    arm,
							  mask, bytes,	      now_ns() };
	c->decisions++;
	return NT_NCCL_OK;
}

static int tuner_finalize(void *ctx)
{
	struct comm *c = ctx;

	if (c)
		atomic_store(&c->tuner_over, true);
	return NT_NCCL_OK;
}

static void *tagged(void *p, unsigned tag)
{
	return (void *)((uintptr_t)p | tag);
}

static struct coll *start_coll(struct comm *c, const struct nt_prof_coll_v5 *d)
{
	unsigned n = atomic_fetch_add(&nt_probe.colls, 1);

	if (n >= COLLS)
		return NULL;
	nt_probe.coll[n] = (struct coll){
		.comm = c,
		.seq = d->seq,
		.func = d->func,
		.datatype = d->datatype,
		.algo = d->algo,
		.proto = d->proto,
		.count = d->count,
		.channels = d->channels,
		.launch = c->launched,
		.first_start_ns = UINT64_MAX,
	};
	c->launched = NULL;
	return &nt_probe.coll[n];
}

static void start_channel(struct coll *c, uint64_t start_ns)
{
	if (atomic_load(&c->comm->profiler_over))
		atomic_fetch_add(&c->comm->late_profiler, 1);
	else if (atomic_load(&c->comm->tuner_over))
		atomic_fetch_add(&c->comm->late_tuner, 1);
	c->starts++;
	if (start_ns < c->first_start_ns)
		c->first_start_ns = start_ns;
}

static void record(struct launch *l, int which, void *stream)
{
	if (nt_probe.event_create(&l->event[which], 0) != 0 ||
	    nt_probe.event_record(l->event[which], stream) != 0)
		atomic_fetch_add(&nt_probe.cuda_errors, 1);
}

/* The stream is known at the start only; the stop finds it in the second event's place. */
static struct launch *start_launch(struct comm *c, void *stream)
{
	unsigned n;

	if (!nt_probe.launch)
		return NULL;
	n = atomic_fetch_add(&nt_probe.launches, 1);
	if (n >= LAUNCHES)
		return NULL;
	record(&nt_probe.launch[n], 0, stream);
	nt_probe.launch[n].event[1] = stream;
	c->launched = &nt_probe.launch[n];
	return &nt_probe.launch[n];
}

static int start(void *ctx, void **event, struct nt_prof_descr_v5 *d)
{
	struct comm *c = ctx;
	uintptr_t parent = (uintptr_t)d->parent;
	void *object = NULL;
	unsigned tag = 0;

	switch (d->type) {
	case NT_PROF_COLL:
		object = start_coll(c, &d->coll);
		tag = TAG_COLL;
		break;
	case NT_PROF_KERNEL_CH:
		if ((parent & TAG_BITS) == TAG_COLL) {
			object = (void *)(parent & ~(uintptr_t)TAG_BITS);
			start_channel(object, d->kernel_ch.start_ns);
			tag = TAG_KERNEL_CH;
		}
		break;
	case NT_PROF_KERNEL_LAUNCH:
		object = start_launch(c, d->kernel_launch.stream);
		tag = TAG_LAUNCH;
		break;
	case NT_PROF_COLL_API: c->captured += d->coll_api.graph_captured; break;
	default: break;
	}
	*event = object ? tagged(object, tag) : NULL;
	return NT_NCCL_OK;
}

static int stop(void *event)
{
	uintptr_t handle = (uintptr_t)event;
	struct launch *l;

	if ((handle & TAG_BITS) == TAG_LAUNCH) {
		l = (struct launch *)(handle & ~(uintptr_t)TAG_BITS);
		record(l, 1, l->event[1]);
	}
	return NT_NCCL_OK;
}

static int state(void *event, int to, union nt_prof_args_v4 *args)
{
	uintptr_t handle = (uintptr_t)event;
	struct coll *c = (struct coll *)(handle & ~(uintptr_t)TAG_BITS);

	if ((handle & TAG_BITS) != TAG_KERNEL_CH || to != NT_PROF_STATE_KERNEL_CH_STOP)
		return NT_NCCL_OK;
	c->stops++;
	if (args->kernel_ch.stop_ns > c->last_stop_ns)
		c->last_stop_ns = args->kernel_ch.stop_ns;
	return NT_NCCL_OK;
}

static int profiler_finalize(void *ctx)
{
	struct comm *c = ctx;

	if (c)
		atomic_store(&c->profiler_over, true);
	return NT_NCCL_OK;
}

NT_EXPORT extern const struct nt_tuner_v5 ncclTunerPlugin_v5;
const struct nt_tuner_v5 ncclTunerPlugin_v5 = {
	"nt-probe",
	tuner_init,
	get_coll_info,
	tuner_finalize,
};

NT_EXPORT extern const struct nt_prof_v5 ncclProfiler_v5;
const struct nt_prof_v5 ncclProfiler_v5 = {
	"nt-probe", profiler_init, start, stop, state, profiler_finalize,
};
