/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* chain-profiler.c - a chained profiler's events and handles
 *
 * NCCL keeps one number for an event, ends it with that, and shows it to the events below it. It is
 * the chained profiler's own handle wherever ours is none, which is nearly always. Both together,
 * and what does not look like a pointer of a process, are a number of ours that stands for a pair.
 */
#include <stdlib.h>
#include "tuner/chain.h"

/* The top byte of a number that stands for a pair. Addresses of a process are below it. */
#define PAIR_TAG UINT64_C(0xb7)
#define TAG_SHIFT 56
#define TICKET_MASK ((UINT64_C(1) << TAG_SHIFT) - 1)

/* Pairs are those of measured tasks. NCCL cannot have so many under way: their descriptions do not
 * fit its queue (1 MiB by default, src/enqueue.cc, NCCL_WORK_FIFO_BYTES). */
#define PAIRS 32768u

struct pair {
	_Atomic uint64_t ticket; /* + 1, so that an unused one has none; 0 while it is written */
	_Atomic(void *) ours;
	_Atomic(void *) theirs;
};

static struct {
	struct pair *pair; /* PAIRS; fixed before NCCL has a context. NULL: no memory */
	_Atomic uint64_t next;
} pairs;

static uint64_t number_of(const void *event)
{
	return (uint64_t)(uintptr_t)event;
}

static bool is_plain(const void *event)
{
	return number_of(event) >> TAG_SHIFT == 0;
}

static void *make_pair(void *ours, void *theirs)
{
	uint64_t ticket;
	struct pair *pair;

	if (!pairs.pair)
		return NULL;
	ticket = atomic_fetch_add_explicit(&pairs.next, 1, memory_order_relaxed) & TICKET_MASK;
	pair = &pairs.pair[ticket % PAIRS];
	atomic_store_explicit(&pair->ticket, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&pair->ours, ours, memory_order_relaxed);
	atomic_store_explicit(&pair->theirs, theirs, memory_order_relaxed);
	/* Pairs with the acquire in half_of(). */
	atomic_store_explicit(&pair->ticket, ticket + 1, memory_order_release);
	return (void *)(uintptr_t)(PAIR_TAG << TAG_SHIFT | ticket);
}

/* NULL where the pair has been used anew. */
static void *half_of(const void *event, bool ours)
{
	uint64_t ticket = number_of(event) & TICKET_MASK;
	struct pair *pair;
	void *half;

	if (number_of(event) >> TAG_SHIFT != PAIR_TAG || !pairs.pair)
		return NULL;
	pair = &pairs.pair[ticket % PAIRS];
	if (atomic_load_explicit(&pair->ticket, memory_order_acquire) != ticket + 1)
		return NULL;
	half = atomic_load_explicit(ours ? &pair->ours : &pair->theirs, memory_order_relaxed);
	/* Pairs with the fence in make_pair(): what was read is of that ticket if it is still
	 * there. */
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&pair->ticket, memory_order_relaxed) == ticket + 1 ? half
										       : NULL;
}

void *nt_chain_ours(const void *event)
{
	return is_plain(event) ? NULL : half_of(event, true);
}

void *nt_chain_theirs(const void *event)
{
	return is_plain(event) ? (void *)(uintptr_t)event : half_of(event, false);
}

/* What NCCL is to hold. Where there is no pair, ours is the one to go: a measured collective
 * without a time. */
static void *join(void *ours, void *theirs)
{
	void *event;

	if (!ours && is_plain(theirs))
		return theirs;
	event = make_pair(ours, theirs);
	if (event || is_plain(theirs))
		return event ? event : theirs;
	if (nt_session_now())
		nt_session_count(nt_session_now(), NT_COUNT_CHAINED_LOST);
	return NULL;
}

/* NCCL emits what is above a wanted event, too (src/plugin/profiler.cc:281@v2.30.7-1). */
#define NETWORK (NT_PROF_PROXY_STEP | NT_PROF_NET_PLUGIN)
#define PROXY (NT_PROF_PROXY_OP | NETWORK)
#define TASK (NT_PROF_KERNEL_CH | PROXY)
#define COPY (NT_PROF_CE_COLL | NT_PROF_CE_SYNC | NT_PROF_CE_BATCH)
#define GROUP (NT_PROF_GROUP | NT_PROF_COLL | NT_PROF_P2P | TASK)

bool nt_chain_brings(uint32_t mask, uint64_t type)
{
	static const uint32_t by_bit[] = {
		GROUP,
		NT_PROF_COLL | TASK,
		NT_PROF_P2P | TASK,
		PROXY,
		NETWORK,
		NT_PROF_PROXY_CTRL,
		NT_PROF_KERNEL_CH,
		NT_PROF_NET_PLUGIN,
		NT_PROF_GROUP_API | NT_PROF_COLL_API | NT_PROF_P2P_API | NT_PROF_KERNEL_LAUNCH |
			GROUP | COPY,
		NT_PROF_COLL_API | NT_PROF_COLL | TASK | COPY,
		NT_PROF_P2P_API | NT_PROF_P2P | TASK,
		NT_PROF_KERNEL_LAUNCH,
		COPY,
		NT_PROF_CE_SYNC,
		NT_PROF_CE_BATCH,
	};
	unsigned bit = type ? (unsigned)__builtin_ctzll(type) : 64;

	return bit < sizeof(by_bit) / sizeof(by_bit[0]) && (mask & by_bit[bit]) != 0;
}

/* descr is of the version that the chained profiler speaks. */
static int call_start(void *theirs, void **event, union nt_chain_descr *descr)
{
	const struct nt_chain_plugin *plugin = &nt_chain.plugin[NT_CHAINED_PROFILER];

	switch (plugin->version) {
	case 1: return ((const struct nt_prof_v1 *)plugin->table)->start(theirs, event, &descr->v1);
	case 2: return ((const struct nt_prof_v2 *)plugin->table)->start(theirs, event, &descr->v2);
	case 3: return ((const struct nt_prof_v3 *)plugin->table)->start(theirs, event, &descr->v3);
	case 4: return ((const struct nt_prof_v4 *)plugin->table)->start(theirs, event, &descr->v4);
	case 5: return ((const struct nt_prof_v5 *)plugin->table)->start(theirs, event, &descr->v5);
	default:
		return ((const struct nt_prof_v6 *)plugin->table)->start(theirs, event, &descr->v6);
	}
}

static int start_theirs(void *theirs, void **event, union nt_chain_descr *descr, int api)
{
	int version = nt_chain.plugin[NT_CHAINED_PROFILER].version;
	union nt_chain_descr older[2];

	while (api > version) {
		union nt_chain_descr *to = &older[api & 1];

		if (!nt_chain_lower(--api, descr, to))
			return NT_NCCL_OK;
		descr = to;
	}
	return call_start(theirs, event, descr);
}

/* What an event's parents are for theirs; for NCCL they stay what they were. */
static int start_below(struct nt_chain_ctx *ctx, void **event, union nt_chain_descr *descr, int api)
{
	bool task = api >= 5 && (descr->v5.type & (NT_PROF_COLL | NT_PROF_P2P));
	void **group = !task				? NULL
		       : descr->v5.type == NT_PROF_COLL ? &descr->v5.coll.group
							: &descr->v5.p2p.group;
	void *parent = descr->v4.parent, *kept = group ? *group : NULL;
	int rc;

	if (is_plain(parent) && is_plain(kept))
		return start_theirs(ctx->theirs, event, descr, api);
	descr->v4.parent = nt_chain_theirs(parent);
	if (group)
		*group = nt_chain_theirs(kept);
	rc = start_theirs(ctx->theirs, event, descr, api);
	descr->v4.parent = parent;
	if (group)
		*group = kept;
	return rc;
}

void *nt_chain_start(struct nt_chain_ctx *ctx, void *descr, int api, void *ours)
{
	/* The type's width changed with v5. */
	uint64_t type = api >= 5 ? ((struct nt_prof_descr_v5 *)descr)->type
				 : ((struct nt_prof_descr_v4 *)descr)->type;
	void *theirs = NULL;

	nt_chain_sync();
	if (atomic_load_explicit(&ctx->alive, memory_order_relaxed) && (nt_chain.types & type) &&
	    (ctx->direct ||
	     nt_chain_brings(atomic_load_explicit(&nt_chain.shown, memory_order_relaxed), type)))
		nt_chain_count(start_below(ctx, &theirs, descr, api));
	return join(ours, theirs);
}

void nt_chain_stop(void *event)
{
	void *theirs = nt_chain_theirs(event);

	/* All versions' tables are alike here. */
	if (theirs)
		nt_chain_count(
			((const struct nt_prof_v6 *)nt_chain.plugin[NT_CHAINED_PROFILER].table)
				->stop(theirs));
}

/* What a version does not know stays away from it; its argument's layout changed with v4. */
static void state_older(void *theirs, int state, const union nt_prof_args_v4 *args)
{
	const struct nt_prof_v3 *table = nt_chain.plugin[NT_CHAINED_PROFILER].table;
	union nt_prof_args_v1 older = { .proxy_op = { 0 } };

	if (state >= NT_PROF_STATE_CTRL_IDLE && args)
		older.proxy_ctrl.appended = args->proxy_ctrl.appended;
	nt_chain_count(table->state(theirs, state, &older));
}

void nt_chain_state(void *event, int state, void *args, int api)
{
	const struct nt_chain_plugin *plugin = &nt_chain.plugin[NT_CHAINED_PROFILER];
	static const int newest[] = { 0, 18, 18, 21, 22, 24, 64 };
	void *theirs = nt_chain_theirs(event);

	if (!theirs || state > newest[plugin->version])
		return;
	if (api >= 4 && plugin->version < 4) {
		/* 0 to 7 are of a ProxyOp, and gone since v4 as 19 to 21 are new. */
		if (state >= 8 && state <= 18)
			state_older(theirs, state, args);
		return;
	}
	nt_chain_count(((const struct nt_prof_v6 *)plugin->table)->state(theirs, state, args));
}

static int call_init(void **theirs, int *mask, const struct nt_comm_identity *who, nt_nccl_log log)
{
	const struct nt_chain_plugin *plugin = &nt_chain.plugin[NT_CHAINED_PROFILER];
	int nodes = (int)who->nodes, ranks = (int)who->ranks;

	if (plugin->version <= 3)
		return ((const struct nt_prof_v3 *)plugin->table)->init(theirs, mask);
	if (plugin->version == 4)
		return ((const struct nt_prof_v4 *)plugin->table)
			->init(theirs, mask, who->name, who->id, nodes, ranks, who->rank, log);
	return ((const struct nt_prof_v6 *)plugin->table)
		->init(theirs, who->id, mask, who->name, nodes, ranks, who->rank, log);
}

static void make_room(void)
{
	pthread_mutex_lock(&nt_chain.lock);
	if (!pairs.pair)
		pairs.pair = calloc(PAIRS, sizeof(*pairs.pair));
	pthread_mutex_unlock(&nt_chain.lock);
}

void *nt_chain_profiler_open(struct nt_comm *comm, int *mask, const struct nt_comm_identity *who,
			     nt_nccl_log log)
{
	struct nt_session *session = nt_session_now();
	struct nt_chain_ctx *ctx;
	int rc;

	if (!nt_chain_load(NT_CHAINED_PROFILER, who->api, log))
		return comm;
	make_room();
	ctx = nt_chain_wrap(comm);
	if (!ctx)
		return NULL;
	/* Without a session, and up to v3, no event is ours. */
	ctx->direct = !session || nt_session_inert(session) || who->api < 4;
	rc = call_init(&ctx->theirs, ctx->direct ? mask : &nt_chain.wish, who, log);
	nt_chain_count(rc);
	/* Events come after this init alone. */
	atomic_store_explicit(&ctx->alive, rc == NT_NCCL_OK, memory_order_relaxed);
	nt_chain_sync();
	return ctx;
}

void nt_chain_profiler_close(struct nt_chain_ctx *ctx)
{
	const struct nt_prof_v6 *table = nt_chain.plugin[NT_CHAINED_PROFILER].table;

	/* As NCCL does: a context that is NULL is not given back. */
	if (ctx->theirs && atomic_exchange_explicit(&ctx->alive, false, memory_order_relaxed))
		nt_chain_count(table->finalize(ctx->theirs));
}
