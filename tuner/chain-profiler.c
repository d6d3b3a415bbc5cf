/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/chain-profiler.h"

#include <string.h>

static bool is_plain(const void *event)
{
	return nt_handle_tag(event) == 0;
}

/* NCCL also emits the parents of a wanted event (src/plugin/profiler.cc:281@v2.30.7-1). */
#define NETWORK (NT_PROF_PROXY_STEP | NT_PROF_NET_PLUGIN)
#define PROXY (NT_PROF_PROXY_OP | NETWORK)
#define KERNEL (NT_PROF_KERNEL_CH | NT_PROF_KERNEL_PHASE)
#define TASK (KERNEL | PROXY)
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
		KERNEL,
		NT_PROF_NET_PLUGIN,
		NT_PROF_GROUP_API | NT_PROF_COLL_API | NT_PROF_P2P_API | NT_PROF_KERNEL_LAUNCH |
			GROUP | COPY,
		NT_PROF_COLL_API | NT_PROF_COLL | TASK | COPY,
		NT_PROF_P2P_API | NT_PROF_P2P | TASK,
		NT_PROF_KERNEL_LAUNCH,
		COPY,
		NT_PROF_CE_SYNC,
		NT_PROF_CE_BATCH,
		NT_PROF_KERNEL_PHASE,
	};
	unsigned bit = type ? (unsigned)__builtin_ctzll(type) : 64;

	return bit < sizeof(by_bit) / sizeof(by_bit[0]) && (mask & by_bit[bit]) != 0;
}

/* The parent of a Coll or P2p is the Group, which v5 has as a member at their end. */
static bool to_v4(const struct nt_prof_descr_v5 *from, struct nt_prof_descr_v4 *to)
{
	to->type = (uint8_t)from->type;
	to->parent = from->parent;
	to->rank = from->rank;
	switch (from->type) {
	case NT_PROF_GROUP:
	case NT_PROF_PROXY_CTRL: return true;
	case NT_PROF_COLL:
		memcpy(&to->coll, &from->coll, sizeof(to->coll));
		to->parent = from->coll.group;
		return true;
	case NT_PROF_P2P:
		memcpy(&to->p2p, &from->p2p, sizeof(to->p2p));
		to->parent = from->p2p.group;
		return true;
	case NT_PROF_PROXY_OP: to->proxy_op = from->proxy_op; return true;
	case NT_PROF_PROXY_STEP: to->proxy_step = from->proxy_step; return true;
	case NT_PROF_KERNEL_CH: to->kernel_ch = from->kernel_ch; return true;
	case NT_PROF_NET_PLUGIN: to->net_plugin = from->net_plugin; return true;
	default: return false;
	}
}

bool nt_chain_lower(int to, const union nt_chain_descr *from, union nt_chain_descr *out)
{
	memset(out, 0, sizeof(*out));
	switch (to) {
	case 6: /* v7 has one event more, and members at the end */
		memcpy(&out->v5, &from->v7, sizeof(out->v5));
		return from->v7.type < NT_PROF_KERNEL_PHASE;
	case 5: /* v6 only has more events */
		out->v5 = from->v5;
		return from->v5.type < NT_PROF_CE_COLL;
	case 4: return to_v4(&from->v5, &out->v4);
	default: return false;
	}
}

/* descr: of the chained profiler's version */
static int call_start(void *theirs, void **event, union nt_chain_descr *descr)
{
	const struct nt_chain_plugin *plugin = &nt_chain.plugin[NT_CHAINED_PROFILER];

	switch (plugin->version) {
	case 4: return ((const struct nt_prof_v4 *)plugin->table)->start(theirs, event, &descr->v4);
	case 5: return ((const struct nt_prof_v5 *)plugin->table)->start(theirs, event, &descr->v5);
	case 6: return ((const struct nt_prof_v6 *)plugin->table)->start(theirs, event, &descr->v5);
	default:
		return ((const struct nt_prof_v7 *)plugin->table)->start(theirs, event, &descr->v7);
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

/* Its parents are replaced by the chained profiler's handles for the call, and put back for
 * NCCL. */
static int start_below(void *theirs, void **event, union nt_chain_descr *descr, int api)
{
	bool task = api >= 5 && (descr->v5.type & (NT_PROF_COLL | NT_PROF_P2P));
	void **group = !task				? NULL
		       : descr->v5.type == NT_PROF_COLL ? &descr->v5.coll.group
							: &descr->v5.p2p.group;
	void *parent = descr->v4.parent, *kept = group ? *group : NULL;
	int rc;

	if (is_plain(parent) && is_plain(kept))
		return start_theirs(theirs, event, descr, api);
	descr->v4.parent = nt_handle_theirs(parent);
	if (group)
		*group = nt_handle_theirs(kept);
	rc = start_theirs(theirs, event, descr, api);
	descr->v4.parent = parent;
	if (group)
		*group = kept;
	return rc;
}

void *nt_chain_start(const struct nt_ctx *ctx, void *descr, int api, void *ours)
{
	/* v5 has a wider type. */
	uint64_t type = api >= 5 ? ((struct nt_prof_descr_v5 *)descr)->type
				 : ((struct nt_prof_descr_v4 *)descr)->type;
	void *theirs = NULL, *event;
	bool lost;

	nt_chain_sync();
	if ((nt_chain.types & type) &&
	    (ctx->direct ||
	     nt_chain_brings(atomic_load_explicit(&nt_chain.shown, memory_order_relaxed), type)))
		nt_chain_count(start_below(ctx->theirs, &theirs, descr, api));
	event = nt_handle_join(ours, theirs, &lost);
	if (lost && nt_process_now())
		nt_process_count(nt_process_now(), NT_COUNT_CHAINED_LOST);
	return event;
}

void nt_chain_stop(void *theirs)
{
	/* The tables of all versions begin alike. */
	const struct nt_prof_v6 *table = nt_chain.plugin[NT_CHAINED_PROFILER].table;

	if (theirs && table)
		nt_chain_count(table->stop(theirs));
}

/* States that a version does not know are left out. */
void nt_chain_state(void *theirs, int state, union nt_prof_args_v4 *args)
{
	const struct nt_chain_plugin *plugin = &nt_chain.plugin[NT_CHAINED_PROFILER];
	static const int newest[] = { [4] = 22, 24, 30, 64 };

	if (!theirs || !plugin->table || state > newest[plugin->version])
		return;
	nt_chain_count(((const struct nt_prof_v6 *)plugin->table)->state(theirs, state, args));
}

static int call_init(void **theirs, int *mask, const struct nt_comm_identity *who, nt_nccl_log log)
{
	const struct nt_chain_plugin *plugin = &nt_chain.plugin[NT_CHAINED_PROFILER];
	int nodes = (int)who->nodes, ranks = (int)who->ranks;

	if (plugin->version == 4)
		return ((const struct nt_prof_v4 *)plugin->table)
			->init(theirs, mask, who->name, who->id, nodes, ranks, who->rank, log);
	return ((const struct nt_prof_v6 *)plugin->table)
		->init(theirs, who->id, mask, who->name, nodes, ranks, who->rank, log);
}

struct nt_ctx *nt_chain_profiler_open(struct nt_comm *comm, int *mask,
				      const struct nt_comm_identity *who, nt_nccl_log log)
{
	struct nt_process *process = nt_process_now();
	struct nt_ctx *ctx;
	int rc;

	if (!nt_chain_load(NT_CHAINED_PROFILER, who->api, log))
		return nt_chain_plain(comm);
	pthread_mutex_lock(&nt_chain.lock);
	nt_handle_make_room();
	pthread_mutex_unlock(&nt_chain.lock);
	ctx = nt_chain_wrap(comm);
	if (!ctx)
		return NULL;
	/* Where nothing is tuned, no event is ours. */
	ctx->direct = !process || nt_process_inert(process);
	rc = call_init(&ctx->theirs, ctx->direct ? mask : &nt_chain.wish, who, log);
	nt_chain_started(NT_CHAINED_PROFILER, ctx, rc);
	nt_chain_sync();
	return ctx;
}

void nt_chain_profiler_close(struct nt_ctx *ctx)
{
	const struct nt_prof_v6 *table = nt_chain.plugin[NT_CHAINED_PROFILER].table;

	/* NCCL does not finalize a NULL context either. */
	if (ctx && ctx->theirs && nt_ctx_told(ctx) &&
	    atomic_exchange_explicit(&ctx->told, false, memory_order_relaxed))
		nt_chain_count(table->finalize(ctx->theirs));
}
