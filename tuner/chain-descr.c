/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* One version at a time, as NCCL does it (src/plugin/profiler/). Members that only the older
 * version has are 0. */
#include "tuner/chain-descr.h"

#include <string.h>
#include "contract/coll.h"

#define HEAD(to, from)                              \
	do {                                        \
		(to)->type = (uint8_t)(from)->type; \
		(to)->parent = (from)->parent;      \
		(to)->rank = (from)->rank;          \
	} while (0)

#define COLL(to, from)                                       \
	do {                                                 \
		(to)->coll.seq = (from)->coll.seq;           \
		(to)->coll.send = (from)->coll.send;         \
		(to)->coll.recv = (from)->coll.recv;         \
		(to)->coll.count = (from)->coll.count;       \
		(to)->coll.root = (from)->coll.root;         \
		(to)->coll.channels = (from)->coll.channels; \
		(to)->coll.warps = (from)->coll.warps;       \
	} while (0)

/* v2 and later have names. */
#define COLL_NAMES(to, from)                                 \
	do {                                                 \
		(to)->coll.func = (from)->coll.func;         \
		(to)->coll.datatype = (from)->coll.datatype; \
		(to)->coll.algo = (from)->coll.algo;         \
		(to)->coll.proto = (from)->coll.proto;       \
	} while (0)

#define P2P(to, from)                                      \
	do {                                               \
		(to)->p2p.func = (from)->p2p.func;         \
		(to)->p2p.buffer = (from)->p2p.buffer;     \
		(to)->p2p.datatype = (from)->p2p.datatype; \
		(to)->p2p.count = (from)->p2p.count;       \
		(to)->p2p.peer = (from)->p2p.peer;         \
	} while (0)

/* The parent of an older Coll or P2p is the Group. */
static bool to_v4(const struct nt_prof_descr_v5 *from, struct nt_prof_descr_v4 *to)
{
	HEAD(to, from);
	switch (from->type) {
	case NT_PROF_GROUP:
	case NT_PROF_PROXY_CTRL: return true;
	case NT_PROF_COLL:
		to->parent = from->coll.group;
		COLL(to, from);
		COLL_NAMES(to, from);
		return true;
	case NT_PROF_P2P:
		to->parent = from->p2p.group;
		P2P(to, from);
		to->p2p.channels = from->p2p.channels;
		return true;
	case NT_PROF_PROXY_OP: to->proxy_op = from->proxy_op; return true;
	case NT_PROF_PROXY_STEP: to->proxy_step = from->proxy_step; return true;
	case NT_PROF_KERNEL_CH: to->kernel_ch = from->kernel_ch; return true;
	case NT_PROF_NET_PLUGIN: to->net_plugin = from->net_plugin; return true;
	default: return false;
	}
}

static bool to_v3(const struct nt_prof_descr_v4 *from, struct nt_prof_descr_v3 *to)
{
	HEAD(to, from);
	switch (from->type) {
	case NT_PROF_GROUP:
	case NT_PROF_PROXY_CTRL: return true;
	case NT_PROF_COLL:
		COLL(to, from);
		COLL_NAMES(to, from);
		return true;
	case NT_PROF_P2P: P2P(to, from); return true;
	case NT_PROF_PROXY_OP: to->proxy_op = from->proxy_op; return true;
	case NT_PROF_PROXY_STEP: to->proxy_step = from->proxy_step; return true;
	case NT_PROF_KERNEL_CH: to->kernel_ch.channel = from->kernel_ch.channel; return true;
	case NT_PROF_NET_PLUGIN: to->net_plugin = from->net_plugin; return true;
	default: return false;
	}
}

static bool to_v2(const struct nt_prof_descr_v3 *from, struct nt_prof_descr_v2 *to)
{
	HEAD(to, from);
	switch (from->type) {
	case NT_PROF_GROUP:
	case NT_PROF_PROXY_CTRL: return true;
	case NT_PROF_COLL:
		to->coll.name = from->coll.name;
		to->coll.comm = from->coll.comm;
		COLL(to, from);
		COLL_NAMES(to, from);
		return true;
	case NT_PROF_P2P: to->p2p = from->p2p; return true;
	case NT_PROF_PROXY_OP: to->proxy_op = from->proxy_op; return true;
	case NT_PROF_PROXY_STEP: to->proxy_step = from->proxy_step; return true;
	default: return false;
	}
}

/* ncclDataType_t (src/nccl.h.in@v2.30.7-1). Others count as bytes. */
static uint8_t datatype_number(const char *name)
{
	static const char *const names[] = { "ncclInt8",    "ncclUint8",   "ncclInt32",
					     "ncclUint32",  "ncclInt64",   "ncclUint64",
					     "ncclFloat16", "ncclFloat32", "ncclFloat64",
					     "ncclBfloat16" };

	for (uint8_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0)
			return i;
	}
	return 0;
}

/* ncclFunc_t: the collectives, SendRecv, Send, Recv (src/include/nccl_common.h:73@v2.23.4-1) */
static uint8_t function_number(const char *name)
{
	int coll = name ? nt_coll_parse(name) : -1;

	if (coll >= 0)
		return (uint8_t)coll;
	return name && strcmp(name, "Recv") == 0 ? NT_COLLS + 2 : NT_COLLS + 1;
}

static bool to_v1(const struct nt_prof_descr_v2 *from, struct nt_prof_descr_v1 *to)
{
	int algo;

	HEAD(to, from);
	switch (from->type) {
	case NT_PROF_GROUP:
	case NT_PROF_PROXY_CTRL: return true;
	case NT_PROF_COLL:
		algo = from->coll.algo ? nt_algo_parse(from->coll.algo) : -1;
		to->coll.name = from->coll.name;
		to->coll.comm = from->coll.comm;
		COLL(to, from);
		to->coll.func = function_number(from->coll.func);
		to->coll.datatype = datatype_number(from->coll.datatype);
		to->coll.traffic_bytes = from->coll.traffic_bytes;
		to->coll.algo = (uint8_t)algo;
		to->coll.proto = (uint8_t)(from->coll.proto ? nt_proto_parse(from->coll.proto)
							    : -1);
		to->coll.is_collnet = algo == 2 || algo == 3;
		to->coll.is_nvls = algo == 4 || algo == 5;
		return true;
	case NT_PROF_P2P:
		to->p2p.name = from->p2p.name;
		to->p2p.comm = from->p2p.comm;
		to->p2p.func = function_number(from->p2p.func);
		to->p2p.buffer = from->p2p.buffer;
		to->p2p.datatype = datatype_number(from->p2p.datatype);
		to->p2p.count = from->p2p.count;
		to->p2p.peer = from->p2p.peer;
		return true;
	case NT_PROF_PROXY_OP: to->proxy_op = from->proxy_op; return true;
	case NT_PROF_PROXY_STEP: to->proxy_step = from->proxy_step; return true;
	default: return false;
	}
}

bool nt_chain_lower(int to, const union nt_chain_descr *from, union nt_chain_descr *out)
{
	memset(out, 0, sizeof(*out));
	switch (to) {
	case 6: /* v7 has one event more, and members at the end */
		memcpy(&out->v6, &from->v7, sizeof(out->v6));
		return from->v7.type < NT_PROF_KERNEL_PHASE;
	case 5: /* v6 only has more events */
		out->v5 = from->v5;
		return from->v6.type < NT_PROF_CE_COLL;
	case 4: return to_v4(&from->v5, &out->v4);
	case 3: return to_v3(&from->v4, &out->v3);
	case 2: return to_v2(&from->v3, &out->v2);
	case 1: return to_v1(&from->v2, &out->v1);
	default: return false;
	}
}
