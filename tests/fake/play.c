/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fake/play.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "tests/fake/family.h"
#include "tests/fake/gpu.h"
#include "tests/fake/p2p.h"
#include "tests/fake/rng.h"
#include "tests/fake/sum.h"

#define LATE_CALLS 8 /* calls whose kernel times arrive after a finalize */

struct player {
	struct nt_job *job;
	struct nt_family *family; /* one for each rank */
	unsigned ranks;
	struct nt_call call[NT_MAX_CALLS];
	unsigned calls; /* in a round */
	uint64_t last_call; /* of each rank */
};

static const struct nt_options *options_of(const struct player *p)
{
	return p->job->options;
}

static void make_calls(struct player *p)
{
	const struct nt_options *o = options_of(p);

	for (unsigned c = 0; c < o->colls; c++) {
		for (unsigned n = 0; n < o->sizes; n++) {
			for (unsigned k = 0; k < o->repeat[n]; k++)
				p->call[p->calls++] = (struct nt_call){
					.coll = o->coll[c],
					.bytes = o->size_bytes[n],
					.key = (int)(c * NT_MAX_SIZES + n),
				};
		}
	}
}

/* The same order on all ranks. */
static void shuffle(struct player *p, uint64_t round)
{
	for (unsigned i = p->calls - 1; i > 0; i--) {
		unsigned k = (unsigned)(nt_rng_mix(options_of(p)->seed + round, i) % (i + 1));
		struct nt_call t = p->call[i];

		p->call[i] = p->call[k];
		p->call[k] = t;
	}
}

static bool is_due(const struct nt_rank *r, const struct nt_when *w)
{
	return (int)r->rank == w->rank && r->calls == w->call;
}

static bool every(uint64_t now, uint64_t calls)
{
	return calls && now % calls == 0;
}

static bool near_end(const struct player *p, const struct nt_rank *r)
{
	return r->calls + LATE_CALLS > p->last_call;
}

static void faults(struct player *p, struct nt_comm *c, const struct nt_call *call, unsigned calls)
{
	const struct nt_options *o = options_of(p);
	const struct nt_rank *r = c->owner;

	if (is_due(r, &o->kill))
		kill(getpid(), SIGKILL);
	if (is_due(r, &o->exit))
		_exit(NT_EXIT_ASKED);
	while (is_due(r, &o->stuck))
		pause();
	if ((int)r->rank == o->simulate.rank && every(r->calls, o->simulate.call))
		nt_group_run(&c, 1, call, calls, NT_GROUP_SIMULATE);
	if (o->ras.call && (nt_load_mask_now() & (int)NT_PROF_KERNEL_CH) &&
	    ++c->owner->measured == o->ras.call + r->rank)
		nt_load_ras(o->ras.mask);
	/* Held until a finalize; never reported if the communicator is aborted. */
	if ((o->late_kernelch || o->abort) && near_end(p, r)) {
		nt_gpu_drain(c->gpu); /* the calls before it do not depend on how busy the host
				       * is */
		nt_gpu_hold(c->gpu, true);
	}
}

static void run_group(struct player *p, struct nt_comm *const *c, unsigned comms,
		      const struct nt_call *call, unsigned calls)
{
	const struct nt_options *o = options_of(p);
	uint64_t now = c[0]->calls;

	if (every(now, o->fail_every))
		nt_group_run(c, comms, call, calls, NT_GROUP_SIMULATE);
	if (every(now, o->gather_every))
		nt_group_run(c, comms, call, calls, NT_GROUP_GATHER);
	if (!every(now, o->capture_every)) {
		nt_group_run(c, comms, call, calls, NT_GROUP_RUN);
		return;
	}
	nt_group_run(c, comms, call, calls, NT_GROUP_CAPTURE);
	for (unsigned i = 0; i < o->replays; i++) {
		for (unsigned k = 0; k < comms; k++)
			nt_group_replay(c[k]);
	}
}

/* Collects the communicators of that split of all ranks; returns their number. */
static unsigned active(const struct player *p, unsigned split, struct nt_comm **c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->ranks; i++) {
		c[n] = nt_family_active(&p->family[i], split);
		n += c[n] != NULL;
	}
	return n;
}

/* Makes calls from number `at` on, on communicators of one split; returns their number. */
static unsigned one_call(struct player *p, unsigned split, unsigned at)
{
	const struct nt_options *o = options_of(p);
	struct timespec gap = { .tv_sec = (time_t)(o->call_gap_us / 1000000),
				.tv_nsec = (long)(o->call_gap_us % 1000000) * 1000 };
	unsigned calls = p->calls - at < o->group ? p->calls - at : o->group;
	struct nt_comm *c[NT_MAX_RANKS];
	unsigned comms = active(p, split, c);
	const struct nt_rank *first;

	if (!comms)
		return calls;
	if (o->call_gap_us)
		nanosleep(&gap, NULL);
	for (unsigned i = 0; i < comms; i++) {
		c[i]->calls++;
		c[i]->owner->calls++;
		c[i]->owner->host_ns += o->call_gap_us * 1000;
		faults(p, c[i], &p->call[at], calls);
	}
	run_group(p, c, comms, &p->call[at], calls);
	first = c[0]->owner;
	/* ncclCommAbort finds work in flight. */
	if (o->interleave || o->abort_every.rounds || (o->abort && near_end(p, first)))
		return calls;
	for (unsigned i = 0; i < comms && every(first->calls, o->sync_every); i++) {
		uint64_t clock_ns = nt_gpu_sync(c[i]->gpu);

		if (clock_ns > c[i]->owner->host_ns)
			c[i]->owner->host_ns = clock_ns;
	}
	return calls;
}

static void sync_all(struct player *p)
{
	for (unsigned i = 0; i < p->ranks; i++)
		nt_family_sync(&p->family[i]);
}

static void send_all(struct player *p, const struct nt_sends *sends)
{
	struct nt_comm *c[NT_MAX_RANKS];

	for (unsigned s = 0; s < options_of(p)->splits; s++) {
		unsigned comms = active(p, s, c);

		for (unsigned i = 0; comms && i < sends->calls; i++)
			nt_p2p_run(c, comms, sends->kind, sends->bytes);
	}
}

static void round_in_order(struct player *p)
{
	const struct nt_options *o = options_of(p);

	for (unsigned at = 0; at < p->calls; at += o->group) {
		for (unsigned s = 0; s < o->splits; s++)
			one_call(p, s, at);
	}
	for (unsigned i = 0; i < o->p2ps; i++)
		send_all(p, &o->p2p[i]);
}

/* Each communicator's calls are in order; the order of communicators is this process's own. No
 * stream is waited for before all have their calls. */
static void round_interleaved(struct player *p, uint64_t round)
{
	const struct nt_options *o = options_of(p);
	uint64_t key = nt_rng_mix(o->seed + p->family[0].rank.rank, round);
	unsigned at[NT_MAX_SPLITS] = { 0 };
	uint64_t step = 0;

	for (unsigned done = 0; done < o->splits;) {
		unsigned s = (unsigned)(nt_rng_mix(key, step++) % o->splits);

		if (at[s] >= p->calls)
			continue;
		at[s] += one_call(p, s, at[s]);
		done += at[s] >= p->calls;
	}
	/* ncclCommAbort finds work in flight. */
	if (!o->abort_every.rounds && o->sync_every && (round + 1) % o->sync_every == 0)
		sync_all(p);
}

struct maker {
	pthread_t thread;
	struct nt_family *family;
	unsigned first;
};

static void *make(void *arg)
{
	struct maker *m = arg;

	nt_family_create(m->family, m->first);
	return NULL;
}

/* One thread for each rank: ncclCommInitRank of several ranks in one group (group.cc@v2.28.9-1). */
static void create(struct player *p, unsigned first)
{
	struct maker m[NT_MAX_RANKS];

	if (p->ranks == 1) {
		nt_family_create(&p->family[0], first);
		return;
	}
	for (unsigned i = 0; i < p->ranks; i++) {
		m[i] = (struct maker){ .family = &p->family[i], .first = first };
		if (pthread_create(&m[i].thread, NULL, make, &m[i]) != 0)
			nt_fake_leave(p->job, NT_EXIT_TROUBLE, "cannot start a thread");
	}
	for (unsigned i = 0; i < p->ranks; i++)
		pthread_join(m[i].thread, NULL);
}

/* Replaces communicators by new ones. */
static void renew(struct player *p, bool abort)
{
	unsigned first = abort || options_of(p)->splits == 1 ? 0 : 1;

	if (!abort)
		sync_all(p);
	for (unsigned i = 0; i < p->ranks; i++) {
		nt_family_destroy(&p->family[i], first, abort);
		p->family[i].generation++;
	}
	create(p, first);
}

static bool is_renewed(const struct nt_renewal *r, uint64_t round)
{
	return r->rounds && round && round % r->rounds == 0 && round / r->rounds <= r->times;
}

/* One of the ranks of this process, waiting for the others. */
struct meeting {
	pthread_t thread;
	struct nt_family *family;
	unsigned look;
	bool busy;
};

static void *look(void *arg)
{
	struct meeting *m = arg;

	m->busy = nt_family_busy(m->family, m->look);
	return NULL;
}

static void *meet(void *arg)
{
	struct meeting *m = arg;

	nt_family_meet(m->family);
	return NULL;
}

/* Done by all ranks of the job; all get the same answer. */
static bool all_meet(struct player *p, void *(*how)(void *), unsigned number)
{
	struct meeting m[NT_MAX_RANKS];

	for (unsigned i = 0; i < p->ranks; i++) {
		m[i] = (struct meeting){ .family = &p->family[i], .look = number };
		if (pthread_create(&m[i].thread, NULL, how, &m[i]) != 0)
			nt_fake_leave(p->job, NT_EXIT_TROUBLE, "cannot start a thread");
	}
	for (unsigned i = 0; i < p->ranks; i++)
		pthread_join(m[i].thread, NULL);
	return m[p->ranks - 1].busy;
}

/* Is this the last round? Equal on all ranks. */
static bool is_over(struct player *p, uint64_t round)
{
	const struct nt_options *o = options_of(p);
	uint64_t more = round - o->iters;

	if (round < o->iters || (more < o->more && more % NT_MORE_ROUNDS != 0))
		return false;
	return more >= o->more || !all_meet(p, look, (unsigned)(more / NT_MORE_ROUNDS));
}

static void begin_round(struct player *p, uint64_t round)
{
	for (unsigned i = 0; i < p->ranks; i++) {
		p->family[i].rank.round = round;
		p->family[i].rank.compute_ns = nt_model_compute_ns(&p->job->model, round);
	}
}

static double wall_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void all_rounds(struct player *p)
{
	const struct nt_options *o = options_of(p);

	for (uint64_t round = 0; !is_over(p, round); round++) {
		uint64_t from_ns;
		double from_us;

		if (is_renewed(&o->abort_every, round))
			renew(p, true);
		else if (is_renewed(&o->churn, round))
			renew(p, false);
		if (o->shuffle)
			shuffle(p, round);
		begin_round(p, round);
		from_ns = p->family[0].rank.host_ns;
		from_us = wall_us();
		if (o->interleave)
			round_interleaved(p, round);
		else
			round_in_order(p);
		/* Otherwise the host does not know when a round has ended. */
		if (o->sync_every == 1 && !o->interleave)
			nt_sum_round(p->family[0].rank.sum,
				     (double)(p->family[0].rank.host_ns - from_ns) * 1e-3,
				     wall_us() - from_us);
	}
	if (!o->abort)
		sync_all(p);
}

/* Waits for all ranks of the job; they then know each other's nodes. */
static void join(struct player *p)
{
	(void)all_meet(p, meet, 0);
	create(p, 0);
	for (unsigned s = 0; s < options_of(p)->splits; s++) {
		if (nt_family_active(&p->family[0], s))
			p->last_call += options_of(p)->iters *
					((p->calls + options_of(p)->group - 1) /
					 options_of(p)->group);
	}
}

static int leave(struct player *p)
{
	const struct nt_options *o = options_of(p);
	int rc = NT_EXIT_OK;

	for (unsigned i = 0; i < p->ranks; i++)
		nt_sum_loaded(p->family[i].rank.sum, p->family[i].rank.rank);
	for (unsigned i = 0; i < p->ranks; i++) {
		if (o->no_destroy)
			nt_family_free(&p->family[i]);
		else
			nt_family_destroy(&p->family[i], 0, o->abort);
	}
	for (unsigned i = 0; i < p->ranks; i++) {
		struct nt_rank *r = &p->family[i].rank;

		nt_sum_publish(r->sum, r->rank, r->calls);
	}
	for (unsigned i = 0; i < p->ranks; i++) {
		struct nt_rank *r = &p->family[i].rank;

		if (r->rank == 0)
			rc = nt_sum_print(r->sum);
		nt_sum_destroy(r->sum);
	}
	return rc;
}

int nt_play(struct nt_job *job, const struct nt_slot_of_rank *seat, unsigned seats)
{
	struct player p = { .job = job, .ranks = seats };
	int rc;

	p.family = calloc(seats, sizeof(p.family[0]));
	if (!p.family)
		nt_fake_leave(job, NT_EXIT_TROUBLE, "out of memory");
	make_calls(&p);
	for (unsigned i = 0; i < seats; i++) {
		struct nt_rank *r = &p.family[i].rank;

		r->job = job;
		r->rank = r->gpu = seat[i].rank;
		r->node = seat[i].node;
		r->sum = nt_sum_create(job);
	}
	join(&p);
	all_rounds(&p);
	rc = leave(&p);
	free(p.family);
	return rc;
}
