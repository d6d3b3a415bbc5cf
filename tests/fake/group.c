/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - a group from its first call to its launch (group.cc, enqueue.cc @v2.28.9-1) */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "tests/fake/event.h"
#include "tests/fake/fake.h"
#include "tests/fake/gpu.h"
#include "tests/fake/pool.h"
#include "tests/fake/rng.h"

void nt_plan_release(struct nt_plan *p)
{
	if (atomic_fetch_sub(&p->references, 1) == 1)
		free(p);
}

unsigned nt_plan_describe(const struct nt_plan *p, struct nt_wire_task *out)
{
	if (p->p2p_kind) {
		out[0] = (struct nt_wire_task){ .bytes = p->p2p_bytes,
						.coll = (uint8_t)p->p2p_kind,
						.round = (uint32_t)p->comm->owner->round };
		return 1;
	}
	for (unsigned i = 0; i < p->tasks; i++) {
		const struct nt_task *t = &p->task[i];

		out[i] = (struct nt_wire_task){
			.bytes = t->bytes,
			.coll = (uint8_t)t->coll,
			.algo = (uint8_t)(t->arm / NT_PROTOS),
			.proto = (uint8_t)(t->arm % NT_PROTOS),
			.channels = (uint8_t)t->channels,
			.symmetric = t->symmetric,
			.run = (uint8_t)t->run,
			.auto_arm = (uint8_t)t->auto_arm,
			.cap = (uint8_t)t->cap,
			.chunk_bytes = t->chunk_bytes,
			.chunk_rest = t->chunk_rest,
			.round = (uint32_t)p->comm->owner->round,
		};
	}
	return p->tasks;
}

/* AllGather and Broadcast are converted to bytes (enqueue.cc:2476@v2.28.9-1). */
static void append(struct nt_plan *p, const struct nt_call *call, bool captured)
{
	const char *datatype = call->datatype ? call->datatype
					      : p->comm->owner->job->options->datatype;
	struct nt_task *t = &p->task[p->tasks++];
	size_t element = nt_datatype_bytes(datatype);
	unsigned spread = 1;

	if (call->coll == NT_ALLGATHER || call->coll == NT_REDUCESCATTER)
		spread = (unsigned)p->comm->place.ranks;
	t->coll = call->coll;
	t->key = call->key;
	t->api_count = call->bytes / element / spread;
	if (!t->api_count)
		t->api_count = 1;
	t->bytes = t->api_count * element * spread;
	t->count = t->api_count;
	t->datatype = t->api_datatype = datatype;
	if (call->coll == NT_ALLGATHER || call->coll == NT_BROADCAST) {
		t->count *= element;
		t->datatype = "ncclInt8";
	}
	t->traffic = t->bytes * (unsigned)nt_model_traffic(t->coll);
	nt_event_append(p->comm, t, captured);
}

static void *decide_elsewhere(void *arg)
{
	nt_plan_decide(arg);
	return NULL;
}

static void decide(struct nt_plan *p)
{
	struct nt_job *job = p->comm->owner->job;
	pthread_t thread;

	if (!job->options->nonblocking) {
		nt_plan_decide(p);
		return;
	}
	/* Non-blocking communicators: another thread launches the group. */
	if (pthread_create(&thread, NULL, decide_elsewhere, p) != 0)
		nt_fake_leave(job, NT_EXIT_TROUBLE, "cannot start a thread");
	pthread_join(thread, NULL);
}

static uint64_t publish(struct nt_comm *c, const struct nt_wire_task *task, unsigned tasks)
{
	uint64_t op = c->op++;

	nt_fake_expect(c, nt_wire_publish(c->wire, c->rank, op, task, tasks), "a launch");
	return op;
}

/* The first use of an algorithm connects all ranks inside ncclGroupEnd. Ranks that use their
 * communicators in different orders would deadlock, so they do not wait. */
static void connect(struct nt_plan *p)
{
	struct nt_comm *c = p->comm;
	const struct nt_options *o = c->owner->job->options;

	for (unsigned i = 0; i < p->tasks; i++) {
		int algo = p->task[i].arm / NT_PROTOS;
		struct nt_wire_task first = { .connect = 1,
					      .algo = (uint8_t)algo,
					      .proto = (uint8_t)(p->task[i].arm % NT_PROTOS) };
		uint64_t key = nt_rng_mix(c->owner->rank + 31, (uint64_t)algo);

		if (p->task[i].symmetric || (c->connected & 1u << algo))
			continue;
		c->connected |= 1u << algo;
		publish(c, &first, 1);
		if (!o->interleave)
			nt_fake_expect(c, nt_wire_barrier(c->wire, c->rank),
				       "first use of an algorithm");
		c->owner->host_ns += (uint64_t)(1e3 * o->connect_us *
						(0.9 + 0.2 * nt_rng_unit(key)));
	}
}

static bool connects(const struct nt_plan *p)
{
	for (unsigned i = 0; i < p->tasks; i++) {
		if (!p->task[i].symmetric &&
		    !(p->comm->connected & 1u << p->task[i].arm / NT_PROTOS))
			return true;
	}
	return false;
}

static void *connect_elsewhere(void *arg)
{
	connect(arg);
	return NULL;
}

/* With several communicators each has its own thread (the preconnect jobs of groupLaunch,
 * src/group.cc@v2.28.9-1): ranks of one may be in the same group. */
static void connect_all(struct nt_plan *const *p, unsigned plans)
{
	pthread_t thread[NT_MAX_RANKS];
	bool started[NT_MAX_RANKS] = { false };

	for (unsigned i = 0; i < plans; i++) {
		if (!connects(p[i]))
			continue;
		if (plans == 1) {
			connect(p[i]);
			continue;
		}
		started[i] = pthread_create(&thread[i], NULL, connect_elsewhere, p[i]) == 0;
		if (!started[i])
			nt_fake_leave(p[i]->comm->owner->job, NT_EXIT_TROUBLE,
				      "cannot start a thread");
	}
	for (unsigned i = 0; i < plans; i++) {
		if (started[i])
			pthread_join(thread[i], NULL);
	}
}

/* The proxy thread has work if kernel times are wanted or data crosses nodes. */
static bool has_proxy_ops(const struct nt_plan *p)
{
	if (p->comm->place.nodes > 1)
		return true;
	for (unsigned i = 0; i < p->tasks; i++) {
		if (p->task[i].mask & (int)NT_PROF_KERNEL_CH)
			return true;
	}
	for (unsigned i = 0; i < p->p2ps; i++) {
		if (p->p2p[i].mask & (int)NT_PROF_KERNEL_CH)
			return true;
	}
	return false;
}

void nt_plan_launch(struct nt_plan *p)
{
	struct nt_comm *c = p->comm;
	struct nt_wire_task task[NT_MAX_TASKS];
	uint64_t op;

	nt_gpu_reserve(c->gpu);
	op = publish(c, task, nt_plan_describe(p, task));
	/* With graphs alive and the host stream busy, events are left to CUDA's callback thread. */
	p->callback = c->graphs && has_proxy_ops(p) &&
		      nt_rng_unit(nt_rng_mix(c->owner->rank, op)) < 0.5;
	nt_pool_need(p);
	nt_event_launch_start(p);
	nt_event_launch_stop(p);
	if (!p->callback)
		nt_event_tasks_start(p);
	/* The proxy gets it between start and stop (enqueue.cc:1307@v2.28.9-1). */
	nt_gpu_push(c->gpu, p, op);
	if (!p->callback)
		nt_event_tasks_stop(p);
}

static void keep_graph(struct nt_plan *p)
{
	atomic_fetch_add(&p->references, 1);
	p->persistent = true;
	p->callback = has_proxy_ops(p);
	nt_pool_need(p);
	nt_event_launch_start(p);
	nt_event_launch_stop(p);
	/* Without work for the proxy its events are emitted here, once for all replays. */
	if (!p->callback) {
		nt_event_tasks_start(p);
		nt_event_tasks_stop(p);
	}
	p->next = p->comm->graphs;
	p->comm->graphs = p;
}

/* From 2.29 on NCCL merges Broadcasts with different roots into one AllGather, decides it as such,
 * and reports nothing to the profiler (src/scheduler/allgatherv_sched.cc:47@v2.30.7-1). */
static void gather(struct nt_plan *p)
{
	struct nt_task *t = &p->task[0];

	p->tasks = 1;
	t->coll = NT_ALLGATHER;
	t->bytes *= (unsigned)p->comm->place.ranks;
	t->mask = 0;
	t->group_api = t->coll_api = NULL;
	t->gathered = true;
}

static struct nt_plan *begin(struct nt_comm *c, const struct nt_call *call, unsigned calls,
			     enum nt_group_mode mode)
{
	struct nt_plan *p = calloc(1, sizeof(*p));
	struct nt_call part = call[0];

	if (!p)
		nt_fake_leave(c->owner->job, NT_EXIT_TROUBLE, "out of memory");
	p->comm = c;
	atomic_store(&p->references, 1);
	if (mode != NT_GROUP_GATHER) {
		for (unsigned i = 0; i < calls; i++)
			append(p, &call[i], mode == NT_GROUP_CAPTURE);
		return p;
	}
	part.coll = NT_BROADCAST;
	for (int root = 0; root < c->place.ranks && root < NT_MAX_TASKS; root++)
		append(p, &part, false);
	gather(p);
	return p;
}

void nt_group_run(struct nt_comm *const *c, unsigned comms, const struct nt_call *call,
		  unsigned calls, enum nt_group_mode mode)
{
	struct nt_plan *p[NT_MAX_RANKS];

	for (unsigned i = 0; i < comms; i++)
		p[i] = begin(c[i], call, calls, mode);
	nt_event_group_end();
	for (unsigned i = 0; i < comms; i++)
		decide(p[i]);
	if (mode != NT_GROUP_SIMULATE)
		connect_all(p, comms);
	for (unsigned i = 0; i < comms && mode != NT_GROUP_SIMULATE; i++) {
		if (mode == NT_GROUP_CAPTURE)
			keep_graph(p[i]);
		else
			nt_plan_launch(p[i]);
	}
	nt_event_group_done();
	for (unsigned i = 0; i < comms; i++)
		nt_plan_release(p[i]);
}

void nt_group_replay(struct nt_comm *c)
{
	struct nt_wire_task task[NT_MAX_TASKS];
	uint64_t op;

	nt_gpu_reserve(c->gpu);
	op = publish(c, task, nt_plan_describe(c->graphs, task));
	nt_gpu_push(c->gpu, c->graphs, op);
}
