/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* shim_prof.c - wrap older profiler interfaces in the newest one, as NCCL does in
 * src/plugin/profiler/
 *
 * A byte past the end of each descriptor faults: reading a v5 field in a v4 descriptor is detected.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "contract/coll.h"
#include "tests/fake/guard.h"
#include "tests/fake/load.h"

static const struct nt_prof_v4 *v4;
static const struct nt_prof_v5 *v5;
static const struct nt_prof_v6 *v6;
static const struct nt_prof_v7 *v7;
static struct nt_prof_v7 wrapped;

static void copy_coll(struct nt_prof_descr_v4 *o, const struct nt_prof_descr_v7 *d)
{
	o->parent = d->coll.group;
	o->coll.seq = d->coll.seq;
	o->coll.func = d->coll.func;
	o->coll.send = d->coll.send;
	o->coll.recv = d->coll.recv;
	o->coll.count = d->coll.count;
	o->coll.root = d->coll.root;
	o->coll.datatype = d->coll.datatype;
	o->coll.channels = d->coll.channels;
	o->coll.warps = d->coll.warps;
	o->coll.algo = d->coll.algo;
	o->coll.proto = d->coll.proto;
}

static void copy_p2p(struct nt_prof_descr_v4 *o, const struct nt_prof_descr_v7 *d)
{
	o->parent = d->p2p.group;
	o->p2p.func = d->p2p.func;
	o->p2p.buffer = d->p2p.buffer;
	o->p2p.datatype = d->p2p.datatype;
	o->p2p.count = d->p2p.count;
	o->p2p.peer = d->p2p.peer;
	o->p2p.channels = d->p2p.channels;
}

/* *event is not changed here. */
static int start_v4(void *ctx, void **event, struct nt_prof_descr_v7 *d)
{
	struct nt_prof_descr_v4 *o = nt_guard_take(NT_GUARD_EVENT, sizeof(*o));

	if (d->type != NT_PROF_GROUP && d->type != NT_PROF_COLL && d->type != NT_PROF_P2P &&
	    d->type != NT_PROF_KERNEL_CH) {
		*event = NULL;
		return NT_NCCL_OK;
	}
	o->type = (uint8_t)d->type;
	o->parent = d->parent;
	o->rank = d->rank;
	if (d->type == NT_PROF_COLL)
		copy_coll(o, d);
	else if (d->type == NT_PROF_P2P)
		copy_p2p(o, d);
	else if (d->type == NT_PROF_KERNEL_CH)
		o->kernel_ch = d->kernel_ch;
	return v4->start(ctx, event, o);
}

static int start_v5(void *ctx, void **event, struct nt_prof_descr_v7 *d)
{
	struct nt_prof_descr_v5 *o = nt_guard_take(NT_GUARD_EVENT, sizeof(*o));

	_Static_assert(sizeof(*o) <= sizeof(*d), "later versions add at the end");
	memcpy(o, d, sizeof(*o));
	return v5->start(ctx, event, o);
}

static int start_v6(void *ctx, void **event, struct nt_prof_descr_v7 *d)
{
	struct nt_prof_descr_v5 *o = nt_guard_take(NT_GUARD_EVENT, sizeof(*o));

	memcpy(o, d, sizeof(*o));
	return v6->start(ctx, event, o);
}

static int start_v7(void *ctx, void **event, struct nt_prof_descr_v7 *d)
{
	struct nt_prof_descr_v7 *o = nt_guard_take(NT_GUARD_EVENT, sizeof(*o));

	memcpy(o, d, sizeof(*o));
	return v7->start(ctx, event, o);
}

/* v4 knows the states up to KernelCh's. */
static int state_v4(void *event, int state, union nt_prof_args_v4 *args)
{
	return state > NT_PROF_STATE_KERNEL_CH_STOP ? NT_NCCL_OK : v4->state(event, state, args);
}

static int init_v4(void **ctx, uint64_t comm, int *mask, const char *name, int nodes, int ranks,
		   int rank, nt_nccl_log log)
{
	return v4->init(ctx, mask, name, comm, nodes, ranks, rank, log);
}

const struct nt_prof_v7 *nt_shim_profiler(void *library, int version)
{
	char symbol[32];
	void *table;

	snprintf(symbol, sizeof(symbol), "ncclProfiler_v%d", version);
	table = dlsym(library, symbol);
	if (!table || version < 4) /* no plugin here is older */
		return NULL;
	switch (version) {
	case 4:
		v4 = table;
		wrapped = (struct nt_prof_v7){ v4->name, init_v4,  start_v4,
					       v4->stop, state_v4, v4->finalize };
		break;
	case 5:
		v5 = table;
		wrapped = (struct nt_prof_v7){ v5->name, v5->init,  start_v5,
					       v5->stop, v5->state, v5->finalize };
		break;
	case 6:
		v6 = table;
		wrapped = (struct nt_prof_v7){ v6->name, v6->init,  start_v6,
					       v6->stop, v6->state, v6->finalize };
		break;
	default:
		v7 = table;
		wrapped = *v7;
		wrapped.start = start_v7;
		break;
	}
	return &wrapped;
}
