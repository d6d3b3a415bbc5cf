/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* proxy.c - reports kernel times late, from a thread of its own, and loses some when told to */
#include "tests/fake/proxy.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "tests/fake/event.h"
#include "tests/fake/rng.h"

#define TICK_NS 32 /* resolution of GPU time stamps, as measured on H200 */
#define BEHIND_US 20 /* delay of the thread */

struct item {
	struct nt_comm *comm;
	void *coll_event;
	int channels;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t number;
};

struct nt_proxy {
	struct nt_rank *rank;
	uint64_t offset_ns; /* of this GPU's clock */
	pthread_t thread[NT_MAX_PROFILERS];
	unsigned threads;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct item *item; /* lock: grows */
	size_t items, room, taken; /* lock */
	unsigned busy; /* lock */
	bool held, leaving; /* lock */
	uint64_t told; /* lock */
};

static bool lost(const struct nt_proxy *p, const struct item *it, int channel, int what)
{
	const struct nt_options *o = p->rank->job->options;

	return o->drop_kernelch > 0 &&
	       nt_rng_unit(nt_rng_mix(o->seed ^ 0x70,
				      it->number * 131 + (uint64_t)channel * 2 + (uint64_t)what +
					      (p->rank->rank << 20))) < o->drop_kernelch;
}

/* Channels start within some ticks of each other, and stop likewise; the extremes are exact. */
static uint64_t stamp(const struct nt_proxy *p, uint64_t ns)
{
	return p->offset_ns + ns / TICK_NS * TICK_NS;
}

static void report(struct nt_proxy *p, const struct item *it)
{
	void *event[NT_MAX_CHANNELS] = { NULL };

	/* First every channel's start, then every stop, as if the thread lags. */
	for (int ch = 0; ch < it->channels; ch++) {
		if (!lost(p, it, ch, 0))
			event[ch] = nt_event_kernel_start(it->comm, it->coll_event, ch,
							  stamp(p, it->start_ns) +
								  (uint64_t)(ch % 4) * TICK_NS);
	}
	for (int ch = 0; ch < it->channels; ch++) {
		if (event[ch] && !lost(p, it, ch, 1))
			nt_event_kernel_stop(event[ch],
					     stamp(p, it->end_ns) - (uint64_t)(ch % 3) * TICK_NS);
	}
}

static void *work(void *arg)
{
	struct nt_proxy *p = arg;

	pthread_mutex_lock(&p->lock);
	while (true) {
		struct item it;

		while ((p->taken == p->items || p->held) && !p->leaving)
			pthread_cond_wait(&p->changed, &p->lock);
		if (p->taken == p->items || p->held)
			break;
		it = p->item[p->taken++];
		if (p->taken == p->items)
			p->taken = p->items = 0;
		p->busy++;
		pthread_mutex_unlock(&p->lock);
		usleep(BEHIND_US);
		report(p, &it);
		pthread_mutex_lock(&p->lock);
		p->busy--;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

struct nt_proxy *nt_proxy_create(struct nt_rank *r)
{
	struct nt_proxy *p = calloc(1, sizeof(*p));
	uint64_t key = nt_rng_mix(r->job->options->seed, r->gpu + 1);

	if (!p)
		nt_fake_leave(r->job, NT_EXIT_TROUBLE, "out of memory");
	p->rank = r;
	/* Looks like nanoseconds since the epoch, and differs between GPUs by up to an hour. */
	p->offset_ns = (UINT64_C(1760000000000000000) + key % UINT64_C(3600000000000)) / TICK_NS *
		       TICK_NS;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	for (; p->threads < r->job->options->profiler_threads; p->threads++) {
		if (pthread_create(&p->thread[p->threads], NULL, work, p) != 0)
			nt_fake_leave(r->job, NT_EXIT_TROUBLE, "cannot start a thread");
	}
	return p;
}

void nt_proxy_destroy(struct nt_proxy *p)
{
	pthread_mutex_lock(&p->lock);
	p->leaving = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->threads; i++)
		pthread_join(p->thread[i], NULL);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p->item);
	free(p);
}

static void append(struct nt_proxy *p, const struct item *it)
{
	if (p->items == p->room) {
		p->room = p->room ? 2 * p->room : 256;
		p->item = realloc(p->item, p->room * sizeof(p->item[0]));
		if (!p->item)
			nt_fake_leave(p->rank->job, NT_EXIT_TROUBLE, "out of memory");
	}
	p->item[p->items++] = *it;
}

void nt_proxy_tell(struct nt_proxy *p, struct nt_comm *c, const struct nt_task *t,
		   uint64_t start_ns, uint64_t end_ns)
{
	nt_proxy_tell_event(p, c, t->event, t->channels, start_ns, end_ns);
}

void nt_proxy_tell_event(struct nt_proxy *p, struct nt_comm *c, void *event, int channels,
			 uint64_t start_ns, uint64_t end_ns)
{
	struct item it = { .comm = c,
			   .coll_event = event,
			   .channels = channels,
			   .start_ns = start_ns,
			   .end_ns = end_ns };

	pthread_mutex_lock(&p->lock);
	it.number = p->told++;
	append(p, &it);
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

void nt_proxy_drain(struct nt_proxy *p)
{
	pthread_mutex_lock(&p->lock);
	while ((p->taken < p->items && !p->held) || p->busy)
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

void nt_proxy_hold(struct nt_proxy *p, bool held)
{
	pthread_mutex_lock(&p->lock);
	p->held = held;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

void nt_proxy_abandon(struct nt_proxy *p)
{
	pthread_mutex_lock(&p->lock);
	p->items = p->taken = 0;
	while (p->busy)
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
}
