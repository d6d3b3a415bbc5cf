/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simlib/stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SECOND_NS 1000000000u
#define LAUNCH_NS 4000 /* from the host's call to the first instruction on the GPU */
#define CALL_NS 2000 /* of the host, for each launch */
#define SLACK_NS 2000000 /* largest delay that following work makes up for */
#define QUEUE 1024 /* launches ahead of the GPU */

struct item {
	nt_sim_work work;
	void *arg;
	uint64_t host_ns;
	struct item *next;
};

struct CUstream_st {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct item *first, **last; /* lock */
	unsigned queued; /* lock; with the current one */
	bool leaving; /* lock */
	bool independent;
	uint64_t clock_ns; /* lock */
	uint64_t due_ns; /* the stream's thread: real time at the end of its last work */
	nt_stream next; /* streams.lock */
};

static struct {
	pthread_mutex_t lock;
	nt_stream first; /* lock */
	_Atomic uint64_t host_ns;
} streams = { .lock = PTHREAD_MUTEX_INITIALIZER };

static nt_stream default_stream;
static pthread_once_t default_once = PTHREAD_ONCE_INIT;

uint64_t nt_sim_wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

uint64_t nt_sim_host_ns(void)
{
	return atomic_load(&streams.host_ns);
}

void nt_sim_host_spend(uint64_t ns)
{
	atomic_fetch_add(&streams.host_ns, ns);
}

static void host_waited_until(uint64_t ns)
{
	uint64_t now = atomic_load(&streams.host_ns);

	while (now < ns && !atomic_compare_exchange_weak(&streams.host_ns, &now, ns))
		;
}

static double realtime(void)
{
	const char *text = getenv("NT_SIM_REALTIME");

	return text && *text ? strtod(text, NULL) : 1;
}

static void sleep_until(uint64_t due_ns)
{
	struct timespec t = { .tv_sec = (time_t)(due_ns / SECOND_NS),
			      .tv_nsec = (long)(due_ns % SECOND_NS) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Waits in real time, too. at_once: it follows other work without a pause. */
static void pace(nt_stream s, const struct nt_sim_span *span, bool at_once)
{
	uint64_t base_ns = span->wall_ns;

	if (at_once && s->due_ns < base_ns && base_ns - s->due_ns < SLACK_NS)
		base_ns = s->due_ns;
	s->due_ns = base_ns + (uint64_t)((double)(span->end_ns - span->from_ns) * realtime());
	sleep_until(s->due_ns);
}

static void do_item(nt_stream s, struct item *it, bool at_once)
{
	struct nt_sim_span span = { .ready_ns = it->host_ns + LAUNCH_NS };

	pthread_mutex_lock(&s->lock);
	if (s->clock_ns > span.ready_ns)
		span.ready_ns = s->clock_ns;
	pthread_mutex_unlock(&s->lock);
	span.from_ns = span.end_ns = span.ready_ns;
	span.wall_ns = nt_sim_wall_ns();
	it->work(it->arg, &span);
	if (span.end_ns > span.from_ns)
		pace(s, &span, at_once);
	pthread_mutex_lock(&s->lock);
	s->clock_ns = span.end_ns;
	pthread_mutex_unlock(&s->lock);
	free(it);
}

static void *work(void *arg)
{
	nt_stream s = arg;
	bool at_once = false;

	pthread_mutex_lock(&s->lock);
	while (true) {
		struct item *it;

		while (!s->first && !s->leaving) {
			at_once = false;
			pthread_cond_wait(&s->changed, &s->lock);
		}
		it = s->first;
		if (!it)
			break;
		s->first = it->next;
		if (!s->first)
			s->last = &s->first;
		pthread_mutex_unlock(&s->lock);
		do_item(s, it, at_once);
		at_once = true;
		pthread_mutex_lock(&s->lock);
		s->queued--;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

nt_stream nt_sim_stream_create(bool independent)
{
	nt_stream s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	s->last = &s->first;
	s->independent = independent;
	if (pthread_create(&s->thread, NULL, work, s) != 0) {
		free(s);
		return NULL;
	}
	pthread_mutex_lock(&streams.lock);
	s->next = streams.first;
	streams.first = s;
	pthread_mutex_unlock(&streams.lock);
	return s;
}

static void make_default(void)
{
	default_stream = nt_sim_stream_create(false);
	if (!default_stream) {
		fprintf(stderr, "simulated CUDA: cannot start a thread\n");
		_Exit(1);
	}
}

static nt_stream real(nt_stream stream)
{
	/* 1 and 2 are CUDA's names of the default stream. */
	if ((uintptr_t)stream > 2)
		return stream;
	pthread_once(&default_once, make_default);
	return default_stream;
}

static void wait_empty(nt_stream s)
{
	uint64_t clock_ns;

	pthread_mutex_lock(&s->lock);
	while (s->queued)
		pthread_cond_wait(&s->changed, &s->lock);
	clock_ns = s->clock_ns;
	pthread_mutex_unlock(&s->lock);
	host_waited_until(clock_ns);
}

/* The default stream and those that are not independent wait for each other. */
static void order(nt_stream s)
{
	if (s->independent)
		return;
	pthread_mutex_lock(&streams.lock);
	for (nt_stream o = streams.first; o; o = o->next) {
		if (o != s && !o->independent && (o == default_stream || s == default_stream))
			wait_empty(o);
	}
	pthread_mutex_unlock(&streams.lock);
}

void nt_sim_push(nt_stream stream, nt_sim_work function, void *arg)
{
	nt_stream s = real(stream);
	struct item *it = calloc(1, sizeof(*it));

	if (!it) {
		fprintf(stderr, "simulated CUDA: out of memory\n");
		_Exit(1);
	}
	order(s);
	*it = (struct item){ .work = function, .arg = arg };
	pthread_mutex_lock(&s->lock);
	while (s->queued >= QUEUE) {
		pthread_cond_wait(&s->changed, &s->lock);
		host_waited_until(s->clock_ns);
	}
	it->host_ns = atomic_fetch_add(&streams.host_ns, CALL_NS);
	*s->last = it;
	s->last = &it->next;
	s->queued++;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

void nt_sim_stream_wait(nt_stream stream)
{
	nt_stream s = real(stream);

	if (s == default_stream)
		order(s);
	wait_empty(s);
}

bool nt_sim_stream_idle(nt_stream stream)
{
	nt_stream s = real(stream);
	bool idle;

	pthread_mutex_lock(&s->lock);
	idle = s->queued == 0;
	pthread_mutex_unlock(&s->lock);
	return idle;
}

void nt_sim_stream_wait_all(void)
{
	pthread_mutex_lock(&streams.lock);
	for (nt_stream s = streams.first; s; s = s->next)
		wait_empty(s);
	pthread_mutex_unlock(&streams.lock);
}

void nt_sim_stream_destroy(nt_stream s)
{
	nt_stream *at = &streams.first;

	pthread_mutex_lock(&s->lock);
	s->leaving = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	pthread_mutex_lock(&streams.lock);
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	pthread_mutex_unlock(&streams.lock);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
