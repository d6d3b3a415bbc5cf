/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.c - tests/fake/gpu.h on the streams of the simulated CUDA runtime */
#include "tests/fake/gpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/fake/kernel.h"
#include "tests/simlib/fault.h"
#include "tests/simlib/memory.h"
#include "tests/simlib/reduce.h"
#include "tests/simlib/sim.h"
#include "tests/simlib/stream.h"

struct nt_gpu {
	struct nt_rank *rank;
	struct nt_proxy *proxy;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned queued; /* lock */
	_Atomic bool quit;
	/* The group that is being launched: */
	struct ncclComm *owner;
	nt_stream stream;
	const struct nt_sim_call *call;
	unsigned calls;
};

struct job {
	struct nt_gpu *gpu;
	struct ncclComm *owner;
	struct nt_plan *plan; /* NULL: one rank, nothing to decide */
	uint64_t op;
	unsigned calls;
	struct nt_sim_call call[NT_MAX_TASKS];
};

struct nt_gpu *nt_gpu_create(struct nt_rank *r)
{
	struct nt_gpu *g = calloc(1, sizeof(*g));

	if (!g)
		nt_fake_leave(r->job, NT_EXIT_TROUBLE, "out of memory");
	g->rank = r;
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->changed, NULL);
	g->proxy = nt_proxy_create(r);
	return g;
}

void nt_gpu_destroy(struct nt_gpu *g)
{
	nt_gpu_sync(g);
	nt_proxy_destroy(g->proxy);
	pthread_cond_destroy(&g->changed);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

void nt_gpu_reserve(struct nt_gpu *g)
{
	unsigned room = g->rank->job->options->queue;

	pthread_mutex_lock(&g->lock);
	while (g->queued >= room)
		pthread_cond_wait(&g->changed, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

/* A rank that never makes the call. */
static void hang(const struct job *j)
{
	if (nt_sim_fault_hits(NT_SIM_HANG, j->plan) && nt_sim_fault_here(NT_SIM_HANG, j->owner) &&
	    (double)j->owner->calls >= nt_sim_fault_number(NT_SIM_HANG)) {
		while (!atomic_load(&j->gpu->quit))
			usleep(10000);
	}
}

static void run(struct job *j, struct nt_sim_span *span)
{
	struct nt_kernel k = {
		.plan = j->plan, .op = j->op, .quit = &j->gpu->quit, .proxy = j->gpu->proxy
	};
	bool wrong = nt_sim_fault_hits(NT_SIM_WRONG, j->plan);

	j->owner->calls++;
	k.factor = wrong ? nt_sim_fault_number(NT_SIM_WRONG) : 1;
	k.start_ns = span->ready_ns + nt_kernel_lateness_ns(j->plan->comm, j->op);
	hang(j);
	if (nt_kernel_run(&k) != NT_WIRE_OK)
		return;
	span->from_ns = k.latest_ns;
	span->end_ns = k.end_ns;
	span->wall_ns = nt_sim_wall_ns();
	wrong = wrong && nt_sim_fault_here(NT_SIM_WRONG, j->owner);
	for (unsigned i = 0; i < j->calls && !atomic_load(&j->gpu->quit); i++)
		nt_sim_move(j->owner, &j->call[i], wrong);
}

static void work(void *arg, struct nt_sim_span *span)
{
	struct job *j = arg;
	struct nt_gpu *g = j->gpu;

	if (j->plan) {
		if (!atomic_load(&g->quit))
			run(j, span);
		nt_plan_release(j->plan);
	} else {
		size_t bytes = nt_sim_shape(j->owner, j->call).send;

		nt_sim_memory_expect(j->call->send, bytes, "a collective");
		memmove(j->call->receive, j->call->send, bytes);
		nt_sim_memory_computed(j->call->receive, bytes);
	}
	free(j);
	pthread_mutex_lock(&g->lock);
	g->queued--;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

static void push(struct nt_gpu *g, struct nt_plan *p, uint64_t op)
{
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		nt_fake_leave(g->rank->job, NT_EXIT_TROUBLE, "out of memory");
	*j = (struct job){ .gpu = g, .owner = g->owner, .plan = p, .op = op, .calls = g->calls };
	memcpy(j->call, g->call, g->calls * sizeof(j->call[0]));
	pthread_mutex_lock(&g->lock);
	g->queued++;
	pthread_mutex_unlock(&g->lock);
	nt_sim_push(g->stream, work, j);
}

void nt_gpu_push(struct nt_gpu *g, struct nt_plan *p, uint64_t op)
{
	atomic_fetch_add(&p->references, 1);
	push(g, p, op);
}

uint64_t nt_gpu_sync(struct nt_gpu *g)
{
	pthread_mutex_lock(&g->lock);
	while (g->queued)
		pthread_cond_wait(&g->changed, &g->lock);
	pthread_mutex_unlock(&g->lock);
	return nt_sim_host_ns();
}

void nt_gpu_drain(struct nt_gpu *g)
{
	nt_proxy_drain(g->proxy);
}

void nt_gpu_hold(struct nt_gpu *g, bool held)
{
	nt_proxy_hold(g->proxy, held);
}

void nt_gpu_abandon(struct nt_gpu *g)
{
	atomic_store(&g->quit, true);
	nt_gpu_sync(g);
	nt_proxy_abandon(g->proxy);
}

static void set_group(struct ncclComm *c, const struct nt_sim_call *call, unsigned calls,
		      nt_stream stream)
{
	c->comm->gpu->owner = c;
	c->comm->gpu->stream = stream;
	c->comm->gpu->call = call;
	c->comm->gpu->calls = calls;
}

void nt_sim_launch(struct ncclComm *c, const struct nt_sim_call *call, unsigned calls,
		   nt_stream stream, enum nt_group_mode mode)
{
	struct nt_call fake[NT_MAX_TASKS];
	uint64_t spent_ns;

	for (unsigned i = 0; i < calls; i++) {
		size_t bytes = call[i].count * nt_sim_type_bytes(call[i].type);

		if (call[i].coll == NT_ALLGATHER || call[i].coll == NT_REDUCESCATTER)
			bytes *= c->job.ranks;
		fake[i] = (struct nt_call){ .coll = call[i].coll,
					    .bytes = bytes,
					    .datatype = nt_sim_type_name(call[i].type) };
	}
	set_group(c, call, calls, stream);
	spent_ns = c->rank.host_ns;
	nt_group_run(&c->comm, 1, fake, calls, mode);
	c->comm->calls++;
	/* The first use of an algorithm takes its time. */
	nt_sim_host_spend(c->rank.host_ns - spent_ns);
}

void nt_sim_tell(struct ncclComm *c, const struct nt_plan *p, const struct nt_sim_span *span)
{
	nt_kernel_tell_p2p(c->comm->gpu->proxy, p, span->ready_ns, span->from_ns,
			   (double)(span->end_ns - span->from_ns));
}

void nt_sim_copy(struct ncclComm *c, const struct nt_sim_call *call, nt_stream stream)
{
	set_group(c, call, 1, stream);
	push(c->comm->gpu, NULL, 0);
}
