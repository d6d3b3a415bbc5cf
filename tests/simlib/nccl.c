/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.c - the simulated functions of NCCL, with checks of their arguments */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/fake/rng.h"
#include "tests/simlib/fault.h"
#include "tests/simlib/memory.h"
#include "tests/simlib/reduce.h"
#include "tests/simlib/sim.h"

#define GROUP_MAX 4096 /* calls */

struct pending {
	struct ncclComm *comm;
	nt_stream stream;
	struct nt_sim_call call;
};

/* Of each thread, as in NCCL. */
static _Thread_local struct {
	unsigned depth;
	struct pending *call;
	unsigned calls, room;
	char error[256];
} group;

static nt_nccl_rc fail(nt_nccl_rc rc, const char *why)
{
	snprintf(group.error, sizeof(group.error), "%s", why);
	return rc;
}

const char *ncclGetErrorString(nt_nccl_rc rc)
{
	static const char *const text[] = { "no error",
					    "unhandled cuda error",
					    "unhandled system error",
					    "internal error",
					    "invalid argument",
					    "invalid usage",
					    "remote process exited or there was a network error",
					    "NCCL operation in progress" };

	return rc >= 0 && rc < 8 ? text[rc] : "unknown result code";
}

const char *ncclGetLastError(nt_nccl_comm comm)
{
	(void)comm;
	return group.error;
}

/* ---- communicators */

nt_nccl_rc ncclGetUniqueId(struct nt_unique_id *id)
{
	struct nt_sim_id own;
	struct nt_error err;
	struct timespec now;

	_Static_assert(sizeof(own) <= sizeof(*id), "it has room");
	clock_gettime(CLOCK_REALTIME, &now);
	if (!nt_sim_options() ||
	    nt_sim_id_make(&own,
			   nt_rng_mix((uint64_t)now.tv_nsec + (uint64_t)now.tv_sec * 1000000007u,
				      (uint64_t)getpid()),
			   &err) < 0)
		return fail(NT_RC_SYSTEM, "no shared memory, or NT_SIM_OPTIONS is wrong");
	memset(id, 0, sizeof(*id));
	memcpy(id, &own, sizeof(own));
	return NT_RC_OK;
}

nt_nccl_rc ncclCommInitRankConfig(nt_nccl_comm *comm, int ranks, struct nt_unique_id id, int rank,
				  const void *config)
{
	struct nt_sim_id own;
	struct nt_error err;

	(void)config;
	*comm = NULL;
	if (ranks < 1 || ranks > NT_MAX_RANKS || rank < 0 || rank >= ranks)
		return fail(NT_RC_INVALID_ARGUMENT, "a rank of 1 to 64 is simulated");
	if (nt_sim_options() && nt_sim_fails(nt_sim_task((unsigned)rank)))
		return fail(NT_RC_SYSTEM, "it was asked to fail (NT_SIM_FAIL)");
	memcpy(&own, &id, sizeof(own));
	*comm = nt_sim_comm_join(&own, (unsigned)ranks, (unsigned)rank, 0, &err);
	return *comm ? NT_RC_OK : fail(NT_RC_SYSTEM, err.text);
}

nt_nccl_rc ncclCommInitRank(nt_nccl_comm *comm, int ranks, struct nt_unique_id id, int rank)
{
	return ncclCommInitRankConfig(comm, ranks, id, rank, NULL);
}

nt_nccl_rc ncclCommSplit(nt_nccl_comm comm, int color, int key, nt_nccl_comm *made,
			 const void *config)
{
	struct nt_error err = { "" };

	(void)config;
	*made = nt_sim_comm_split(comm, color, key, &err);
	return *made || color < 0 ? NT_RC_OK : fail(NT_RC_SYSTEM, err.text);
}

nt_nccl_rc ncclCommFinalize(nt_nccl_comm comm)
{
	nt_sim_comm_finish(comm);
	return NT_RC_OK;
}

nt_nccl_rc ncclCommDestroy(nt_nccl_comm comm)
{
	if (comm)
		nt_sim_comm_leave(comm, false);
	return NT_RC_OK;
}

nt_nccl_rc ncclCommAbort(nt_nccl_comm comm)
{
	if (comm)
		nt_sim_comm_leave(comm, true);
	return NT_RC_OK;
}

nt_nccl_rc ncclCommCount(nt_nccl_comm comm, int *ranks)
{
	*ranks = (int)comm->job.ranks;
	return NT_RC_OK;
}

nt_nccl_rc ncclCommUserRank(nt_nccl_comm comm, int *rank)
{
	*rank = (int)comm->rank.rank;
	return NT_RC_OK;
}

nt_nccl_rc ncclCommCuDevice(nt_nccl_comm comm, int *device)
{
	(void)comm;
	cudaGetDevice(device);
	return NT_RC_OK;
}

nt_nccl_rc ncclCommGetAsyncError(nt_nccl_comm comm, nt_nccl_rc *rc)
{
	(void)comm;
	*rc = NT_RC_OK;
	return NT_RC_OK;
}

nt_nccl_rc ncclMemAlloc(void **memory, size_t bytes)
{
	return cudaMalloc(memory, bytes) == NT_CUDA_OK ? NT_RC_OK : NT_RC_SYSTEM;
}

nt_nccl_rc ncclMemFree(void *memory)
{
	cudaFree(memory);
	return NT_RC_OK;
}

/* ---- groups */

static bool goes_with(const struct pending *a, const struct pending *b)
{
	return a->comm == b->comm && a->stream == b->stream;
}

/* The calls of one communicator and stream, NT_MAX_TASKS at a time. */
static void launch_part(struct pending *call, unsigned calls, enum nt_group_mode mode)
{
	const struct pending first = call[0];
	struct nt_sim_call part[NT_MAX_TASKS];
	unsigned n = 0;

	for (unsigned i = 0; i < calls; i++) {
		if (!call[i].comm || !goes_with(&call[i], &first))
			continue;
		part[n++] = call[i].call;
		call[i].comm = NULL;
		if (n == NT_MAX_TASKS) {
			nt_sim_launch(first.comm, part, n, first.stream, mode);
			n = 0;
		}
	}
	if (n)
		nt_sim_launch(first.comm, part, n, first.stream, mode);
}

static bool is_send(const struct pending *p)
{
	return p->comm && (p->call.coll == NT_P2P_SEND || p->call.coll == NT_P2P_RECV);
}

/* All sends and receives of one communicator and stream at once: they may wait for each other. */
static void launch_sends(struct pending *call, unsigned calls, enum nt_group_mode mode)
{
	const struct pending first = call[0];
	struct nt_sim_call part[GROUP_MAX];
	unsigned n = 0;

	for (unsigned i = 0; i < calls; i++) {
		if (!is_send(&call[i]) || !goes_with(&call[i], &first))
			continue;
		part[n++] = call[i].call;
		call[i].comm = NULL;
	}
	if (mode == NT_GROUP_RUN)
		nt_sim_exchange(first.comm, part, n, first.stream);
}

static void launch_all(enum nt_group_mode mode)
{
	for (unsigned i = 0; i < group.calls; i++)
		if (is_send(&group.call[i]))
			launch_sends(&group.call[i], group.calls - i, mode);
	for (unsigned i = 0; i < group.calls; i++) {
		struct pending *p = &group.call[i];

		if (!p->comm)
			continue;
		if (p->comm->job.ranks > 1)
			launch_part(p, group.calls - i, mode);
		else if (mode == NT_GROUP_RUN)
			nt_sim_copy(p->comm, &p->call, p->stream);
	}
	group.calls = 0;
}

nt_nccl_rc ncclGroupStart(void)
{
	group.depth++;
	return NT_RC_OK;
}

nt_nccl_rc ncclGroupEnd(void)
{
	if (!group.depth)
		return fail(NT_RC_INVALID_USAGE, "ncclGroupEnd without ncclGroupStart");
	if (--group.depth == 0)
		launch_all(NT_GROUP_RUN);
	return NT_RC_OK;
}

/* By NCCL's own model, for the group's first call on each communicator. */
static float estimate_us(void)
{
	float us = 0;

	for (unsigned i = 0; i < group.calls; i++) {
		const struct ncclComm *c = group.call[i].comm;
		const struct nt_sim_call *call = &group.call[i].call;
		size_t bytes = call->count * nt_sim_type_bytes(call->type);
		float table[NT_PAIRS];
		int pick;

		if (is_send(&group.call[i]))
			continue;
		if (call->coll == NT_ALLGATHER || call->coll == NT_REDUCESCATTER)
			bytes *= c->job.ranks;
		nt_model_costs(&c->job.model, &c->comm->place, call->coll, bytes, 1, table);
		pick = nt_model_pick(table, c->comm->place.algos);
		us += pick < 0 ? 0 : table[pick];
	}
	return us;
}

nt_nccl_rc ncclGroupSimulateEnd(struct nt_sim_info *info)
{
	if (!group.depth)
		return fail(NT_RC_INVALID_USAGE, "ncclGroupSimulateEnd without ncclGroupStart");
	if (info)
		info->us = estimate_us();
	if (--group.depth == 0)
		launch_all(NT_GROUP_SIMULATE);
	return NT_RC_OK;
}

static nt_nccl_rc enqueue(struct ncclComm *c, const struct nt_sim_call *call, nt_stream stream)
{
	const bool reduces = call->coll == NT_ALLREDUCE || call->coll == NT_REDUCE ||
			     call->coll == NT_REDUCESCATTER;

	if (!c || !nt_sim_type_name(call->type) || call->root < 0 ||
	    call->root >= (int)c->job.ranks)
		return fail(NT_RC_INVALID_ARGUMENT, "no such communicator, type or root");
	if (reduces && !nt_sim_reduces(call->type, call->op))
		return fail(NT_RC_INVALID_ARGUMENT,
			    "sums of that type, or that operation, are not simulated");
	if (!call->count)
		return NT_RC_OK;
	if (group.calls == group.room) {
		unsigned room = group.room ? 2 * group.room : 16;
		struct pending *more = NULL;

		if (room <= GROUP_MAX)
			more = realloc(group.call, room * sizeof(*more));
		if (!more)
			return fail(NT_RC_SYSTEM, "too many calls in a group");
		group.call = more;
		group.room = room;
	}
	group.call[group.calls++] = (struct pending){ c, stream, *call };
	if (!group.depth)
		launch_all(NT_GROUP_RUN);
	return NT_RC_OK;
}

/* ---- collectives */

nt_nccl_rc ncclAllReduce(const void *send, void *receive, size_t count, int type, int op,
			 nt_nccl_comm comm, nt_stream stream)
{
	return enqueue(comm,
		       &(struct nt_sim_call){ NT_ALLREDUCE, send, receive, count, type, op, 0 },
		       stream);
}

nt_nccl_rc ncclReduceScatter(const void *send, void *receive, size_t count, int type, int op,
			     nt_nccl_comm comm, nt_stream stream)
{
	return enqueue(comm,
		       &(struct nt_sim_call){ NT_REDUCESCATTER, send, receive, count, type, op, 0 },
		       stream);
}

nt_nccl_rc ncclReduce(const void *send, void *receive, size_t count, int type, int op, int root,
		      nt_nccl_comm comm, nt_stream stream)
{
	return enqueue(comm,
		       &(struct nt_sim_call){ NT_REDUCE, send, receive, count, type, op, root },
		       stream);
}

nt_nccl_rc ncclAllGather(const void *send, void *receive, size_t count, int type, nt_nccl_comm comm,
			 nt_stream stream)
{
	return enqueue(comm,
		       &(struct nt_sim_call){ NT_ALLGATHER, send, receive, count, type, 0, 0 },
		       stream);
}

nt_nccl_rc ncclBroadcast(const void *send, void *receive, size_t count, int type, int root,
			 nt_nccl_comm comm, nt_stream stream)
{
	return enqueue(comm,
		       &(struct nt_sim_call){ NT_BROADCAST, send, receive, count, type, 0, root },
		       stream);
}

nt_nccl_rc ncclBcast(void *buffer, size_t count, int type, int root, nt_nccl_comm comm,
		     nt_stream stream)
{
	return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

/* ---- sends and receives */

nt_nccl_rc ncclSend(const void *send, size_t count, int type, int peer, nt_nccl_comm comm,
		    nt_stream stream)
{
	return enqueue(comm, &(struct nt_sim_call){ NT_P2P_SEND, send, NULL, count, type, 0, peer },
		       stream);
}

nt_nccl_rc ncclRecv(void *receive, size_t count, int type, int peer, nt_nccl_comm comm,
		    nt_stream stream)
{
	return enqueue(comm,
		       &(struct nt_sim_call){ NT_P2P_RECV, NULL, receive, count, type, 0, peer },
		       stream);
}

/* From 2.28 on. It is made of sends and receives. */
nt_nccl_rc ncclAlltoAll(const void *send, void *receive, size_t count, int type, nt_nccl_comm comm,
			nt_stream stream)
{
	const size_t bytes = count * nt_sim_type_bytes(type);
	nt_nccl_rc rc = NT_RC_OK;

	ncclGroupStart();
	for (int r = 0; comm && r < (int)comm->job.ranks && rc == NT_RC_OK; r++) {
		rc = ncclSend((const char *)send + (size_t)r * bytes, count, type, r, comm, stream);
		if (rc == NT_RC_OK)
			rc = ncclRecv((char *)receive + (size_t)r * bytes, count, type, r, comm,
				      stream);
	}
	ncclGroupEnd();
	return comm ? rc : fail(NT_RC_INVALID_ARGUMENT, "no such communicator");
}
