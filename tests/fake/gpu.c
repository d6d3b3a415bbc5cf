/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.c - a stream's thread: runs plans in order with the other ranks, and advances the clock */
#include "tests/fake/gpu.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include "tests/fake/event.h"
#include "tests/fake/kernel.h"

#define LAUNCH_NS 4000 /* from the host's call to the kernel's first instruction */

struct job {
	struct nt_plan *plan;
	uint64_t op;
	uint64_t host_ns;
	uint64_t compute_ns; /* before it, on the same GPU */
};

struct nt_gpu {
	struct nt_rank *rank;
	struct nt_proxy *proxy;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job queue[NT_MAX_QUEUE]; /* lock */
	unsigned first, queued; /* lock; queue[first] is running */
	bool leaving; /* lock */
	_Atomic bool quit;
	uint64_t clock_ns; /* lock */
	uint64_t owed_ns; /* by the next plan, beyond its own time */
};

static void sleep_ns(double ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns * 1e-9), .tv_nsec = (long)fmod(ns, 1e9) };

	nanosleep(&t, NULL);
}

/* When this rank's kernel begins to wait for its peers. */
static uint64_t start_of(struct nt_gpu *g, const struct job *j)
{
	uint64_t launched_ns = j->host_ns + LAUNCH_NS;
	uint64_t ready_ns;

	pthread_mutex_lock(&g->lock);
	ready_ns = g->clock_ns > launched_ns ? g->clock_ns : launched_ns;
	pthread_mutex_unlock(&g->lock);
	return ready_ns + nt_kernel_lateness_ns(j->plan->comm, j->op);
}

/* The cost of its arms for the next plan. */
static uint64_t drag_of(const struct nt_plan *p)
{
	const struct nt_drag *drag = &p->comm->owner->job->options->drag;
	uint64_t ns = 0;

	for (unsigned i = 0; drag->us > 0 && i < p->tasks; i++)
		ns += p->task[i].arm == drag->arm ? (uint64_t)(drag->us * 1000) : 0;
	return ns;
}

/* The program's computing before it. */
static void compute(struct nt_gpu *g, const struct job *j)
{
	uint64_t launched_ns = j->host_ns + LAUNCH_NS;
	double realtime = g->rank->job->options->realtime;

	if (!j->compute_ns)
		return;
	if (realtime > 0)
		sleep_ns((double)j->compute_ns * realtime);
	pthread_mutex_lock(&g->lock);
	g->clock_ns = (g->clock_ns > launched_ns ? g->clock_ns : launched_ns) + j->compute_ns;
	pthread_mutex_unlock(&g->lock);
}

static void run(struct nt_gpu *g, const struct job *j)
{
	double realtime = g->rank->job->options->realtime;
	struct nt_kernel k = { .plan = j->plan, .op = j->op, .quit = &g->quit, .proxy = g->proxy };
	uint64_t end_ns;

	if (j->plan->callback) {
		nt_event_tasks_start(j->plan);
		nt_event_tasks_stop(j->plan);
	}
	compute(g, j);
	k.start_ns = start_of(g, j);
	if (nt_kernel_run(&k) != NT_WIRE_OK)
		return;
	end_ns = k.end_ns + g->owed_ns;
	g->owed_ns = drag_of(j->plan);
	if (realtime > 0)
		sleep_ns((double)(end_ns - k.start_ns) * realtime);
	pthread_mutex_lock(&g->lock);
	g->clock_ns = end_ns;
	pthread_mutex_unlock(&g->lock);
}

static void *work(void *arg)
{
	struct nt_gpu *g = arg;

	pthread_mutex_lock(&g->lock);
	while (true) {
		struct job j;

		while (!g->queued && !g->leaving)
			pthread_cond_wait(&g->changed, &g->lock);
		if (!g->queued)
			break;
		j = g->queue[g->first];
		pthread_mutex_unlock(&g->lock);
		if (!atomic_load(&g->quit))
			run(g, &j);
		nt_plan_release(j.plan);
		pthread_mutex_lock(&g->lock);
		g->first = (g->first + 1) % NT_MAX_QUEUE;
		g->queued--;
		pthread_cond_broadcast(&g->changed);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

struct nt_gpu *nt_gpu_create(struct nt_rank *r)
{
	struct nt_gpu *g = calloc(1, sizeof(*g));

	if (!g)
		nt_fake_leave(r->job, NT_EXIT_TROUBLE, "out of memory");
	g->rank = r;
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->changed, NULL);
	g->proxy = nt_proxy_create(r);
	if (pthread_create(&g->thread, NULL, work, g) != 0)
		nt_fake_leave(r->job, NT_EXIT_TROUBLE, "cannot start a thread");
	return g;
}

void nt_gpu_destroy(struct nt_gpu *g)
{
	pthread_mutex_lock(&g->lock);
	g->leaving = true;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
	pthread_join(g->thread, NULL);
	nt_proxy_destroy(g->proxy);
	pthread_cond_destroy(&g->changed);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

void nt_gpu_reserve(struct nt_gpu *g)
{
	unsigned room = g->rank->job->options->queue;

	pthread_mutex_lock(&g->lock);
	while (g->queued >= room) {
		pthread_cond_wait(&g->changed, &g->lock);
		/* The host was blocked until that launch had run. */
		if (g->clock_ns > g->rank->host_ns)
			g->rank->host_ns = g->clock_ns;
	}
	pthread_mutex_unlock(&g->lock);
}

void nt_gpu_push(struct nt_gpu *g, struct nt_plan *p, uint64_t op)
{
	atomic_fetch_add(&p->references, 1);
	pthread_mutex_lock(&g->lock);
	g->queue[(g->first + g->queued) % NT_MAX_QUEUE] = (struct job){
		.plan = p,
		.op = op,
		.host_ns = g->rank->host_ns,
		.compute_ns = g->rank->compute_ns,
	};
	g->rank->compute_ns = 0;
	g->queued++;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

uint64_t nt_gpu_sync(struct nt_gpu *g)
{
	uint64_t clock_ns;

	pthread_mutex_lock(&g->lock);
	while (g->queued)
		pthread_cond_wait(&g->changed, &g->lock);
	clock_ns = g->clock_ns;
	pthread_mutex_unlock(&g->lock);
	return clock_ns;
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
