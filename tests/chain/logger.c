/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* logger.c - a profiler and a tuner that write down everything that they are told
 *
 * Built twice: with CHAIN_OLD for profiler v4 and tuner v2, else for v5 of both. Behind another
 * plugin they must be told what they are told alone. A line is what one call was about, in words
 * that do not change from run to run: events are counted for each communicator, type and channel,
 * and named by that where they come back. Sorted, two runs' logs can be compared.
 *
 * NT_CHAIN_LOG=FILE: what is written. NT_CHAIN_MASK=MASK: the events to ask for.
 * NT_CHAIN_MASK2=MASK@N: another mask from the N-th CollApi (v4: Coll) event of the process on.
 * NT_CHAIN_HANDLE=KIND: pointer; high: with bits in the top byte; none: NULL. NT_CHAIN_FAIL=WHAT:
 * prof-init, tuner-init: fails; events, decide: fails each time, after its work.
 * NT_CHAIN_ARM=ALGO/PROTO: the tuner's answer, with NT_CHAIN_CHANNELS=N.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "config.h"
#include "contract/coll.h"
#include "tuner/abi.h"

#define CHANNELS 64
#define TYPES 16
#define MAGIC 0x6c6f67676572ull

struct comm {
	char name[48]; /* of the log's lines */
	_Atomic unsigned count[TYPES][CHANNELS];
	_Atomic unsigned decisions;
};

struct event {
	uint64_t magic;
	struct comm *comm;
	uint64_t type;
	unsigned channel, number;
};

static struct {
	/* by rank and name, so that names do not depend on threads */
	_Atomic unsigned opened[256];
	_Atomic(int *) mask;
	_Atomic unsigned appended;
} all;

static const char *setting(const char *name)
{
	const char *text = getenv(name);

	return text ? text : "";
}

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
	static _Atomic int file = -1;
	char line[400];
	va_list args;
	int used, fd = atomic_load(&file);

	if (fd < 0) {
		fd = open(setting("NT_CHAIN_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		atomic_store(&file, fd);
	}
	va_start(args, format);
	used = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (fd >= 0 && write(fd, line, (size_t)used) != used)
		abort();
}

/* An event in a few words; what is no event of ours is told apart from nothing. */
static const char *words(char *out, size_t out_bytes, const void *handle)
{
	const struct event *e = (const void *)((uintptr_t)handle & ~(UINT64_C(0xff) << 56));

	if (!handle)
		snprintf(out, out_bytes, "-");
	else if (e->magic != MAGIC)
		snprintf(out, out_bytes, "FOREIGN");
	else
		snprintf(out, out_bytes, "%#llx/%u:%u", (unsigned long long)e->type, e->channel,
			 e->number);
	return out;
}

static int result(const char *what)
{
	return strcmp(setting("NT_CHAIN_FAIL"), what) == 0 ? NT_NCCL_INTERNAL_ERROR : NT_NCCL_OK;
}

static void change_mask(void)
{
	const char *text = getenv("NT_CHAIN_MASK2"), *at = text ? strchr(text, '@') : NULL;

	if (at && atomic_fetch_add(&all.appended, 1) + 1 == strtoul(at + 1, NULL, 0))
		__atomic_store_n(atomic_load(&all.mask), (int)strtol(text, NULL, 0),
				 __ATOMIC_RELAXED);
}

/* what: the rest of the line. */
static int start(struct comm *c, void **handle, uint64_t type, unsigned channel, const void *parent,
		 const char *what)
{
	struct event *e = calloc(1, sizeof(*e));
	char above[40], own[40];

	if (!e)
		abort();
	*e = (struct event){ MAGIC, c, type, channel, 0 };
	e->number = atomic_fetch_add(&c->count[__builtin_ctzll(type) % TYPES][channel % CHANNELS],
				     1);
	note("%s start %s in %s%s\n", c->name, words(own, sizeof(own), e),
	     words(above, sizeof(above), parent), what);
	*handle = e;
	if (strcmp(setting("NT_CHAIN_HANDLE"), "high") == 0)
		*handle = (void *)((uintptr_t)e | UINT64_C(0x5a) << 56);
	else if (strcmp(setting("NT_CHAIN_HANDLE"), "none") == 0)
		*handle = NULL;
	if (type == (CHAIN_OLD ? NT_PROF_COLL : NT_PROF_COLL_API))
		change_mask();
	return result("events");
}

static const struct event *event_of(const void *handle)
{
	const struct event *e = (const void *)((uintptr_t)handle & ~(UINT64_C(0xff) << 56));

	if (!handle || e->magic != MAGIC) {
		note("a handle that was never given out\n");
		abort();
	}
	return e;
}

static int stop(void *handle)
{
	const struct event *e = event_of(handle);
	char own[40];

	note("%s stop %s\n", e->comm->name, words(own, sizeof(own), handle));
	return result("events");
}

static int state(void *handle, int number, union nt_prof_args_v4 *args)
{
	const struct event *e = event_of(handle);
	char own[40];

	if (number == NT_PROF_STATE_KERNEL_CH_STOP && args->kernel_ch.stop_ns == 0)
		abort();
	note("%s state %s %d\n", e->comm->name, words(own, sizeof(own), handle), number);
	return result("events");
}

static int prof_finalize(void *ctx)
{
	note("%s profiler finalize\n", ((struct comm *)ctx)->name);
	return result("events");
}

static unsigned bucket_of(int rank, const char *name)
{
	unsigned hash = (unsigned)rank * 31u;

	for (; *name; name++)
		hash = hash * 17u + (unsigned char)*name;
	return hash % 256;
}

static int open_profiler(void **ctx, int *mask, int rank, const char *name)
{
	struct comm *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	name = name ? name : "-";
	snprintf(c->name, sizeof(c->name), "%d %s %u", rank, name,
		 atomic_fetch_add(&all.opened[bucket_of(rank, name)], 1));
	*ctx = c;
	atomic_store(&all.mask, mask);
	__atomic_store_n(mask, (int)strtol(setting("NT_CHAIN_MASK"), NULL, 0), __ATOMIC_RELAXED);
	note("%s profiler init\n", c->name);
	return result("prof-init");
}

/* Tuner. A decision is written with the table that came, rounded: ranks' tables may differ. */

static int open_tuner(void **ctx, size_t ranks, size_t nodes)
{
	struct comm *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	snprintf(c->name, sizeof(c->name), "of %zu on %zu", ranks, nodes);
	*ctx = c;
	note("%s tuner init\n", c->name);
	return result("tuner-init");
}

static int tuner_finalize(void *ctx)
{
	note("%s tuner finalize\n", ((struct comm *)ctx)->name);
	return result("decide");
}

static int answer(void)
{
	return nt_arm_parse(setting("NT_CHAIN_ARM"));
}

static void answer_channels(int *channels)
{
	if (*setting("NT_CHAIN_CHANNELS"))
		*channels = (int)strtol(setting("NT_CHAIN_CHANNELS"), NULL, 0);
}

#if CHAIN_OLD

static int init_v2(size_t ranks, size_t nodes, nt_nccl_log log, void **ctx)
{
	(void)log;
	return open_tuner(ctx, ranks, nodes);
}

static int decide_v2(void *ctx, int coll, size_t bytes, int collnet, int nvls, int pipe_ops,
		     int *algo, int *proto, int *channels)
{
	note("%s decide %d %zu collnet %d nvls %d pipe %d channels %d\n",
	     ((struct comm *)ctx)->name, coll, bytes, collnet, nvls, pipe_ops, *channels);
	if (answer() >= 0) {
		*algo = answer() / NT_PROTOS;
		*proto = answer() % NT_PROTOS;
	}
	answer_channels(channels);
	return result("decide");
}

/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int init_v4(void **ctx, int *mask, const char *name, uint64_t comm, int nodes, int ranks,
		   int rank, nt_nccl_log log)
{
	(void)log;
	if (!comm || nodes < 1 || ranks <= rank)
		abort();
	return open_profiler(ctx, mask, rank, name);
}

static int start_v4(void *ctx, void **handle, struct nt_prof_descr_v4 *d)
{
	char what[120] = "";

	if (d->type == NT_PROF_COLL)
		snprintf(what, sizeof(what), " rank %d seq %llu %s %zu %s", d->rank,
			 (unsigned long long)d->coll.seq, d->coll.func, d->coll.count,
			 d->coll.datatype);
	return start(ctx, handle, d->type, d->type == NT_PROF_KERNEL_CH ? d->kernel_ch.channel : 0,
		     d->parent, what);
}

NT_EXPORT const struct nt_tuner_v2 ncclTunerPlugin_v2 = { "logger2", init_v2, decide_v2,
							  tuner_finalize };
NT_EXPORT const struct nt_prof_v4 ncclProfiler_v4 = { "logger4", init_v4, start_v4,
						      stop,	 state,	  prof_finalize };

#else

/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int init_tuner_v5(void **ctx, uint64_t comm, size_t ranks, size_t nodes, nt_nccl_log log,
			 struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v5 *constants)
{
	(void)log;
	if (!comm || nvl->domains < 1 || constants->nvls_tree_max_bw[3][2] < 0)
		abort();
	return open_tuner(ctx, ranks, nodes);
}

/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int decide_v5(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost, int algos,
		     int protos, int registered, int *channels)
{
	float *table = (float *)cost;
	double sum = 0;

	for (int i = 0; i < algos * protos; i++)
		sum += (double)table[i];
	note("%s decide %d %zu pipe %d table %dx%d %.0f registered %d channels %d\n",
	     ((struct comm *)ctx)->name, coll, bytes, pipe_ops, algos, protos, sum, registered,
	     *channels);
	if (answer() >= 0 && answer() < algos * protos && table[answer()] >= 0)
		table[answer()] = 0;
	answer_channels(channels);
	return result("decide");
}

/* NOLINTNEXTLINE(readability-function-size): NCCL's signature */
static int init_v5(void **ctx, uint64_t comm, int *mask, const char *name, int nodes, int ranks,
		   int rank, nt_nccl_log log)
{
	(void)log;
	if (!comm || nodes > ranks || rank >= ranks)
		abort();
	return open_profiler(ctx, mask, rank, name);
}

static int start_v5(void *ctx, void **handle, struct nt_prof_descr_v5 *d)
{
	char what[160] = "", group[40];

	if (d->type == NT_PROF_COLL)
		snprintf(what, sizeof(what), " group %s rank %d seq %llu %s %zu %s",
			 words(group, sizeof(group), d->coll.group), d->rank,
			 (unsigned long long)d->coll.seq, d->coll.func, d->coll.count,
			 d->coll.datatype);
	else if (d->type == NT_PROF_COLL_API)
		snprintf(what, sizeof(what), " %s %zu captured %d", d->coll_api.func,
			 d->coll_api.count, d->coll_api.graph_captured);
	else if (d->type == NT_PROF_GROUP_API)
		snprintf(what, sizeof(what), " captured %d depth %d", d->group_api.graph_captured,
			 d->group_api.depth);
	return start(ctx, handle, d->type, d->type == NT_PROF_KERNEL_CH ? d->kernel_ch.channel : 0,
		     d->parent, what);
}

NT_EXPORT const struct nt_tuner_v5 ncclTunerPlugin_v5 = { "logger5", init_tuner_v5, decide_v5,
							  tuner_finalize };
NT_EXPORT const struct nt_prof_v5 ncclProfiler_v5 = { "logger5", init_v5, start_v5,
						      stop,	 state,	  prof_finalize };

#endif
