/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* shim_tuner.c - wrap older tuner interfaces in the newest one, as NCCL does in
 * src/plugin/tuner/ */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "contract/coll.h"
#include "tests/fake/load.h"

static const struct nt_tuner_v2 *v2;
static const struct nt_tuner_v3 *v3;
static const struct nt_tuner_v4 *v4;
static const struct nt_tuner_v5 *v5;
static const struct nt_tuner_v6 *v6;
static struct nt_tuner_v7 wrapped;

static int init_v2(void **ctx, uint64_t comm, size_t ranks, size_t nodes, nt_nccl_log log,
		   struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v7 *constants)
{
	(void)comm;
	(void)nvl;
	(void)constants;
	return v2->init(ranks, nodes, log, ctx);
}

static int init_v3(void **ctx, uint64_t comm, size_t ranks, size_t nodes, nt_nccl_log log,
		   struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v7 *constants)
{
	(void)comm;
	(void)nvl;
	(void)constants;
	return v3->init(ranks, nodes, log, ctx);
}

static int init_v4(void **ctx, uint64_t comm, size_t ranks, size_t nodes, nt_nccl_log log,
		   struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v7 *constants)
{
	(void)comm;
	(void)nvl;
	(void)constants;
	return v4->init(ranks, nodes, log, ctx);
}

/* From 2.22 on the table decides, and a pair that it ignores stays ignored; 2.21 takes any pair. */
static int decide_v2(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost, int algos,
		     int protos, int registered, int *channels)
{
	const int nvls = 4 * NT_PROTOS + 2, nvls_tree = 5 * NT_PROTOS + 2,
		  chain = 3 * NT_PROTOS + 2;
	float *table = (float *)cost;
	int algo = -1, proto = -1;
	int rc;

	(void)registered;
	rc = v2->get_coll_info(ctx, coll, bytes, table[chain] >= 0,
			       table[nvls] >= 0 || table[nvls_tree] >= 0, pipe_ops, &algo, &proto,
			       channels);
	if (rc == NT_NCCL_OK && algo >= 0 && algo < algos && proto >= 0 && proto < protos &&
	    (table[algo * protos + proto] != -1.0f || nt_load_release()->code < 22203))
		table[algo * protos + proto] = 0;
	return rc;
}

static int decide_v3(void *ctx, int coll, size_t bytes, int pipe_ops, float **cost, int algos,
		     int protos, int registered, int *channels)
{
	(void)registered;
	return v3->get_coll_info(ctx, coll, bytes, pipe_ops, cost, algos, protos, channels);
}

/* The constants of both versions, converted in both directions
 * (src/plugin/tuner/tuner_v6.cc@2449986f). */
#define SAME(to, from, member)                                                      \
	memcpy((to)->member, (from)->member,                                        \
	       sizeof((to)->member) < sizeof((from)->member) ? sizeof((to)->member) \
							     : sizeof((from)->member))
#define SAME_ALL(to, from)                         \
	do {                                       \
		SAME(to, from, base_latency);      \
		SAME(to, from, hw_latency);        \
		SAME(to, from, ll_max_bw);         \
		SAME(to, from, ring_ll128_max_bw); \
		SAME(to, from, tree_ll128_max_bw); \
		SAME(to, from, tree_max_bw);       \
		SAME(to, from, nvls_tree_max_bw);  \
	} while (0)

static int init_v5(void **ctx, uint64_t comm, size_t ranks, size_t nodes, nt_nccl_log log,
		   struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v7 *constants)
{
	struct nt_tuner_constants_v5 known;
	int rc;

	SAME_ALL(&known, constants);
	rc = v5->init(ctx, comm, ranks, nodes, log, nvl, &known);
	SAME_ALL(constants, &known);
	return rc;
}

static int init_v6(void **ctx, uint64_t comm, size_t ranks, size_t nodes, nt_nccl_log log,
		   struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v7 *constants)
{
	struct nt_tuner_constants_v5 known;
	int rc;

	SAME_ALL(&known, constants);
	rc = v6->init(ctx, comm, ranks, nodes, log, nvl, &known);
	SAME_ALL(constants, &known);
	/* Up to 2.31 NCCL reads their table itself, from 2.32 on once, here. */
	__atomic_store_n(&wrapped.get_chunk_size,
			 __atomic_load_n(&v6->get_chunk_size, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	return rc;
}

static const struct nt_tuner_v7 *wrap(const char *name)
{
	wrapped.name = name;
	return &wrapped;
}

const struct nt_tuner_v7 *nt_shim_tuner(void *library, int version)
{
	char symbol[32];
	void *table;

	snprintf(symbol, sizeof(symbol), "ncclTunerPlugin_v%d", version);
	table = dlsym(library, symbol);
	if (!table || version == 7)
		return table;
	wrapped = (struct nt_tuner_v7){ 0 };
	switch (version) {
	case 2:
		v2 = table;
		wrapped.init = init_v2;
		wrapped.get_coll_info = decide_v2;
		wrapped.finalize = v2->destroy;
		return wrap(v2->name);
	case 3:
		v3 = table;
		wrapped.init = init_v3;
		wrapped.get_coll_info = decide_v3;
		wrapped.finalize = v3->destroy;
		return wrap(v3->name);
	case 4:
		v4 = table;
		wrapped.init = init_v4;
		wrapped.get_coll_info = v4->get_coll_info;
		wrapped.finalize = v4->destroy;
		return wrap(v4->name);
	case 5:
		v5 = table;
		wrapped.init = init_v5;
		wrapped.get_coll_info = v5->get_coll_info;
		wrapped.finalize = v5->finalize;
		return wrap(v5->name);
	default:
		v6 = table;
		wrapped.init = init_v6;
		wrapped.get_coll_info = v6->get_coll_info;
		wrapped.finalize = v6->finalize;
		return wrap(v6->name);
	}
}
