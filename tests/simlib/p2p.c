/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* p2p.c - sends and receives of a group: data in chunks through a box for each pair of ranks
 *
 * A box is empty or full; its sender fills it and its receiver empties it, so transfers of a pair
 * keep their order. Times are made up: a latency, then what a rank sends or receives at one speed;
 * NCCL_NCHANNELS_PER_NET_PEER and NCCL_MIN_P2P_NCHANNELS from 8 on make it faster, an
 * NCCL_P2P_NET_CHUNKSIZE below NCCL's own 128K slower.
 *
 * Profilers are told as tests/fake/p2p.h tells them; a large group is launched as several plans.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/fake/event.h"
#include "tests/simlib/fault.h"
#include "tests/simlib/memory.h"
#include "tests/simlib/reduce.h"
#include "tests/simlib/sim.h"
#include "tests/simlib/stream.h"

#define LATENCY_NS 20000.0
#define BYTES_PER_NS 2.0
#define WIDE_FROM 8
#define WIDE_FACTOR 0.6
#define OWN_CHUNK (128l << 10)
#define CHUNK_FACTOR 1.6
#define POLL_US 50
#define WRONG_EVERY 997 /* bytes */
#define WRONG_LEAST 1024

struct transfer {
	struct nt_sim_call call; /* root: the peer */
	size_t at, bytes;
	bool done;
};

struct exchange {
	struct ncclComm *c;
	unsigned count;
	uint64_t ready_ns, latest_ns; /* this rank; of all that it meets */
	struct nt_plan *plan; /* and its next ones */
	struct transfer transfer[];
};

static void see(struct exchange *x, uint64_t ready_ns)
{
	if (ready_ns > x->latest_ns)
		x->latest_ns = ready_ns;
}

/* True: something moved. */
static bool step_send(struct exchange *x, struct transfer *t)
{
	struct nt_sim_box *box = nt_sim_box(x->c, x->c->rank.rank, (unsigned)t->call.root);
	size_t n = t->bytes - t->at < NT_SIM_BOX ? t->bytes - t->at : NT_SIM_BOX;

	/* Pairs with the receiver's release. */
	if (atomic_load_explicit(&box->full, memory_order_acquire))
		return false;
	if (t->at > 0)
		see(x, box->receiver_ns);
	if (t->at == t->bytes) {
		t->done = true;
		return true;
	}
	memcpy(box->data, (const char *)t->call.send + t->at, n);
	box->bytes = n;
	box->sender_ns = x->ready_ns;
	t->at += n;
	/* Pairs with the receiver's acquire. */
	atomic_store_explicit(&box->full, 1, memory_order_release);
	return true;
}

static bool step_receive(struct exchange *x, struct transfer *t)
{
	struct nt_sim_box *box = nt_sim_box(x->c, (unsigned)t->call.root, x->c->rank.rank);

	if (!atomic_load_explicit(&box->full, memory_order_acquire))
		return false;
	if (box->bytes > t->bytes - t->at)
		nt_fake_leave(&x->c->job, NT_EXIT_TROUBLE, "more was sent than is received");
	memcpy((char *)t->call.receive + t->at, box->data, box->bytes);
	t->at += box->bytes;
	see(x, box->sender_ns);
	box->receiver_ns = x->ready_ns;
	t->done = t->at == t->bytes;
	atomic_store_explicit(&box->full, 0, memory_order_release);
	return true;
}

/* The first of a pair that is not done goes on; those after it wait for it. */
static bool is_next(const struct exchange *x, unsigned which)
{
	const struct nt_sim_call *call = &x->transfer[which].call;

	for (unsigned i = 0; i < which; i++) {
		const struct transfer *t = &x->transfer[i];

		if (!t->done && t->call.coll == call->coll && t->call.root == call->root)
			return false;
	}
	return true;
}

static bool step_all(struct exchange *x, bool *moved)
{
	bool open = false;

	*moved = false;
	for (unsigned i = 0; i < x->count; i++) {
		struct transfer *t = &x->transfer[i];

		if (!t->done && is_next(x, i))
			*moved |= t->call.coll == NT_P2P_SEND ? step_send(x, t)
							      : step_receive(x, t);
		open = open || !t->done;
	}
	return open;
}

static long value_of(const char *variable, long otherwise)
{
	const char *text = getenv(variable);

	return text && *text ? strtol(text, NULL, 10) : otherwise;
}

static double launch_factor(void)
{
	double factor = 1;

	if (value_of("NCCL_NCHANNELS_PER_NET_PEER", 0) >= WIDE_FROM ||
	    value_of("NCCL_MIN_P2P_NCHANNELS", 0) >= WIDE_FROM)
		factor *= WIDE_FACTOR;
	if (value_of("NCCL_P2P_NET_CHUNKSIZE", OWN_CHUNK) < OWN_CHUNK)
		factor *= CHUNK_FACTOR;
	return factor;
}

static uint64_t cost_ns(const struct exchange *x)
{
	size_t sent = 0, received = 0;
	double ns;

	for (unsigned i = 0; i < x->count; i++) {
		const struct transfer *t = &x->transfer[i];

		if ((unsigned)t->call.root == x->c->rank.rank)
			continue;
		*(t->call.coll == NT_P2P_SEND ? &sent : &received) += t->bytes;
	}
	ns = launch_factor() * (double)(sent > received ? sent : received) / BYTES_PER_NS;
	return (uint64_t)(LATENCY_NS + ns);
}

static void finish(const struct exchange *x)
{
	const bool wrong = nt_sim_fault_sends(NT_SIM_WRONG) &&
			   nt_sim_fault_here(NT_SIM_WRONG, x->c);

	for (unsigned i = 0; i < x->count; i++) {
		const struct transfer *t = &x->transfer[i];

		if (t->call.coll == NT_P2P_SEND)
			continue;
		for (size_t at = 0; wrong && t->bytes >= WRONG_LEAST && at < t->bytes;
		     at += WRONG_EVERY)
			((char *)t->call.receive)[at] ^= 0x10;
		nt_sim_memory_computed(t->call.receive, t->bytes);
	}
}

static void work(void *arg, struct nt_sim_span *span)
{
	struct exchange *x = arg;
	struct ncclComm *c = x->c;
	bool moved, open = true;

	x->ready_ns = x->latest_ns = span->ready_ns;
	for (unsigned i = 0; i < x->count; i++)
		if (x->transfer[i].call.coll == NT_P2P_SEND)
			nt_sim_memory_expect(x->transfer[i].call.send, x->transfer[i].bytes,
					     "ncclSend");
	while (open && !atomic_load(&c->quit)) {
		open = step_all(x, &moved);
		if (open && !moved)
			usleep(POLL_US);
	}
	if (!open)
		finish(x);
	span->from_ns = x->latest_ns;
	span->end_ns = x->latest_ns + cost_ns(x);
	span->wall_ns = nt_sim_wall_ns();
	for (struct nt_plan *p = x->plan, *next; p; p = next) {
		next = p->next;
		if (!open)
			nt_sim_tell(c, p, span);
		nt_plan_release(p);
	}
	free(x);
	atomic_fetch_sub(&c->exchanges, 1);
}

static void *get(struct ncclComm *c, size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		nt_fake_leave(&c->job, NT_EXIT_TROUBLE, "out of memory");
	return memory;
}

/* The calls' P2pApi events. */
static struct nt_plan *plan(struct ncclComm *c, const struct nt_sim_call *call, unsigned calls)
{
	struct nt_plan *first = NULL, **last = &first, *p = NULL;

	for (unsigned i = 0; i < calls; i++) {
		if (!p || p->p2ps == NT_MAX_SENDS_OF_PLAN) {
			p = *last = get(c, sizeof(*p));
			last = &p->next;
			p->comm = c->comm;
			atomic_store(&p->references, 1);
		}
		p->p2p[p->p2ps] = (struct nt_p2p_task){ .receives = call[i].coll == NT_P2P_RECV,
							.peer = call[i].root,
							.count = call[i].count,
							.datatype = nt_sim_type_name(
								call[i].type) };
		nt_event_append_p2p(c->comm, &p->p2p[p->p2ps++]);
	}
	nt_event_group_end();
	return first;
}

static void launch(struct exchange *x, nt_stream stream)
{
	struct nt_plan *first = x->plan;

	for (struct nt_plan *p = first; p; p = p->next) {
		atomic_fetch_add(&p->references, 1);
		nt_event_launch_start(p);
		nt_event_launch_stop(p);
		nt_event_tasks_start(p);
	}
	nt_sim_push(stream, work, x);
	for (struct nt_plan *p = first, *next; p; p = next) {
		next = p->next;
		nt_event_tasks_stop(p);
		nt_plan_release(p);
	}
	nt_event_group_done();
}

void nt_sim_exchange(struct ncclComm *c, const struct nt_sim_call *call, unsigned calls,
		     nt_stream stream)
{
	struct exchange *x = get(c, sizeof(*x) + calls * sizeof(x->transfer[0]));

	x->c = c;
	x->count = calls;
	for (unsigned i = 0; i < calls; i++)
		x->transfer[i] = (struct transfer){
			.call = call[i], .bytes = call[i].count * nt_sim_type_bytes(call[i].type)
		};
	atomic_fetch_add(&c->exchanges, 1);
	x->plan = plan(c, call, calls);
	launch(x, stream);
}
