/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.c - a stream's thread: takes plans in order, meets the other ranks, keeps the clock */
#include "tests/fake/gpu.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include "tests/fake/event.h"
#include "tests/fake/proxy.h"
#include "tests/fake/rng.h"
#include "tests/fake/sum.h"

#define LAUNCH_NS 4000 /* from the host's call to the kernel's first instruction */
#define RUN_GAP_NS 1000 /* between kernels of a group */

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

/* Run by the last rank that comes, on its GPU thread, while all others wait. */
static void resolve(void *arg, uint64_t op, const struct nt_wire_task *task, unsigned tasks,
		    struct nt_wire_result *result, uint32_t *cursor)
{
	const struct nt_comm *c = arg;
	const struct nt_job *j = c->owner->job;

	for (unsigned i = 0; i < tasks; i++) {
		unsigned run = task[i].run;
		struct nt_run r = {
			.coll = task[i].coll,
			.op = op,
			.round = task[i].round,
			.auto_arm = task[i].auto_arm,
			.arm = task[i].algo * NT_PROTOS + task[i].proto,
			.cap = task[i].cap,
			.chunk_bytes = task[i].chunk_bytes,
			.key = nt_rng_mix(nt_rng_mix(j->options->seed, op), c->id ^ run),
		};

		if (result->run_ns[run])
			continue;
		for (unsigned k = i; k < tasks; k++)
			r.bytes += task[k].run == run ? task[k].bytes : 0;
		result->run_ns[run] = nt_model_duration_ns(&j->model, &c->place, &r, cursor);
	}
}

static void sleep_ns(double ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns * 1e-9), .tv_nsec = (long)fmod(ns, 1e9) };

	nanosleep(&t, NULL);
}

/* When this rank's kernel begins to wait for its peers. */
static uint64_t start_of(struct nt_gpu *g, const struct job *j)
{
	const struct nt_options *o = g->rank->job->options;
	uint64_t launched_ns = j->host_ns + LAUNCH_NS;
	uint64_t key = nt_rng_mix(nt_rng_mix(o->seed, j->op),
				  j->plan->comm->id + g->rank->rank + 7);
	uint64_t ready_ns;

	pthread_mutex_lock(&g->lock);
	ready_ns = g->clock_ns > launched_ns ? g->clock_ns : launched_ns;
	pthread_mutex_unlock(&g->lock);
	return ready_ns + (uint64_t)(1e3 * nt_rng_exponential(key, o->lateness_us));
}

/* Tells summary and proxy what ran when; returns the end. */
static uint64_t account(struct nt_gpu *g, const struct job *j, uint64_t start_ns,
			const struct nt_wire_result *r)
{
	struct nt_plan *p = j->plan;
	uint64_t from_ns = start_ns;
	uint64_t end_ns = r->latest_ns;

	for (unsigned run = 0; run < NT_MAX_TASKS && r->run_ns[run]; run++) {
		end_ns += r->run_ns[run];
		for (unsigned i = 0; i < p->tasks; i++) {
			const struct nt_task *t = &p->task[i];

			if (t->run != run)
				continue;
			if (!t->gathered)
				nt_sum_ran(g->rank->sum, p->comm->kind, t,
					   (double)r->run_ns[run] * 1e-3);
			if ((!t->symmetric || g->rank->job->release->code >= NT_RELEASE_TUNING) &&
			    (t->mask & (int)NT_PROF_KERNEL_CH))
				nt_proxy_tell(g->proxy, p->comm, t, from_ns, end_ns);
		}
		from_ns = end_ns + RUN_GAP_NS;
		end_ns = from_ns;
	}
	return end_ns;
}

/* What its arms cost those who come next. */
static uint64_t drag_of(const struct nt_plan *p)
{
	const struct nt_drag *drag = &p->comm->owner->job->options->drag;
	uint64_t ns = 0;

	for (unsigned i = 0; drag->us > 0 && i < p->tasks; i++)
		ns += p->task[i].arm == drag->arm ? (uint64_t)(drag->us * 1000) : 0;
	return ns;
}

/* What the program computes first. */
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
	struct nt_comm *c = j->plan->comm;
	struct nt_wire_call call = { .op = j->op, .resolve = resolve, .arg = c, .quit = &g->quit };
	struct nt_wire_result result;
	enum nt_wire_end end;
	uint64_t end_ns;

	if (j->plan->callback) {
		nt_event_tasks_start(j->plan);
		nt_event_tasks_stop(j->plan);
	}
	compute(g, j);
	call.start_ns = start_of(g, j);
	end = nt_wire_meet(c->wire, c->rank, &call, &result);
	nt_fake_expect(c, end, "a collective");
	if (end == NT_WIRE_QUIT || atomic_load(&g->quit))
		return;
	end_ns = account(g, j, call.start_ns, &result) + g->owed_ns;
	g->owed_ns = drag_of(j->plan);
	if (g->rank->job->options->realtime > 0)
		sleep_ns((double)(end_ns - call.start_ns) * g->rank->job->options->realtime);
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
		/* The host was held up until that launch had run. */
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
