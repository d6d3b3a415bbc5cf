/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* data.c - compute results chunk by chunk in memory that all ranks share
 *
 * A half of the area is overwritten only after the next half's barrier, which no rank passes while
 * it still reads the first one.
 */
#include <stdlib.h>
#include <string.h>
#include "tests/simlib/memory.h"
#include "tests/simlib/reduce.h"
#include "tests/simlib/sim.h"

#define SMALL \
	((size_t)64 << 10) /* up to this size results are always computed, and each rank sums
				  * all of it */
#define WRONG_EVERY 997 /* elements */
#define WRONG_LEAST 1024 /* bytes: programs can still report errors to each other */

struct move {
	struct ncclComm *c;
	const struct nt_sim_call *call;
	size_t element;
	unsigned ranks, rank;
};

struct nt_sim_shape nt_sim_shape(const struct ncclComm *c, const struct nt_sim_call *call)
{
	size_t bytes = call->count * nt_sim_type_bytes(call->type);
	struct nt_sim_shape s = { .send = bytes, .receive = bytes };

	if (call->coll == NT_ALLGATHER)
		s.receive *= c->job.ranks;
	else if (call->coll == NT_REDUCESCATTER)
		s.send *= c->job.ranks;
	if (call->coll == NT_BROADCAST && c->rank.rank != (unsigned)call->root)
		s.send = 0;
	else if (call->coll == NT_REDUCE && c->rank.rank != (unsigned)call->root)
		s.receive = 0;
	return s;
}

/* False: the communicator is aborted. */
static bool meet(struct ncclComm *c)
{
	enum nt_wire_end end = nt_wire_barrier(c->barrier, c->rank.rank);

	nt_fake_expect(c->comm, end, "a collective's data");
	return end == NT_WIRE_OK;
}

static char *stage(const struct move *m, unsigned rank)
{
	return m->c->area->stage + (m->c->half * m->ranks + rank) * NT_SIM_CHUNK;
}

static void put(const struct move *m, size_t at, size_t n)
{
	const char *send = m->call->send;
	size_t part = n * m->element;

	if (m->call->coll == NT_BROADCAST && m->rank != (unsigned)m->call->root)
		return;
	if (m->call->coll != NT_REDUCESCATTER) {
		memcpy(stage(m, m->rank), send + at * m->element, part);
		return;
	}
	for (unsigned r = 0; r < m->ranks; r++)
		memcpy(stage(m, m->rank) + r * part, send + (r * m->call->count + at) * m->element,
		       part);
}

/* The sum of n elements at an offset in each rank's part, in order of ranks. */
static void sum(const struct move *m, void *into, size_t offset, size_t n)
{
	if (into != stage(m, 0) + offset)
		memcpy(into, stage(m, 0) + offset, n * m->element);
	for (unsigned r = 1; r < m->ranks; r++)
		nt_sim_reduce(m->call->type, m->call->op, into, stage(m, r) + offset, n);
	if (m->call->op == NT_AVG)
		nt_sim_divide(m->call->type, into, n, m->ranks);
}

/* Each rank sums its share of the chunk, in rank 0's part. */
static bool sum_share(const struct move *m, size_t n)
{
	size_t from = n * m->rank / m->ranks, to = n * (m->rank + 1) / m->ranks;

	sum(m, stage(m, 0) + from * m->element, from * m->element, to - from);
	return meet(m->c);
}

static bool get(const struct move *m, size_t at, size_t n)
{
	char *receive = (char *)m->call->receive + at * m->element;
	bool root = m->rank == (unsigned)m->call->root;
	size_t part = n * m->element;

	switch (m->call->coll) {
	case NT_REDUCESCATTER: sum(m, receive, m->rank * part, n); return true;
	case NT_BROADCAST: memcpy(receive, stage(m, (unsigned)m->call->root), part); return true;
	case NT_ALLGATHER:
		for (unsigned r = 0; r < m->ranks; r++)
			memcpy(receive + r * m->call->count * m->element, stage(m, r), part);
		return true;
	default: break;
	}
	root = root || m->call->coll == NT_ALLREDUCE;
	if (m->call->count * m->element > SMALL) {
		if (!sum_share(m, n))
			return false;
		if (root)
			memcpy(receive, stage(m, 0), part);
	} else if (root) {
		sum(m, receive, 0, n);
	}
	return true;
}

static bool compute(const struct move *m)
{
	size_t chunk = NT_SIM_CHUNK / m->element;

	if (m->call->coll == NT_REDUCESCATTER)
		chunk /= m->ranks;
	for (size_t at = 0; at < m->call->count; at += chunk) {
		size_t n = m->call->count - at < chunk ? m->call->count - at : chunk;

		put(m, at, n);
		if (!meet(m->c) || !get(m, at, n))
			return false;
		m->c->half ^= 1;
	}
	return true;
}

static bool same_call(const struct nt_sim_call *a, const struct nt_sim_call *b)
{
	return a->coll == b->coll && a->send == b->send && a->receive == b->receive &&
	       a->count == b->count && a->type == b->type && a->op == b->op && a->root == b->root;
}

static struct nt_sim_memo *memo_of(struct ncclComm *c, const struct nt_sim_call *call)
{
	for (unsigned i = 0; i < NT_SIM_MEMOS; i++) {
		if (c->memo[i].tick && same_call(&c->memo[i].call, call))
			return &c->memo[i];
	}
	return NULL;
}

/* Its result is the next call's input. */
static bool in_place(const struct ncclComm *c, const struct nt_sim_call *call)
{
	const struct nt_sim_shape shape = nt_sim_shape(c, call);
	const char *send = call->send, *receive = call->receive;

	return call->coll != NT_ALLGATHER && call->coll != NT_BROADCAST &&
	       send < receive + shape.receive && receive < send + shape.send;
}

/* Has the program written to this rank's input or output since? */
static bool wants(struct ncclComm *c, const struct nt_sim_call *call)
{
	const struct nt_sim_shape shape = nt_sim_shape(c, call);
	const struct nt_sim_memo *memo = memo_of(c, call);
	const char *always = getenv("NT_SIM_COMPUTE");

	if (!memo || in_place(c, call) || (always && strcmp(always, "always") == 0))
		return true;
	return (shape.send && nt_sim_memory_look(call->send, shape.send).newest > memo->tick) ||
	       (shape.receive && nt_sim_memory_look(call->receive, shape.receive).written);
}

/* All ranks get the same answer. */
static bool any_wants(struct ncclComm *c, const struct nt_sim_call *call, bool *alive)
{
	bool any = false;

	c->area->wants[c->half][c->rank.rank] = wants(c, call);
	*alive = meet(c);
	for (unsigned r = 0; r < c->job.ranks; r++)
		any = any || c->area->wants[c->half][r];
	c->half ^= 1;
	return any;
}

static void remember(struct ncclComm *c, const struct nt_sim_call *call, uint32_t tick)
{
	struct nt_sim_memo *memo = memo_of(c, call);

	if (!memo)
		memo = &c->memo[c->memos++ % NT_SIM_MEMOS];
	*memo = (struct nt_sim_memo){ .call = *call, .tick = tick };
}

/* Not computed again: the result is still there. */
static void leave_out(struct ncclComm *c, const struct nt_sim_call *call)
{
	const struct nt_sim_memo *memo = memo_of(c, call);
	size_t bytes = nt_sim_shape(c, call).receive;

	if (bytes && nt_sim_memory_look(call->receive, bytes).newest > memo->tick)
		nt_sim_memory_stale(call->receive, bytes);
}

static void spoil(const struct move *m)
{
	size_t bytes = nt_sim_shape(m->c, m->call).receive;
	size_t n = bytes < WRONG_LEAST ? 0 : bytes / m->element;

	for (size_t i = 0; i < n; i += WRONG_EVERY)
		((char *)m->call->receive)[(i + 1) * m->element - 1] ^= 0x10;
}

static bool is_large(const struct ncclComm *c, const struct nt_sim_call *call)
{
	size_t bytes = call->count * nt_sim_type_bytes(call->type);

	if (call->coll == NT_ALLGATHER || call->coll == NT_REDUCESCATTER)
		bytes *= c->job.ranks;
	return bytes > SMALL;
}

void nt_sim_move(struct ncclComm *c, const struct nt_sim_call *call, bool wrong)
{
	const struct nt_sim_shape shape = nt_sim_shape(c, call);
	const struct move m = { .c = c,
				.call = call,
				.element = nt_sim_type_bytes(call->type),
				.ranks = c->job.ranks,
				.rank = c->rank.rank };
	bool large = is_large(c, call), alive = true;
	uint32_t tick;

	if (large && !any_wants(c, call, &alive)) {
		if (alive)
			leave_out(c, call);
		return;
	}
	if (shape.send)
		nt_sim_memory_expect(call->send, shape.send, "a collective");
	if (!alive || !compute(&m))
		return;
	if (wrong)
		spoil(&m);
	tick = nt_sim_memory_computed(call->receive, shape.receive);
	if (large)
		remember(c, call, tick);
}
