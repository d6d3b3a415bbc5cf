/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/chain-tuner.h"

#include <string.h>
#include "tuner/costs.h"
#include "tuner/decide.h"

#define NOT_LEGAL (-1.0f) /* NCCL_ALGO_PROTO_IGNORE */

/* v5 and v6 have this part of v7's constants, under the same names. */
#define CONSTANTS(to, from)                        \
	do {                                       \
		COPY(to, from, base_latency);      \
		COPY(to, from, hw_latency);        \
		COPY(to, from, ll_max_bw);         \
		COPY(to, from, ring_ll128_max_bw); \
		COPY(to, from, tree_ll128_max_bw); \
		COPY(to, from, tree_max_bw);       \
		COPY(to, from, nvls_tree_max_bw);  \
	} while (0)
#define COPY(to, from, member) \
	memcpy((to)->member, (from)->member, SMALLER((to)->member, (from)->member))
#define SMALLER(a, b) (sizeof(a) < sizeof(b) ? sizeof(a) : sizeof(b))

/* The chained tuner has v5 or v6 (src/plugin/tuner/tuner_v6.cc@2449986f). */
static int call_init_v7(void **theirs, const struct nt_chain_tuner_init *init)
{
	const struct nt_tuner_v6 *table = nt_chain.plugin[NT_CHAINED_TUNER].table;
	struct nt_tuner_constants_v5 constants;
	int rc;

	if (!init->constants_v7)
		return table->init(theirs, init->who.id, init->who.ranks, init->who.nodes,
				   init->log, init->nvl, NULL);
	CONSTANTS(&constants, init->constants_v7);
	rc = table->init(theirs, init->who.id, init->who.ranks, init->who.nodes, init->log,
			 init->nvl, &constants);
	if (rc == NT_NCCL_OK)
		CONSTANTS(init->constants_v7, &constants);
	return rc;
}

static int call_init(void **theirs, const struct nt_chain_tuner_init *init)
{
	const struct nt_chain_plugin *plugin = &nt_chain.plugin[NT_CHAINED_TUNER];

	/* v2 to v4 are alike here, and so are v5 and v6. */
	if (plugin->version <= 4)
		return ((const struct nt_tuner_v4 *)plugin->table)
			->init(init->who.ranks, init->who.nodes, init->log, theirs);
	if (plugin->version >= 7)
		return ((const struct nt_tuner_v7 *)plugin->table)
			->init(theirs, init->who.id, init->who.ranks, init->who.nodes, init->log,
			       init->nvl, init->constants_v7);
	if (init->who.api >= 7)
		return call_init_v7(theirs, init);
	return ((const struct nt_tuner_v6 *)plugin->table)
		->init(theirs, init->who.id, init->who.ranks, init->who.nodes, init->log, init->nvl,
		       init->constants);
}

struct nt_ctx *nt_chain_tuner_open(struct nt_comm *comm, const struct nt_chain_tuner_init *init)
{
	struct nt_ctx *ctx;

	if (!nt_chain_load(NT_CHAINED_TUNER, init->who.api, init->log))
		return nt_chain_plain(comm);
	ctx = nt_chain_wrap(comm);
	if (!ctx)
		return NULL;
	nt_chain_started(NT_CHAINED_TUNER, ctx, call_init(&ctx->theirs, init));
	return ctx;
}

void nt_chain_tuner_close(struct nt_ctx *ctx)
{
	const struct nt_tuner_v6 *table = nt_chain.plugin[NT_CHAINED_TUNER].table;

	if (ctx && nt_ctx_told(ctx) &&
	    atomic_exchange_explicit(&ctx->told, false, memory_order_relaxed))
		nt_chain_count(table->finalize(ctx->theirs));
}

/* v2 has no table: its choice gets the lowest cost, if NCCL has it
 * (src/plugin/tuner/tuner_v2.cc@v2.30.7-1). */
static int ask_v2(void *theirs, const struct nt_call *call, int pipe_ops)
{
	const struct nt_tuner_v2 *table = nt_chain.plugin[NT_CHAINED_TUNER].table;
	const int chain = nt_arm_parse("COLLNET_CHAIN/SIMPLE");
	const int nvls = nt_arm_parse("NVLS/SIMPLE"), nvls_tree = nt_arm_parse("NVLS_TREE/SIMPLE");
	float *cost = call->cost;
	int algo = -1, proto = -1;
	int rc = table->get_coll_info(theirs, call->coll, call->bytes, cost[chain] != NOT_LEGAL,
				      cost[nvls] != NOT_LEGAL || cost[nvls_tree] != NOT_LEGAL,
				      pipe_ops, &algo, &proto, call->channels);

	if (rc == NT_NCCL_OK && algo >= 0 && algo < call->algos && proto >= 0 &&
	    proto < call->protos && cost[algo * call->protos + proto] != NOT_LEGAL)
		cost[algo * call->protos + proto] = 0.0f;
	return rc;
}

static int ask_tuner(void *theirs, const struct nt_call *call, int pipe_ops)
{
	const struct nt_chain_plugin *plugin = &nt_chain.plugin[NT_CHAINED_TUNER];

	if (plugin->version == 2)
		return ask_v2(theirs, call, pipe_ops);
	if (plugin->version == 3)
		return ((const struct nt_tuner_v3 *)plugin->table)
			->get_coll_info(theirs, call->coll, call->bytes, pipe_ops,
					(float **)call->cost, call->algos, call->protos,
					call->channels);
	return ((const struct nt_tuner_v6 *)plugin->table)
		->get_coll_info(theirs, call->coll, call->bytes, pipe_ops, (float **)call->cost,
				call->algos, call->protos, call->registered, call->channels);
}

/* Our decision on top of theirs; call->model is NCCL's table. Their channels were meant for their
 * pair: another pair gets NCCL's number. */
static int decide_on_top(struct nt_comm *comm, const struct nt_call *call, int given)
{
	int theirs = *call->channels, pairs = call->algos * call->protos;
	bool last = comm->fixed.last_wins;
	int pick = theirs == given ? NT_ARM_BASELINE : nt_costs_baseline(call->cost, pairs, last);
	int rc = nt_comm_decide(comm, call);

	if (theirs != given && *call->channels == theirs &&
	    nt_costs_baseline(call->cost, pairs, last) != pick)
		*call->channels = given;
	return rc;
}

/* They may exclude a pair by a negative cost. NCCL skips it up to 2.30, but takes it for the lowest
 * from 2.31 on (tuner/abi.h): give it a cost that is never chosen, unless no pair is left. */
static void keep_taken_away(float *cost, const float *model, int pairs)
{
	bool left = false;

	for (int i = 0; i < pairs; i++)
		left |= nt_costs_entry_legal(cost[i]) != 0;
	for (int i = 0; left && i < pairs; i++) {
		if (cost[i] < 0.0f && model[i] >= 0.0f)
			cost[i] = FLT_MAX;
	}
}

int nt_chain_decide(const struct nt_ctx *ctx, struct nt_comm *comm, const struct nt_call *call,
		    int pipe_ops)
{
	bool known = nt_costs_known(call->coll, call->cost, call->algos, call->protos);
	size_t bytes = known ? (size_t)call->algos * (size_t)call->protos * sizeof(float) : 0;
	struct nt_call ours = *call;
	float model[NT_COSTS_MAX];
	int given = *call->channels, rc;

	if (known) {
		memcpy(model, call->cost, bytes);
		ours.model = model;
	}
	rc = ask_tuner(ctx->theirs, call, pipe_ops);
	nt_chain_count(rc);
	if (rc != NT_NCCL_OK) {
		if (known)
			memcpy(call->cost, model, bytes);
		*call->channels = given;
	} else if (known) {
		keep_taken_away(call->cost, model, call->algos * call->protos);
	}
	return comm && pipe_ops > 0 ? decide_on_top(comm, &ours, given) : NT_NCCL_OK;
}

void nt_chain_decide_v2(const struct nt_ctx *ctx, const struct nt_chain_v2 *call)
{
	const struct nt_tuner_v2 *table = nt_chain.plugin[NT_CHAINED_TUNER].table;

	if (ctx && nt_ctx_told(ctx))
		nt_chain_count(table->get_coll_info(ctx->theirs, call->coll, call->bytes,
						    call->collnet, call->nvls, call->pipe_ops,
						    call->algo, call->proto, call->channels));
}

bool nt_chain_has_chunks(void)
{
	const struct nt_chain_plugin *plugin = &nt_chain.plugin[NT_CHAINED_TUNER];

	return nt_chain_on(NT_CHAINED_TUNER) && plugin->version >= 6 &&
	       ((const struct nt_tuner_v6 *)plugin->table)->get_chunk_size;
}

void nt_chain_chunk(const struct nt_ctx *ctx, const struct nt_call *call, int algo, int proto,
		    int channels, size_t *chunk_bytes)
{
	const struct nt_tuner_v6 *table = nt_chain.plugin[NT_CHAINED_TUNER].table;
	size_t given = *chunk_bytes;
	int rc;

	if (!ctx || !nt_ctx_told(ctx) || !nt_chain_has_chunks())
		return;
	rc = table->get_chunk_size(ctx->theirs, call->coll, call->bytes, algo, proto, channels,
				   chunk_bytes);
	nt_chain_count(rc);
	/* NCCL would divide by 0. */
	if (rc != NT_NCCL_OK || *chunk_bytes == 0)
		*chunk_bytes = given;
}
