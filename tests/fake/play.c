/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* play.c - a rank's program */
#include "tests/fake/play.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/fake/gpu.h"
#include "tests/fake/rng.h"
#include "tests/fake/sum.h"

#define LATE_CALLS 8 /* calls whose kernel times come after a finalize */

struct player {
	struct nt_rank rank;
	struct nt_comm *comm[2]; /* the world, this node */
	unsigned comms;
	struct nt_call call[NT_MAX_KEYS];
	unsigned calls; /* in a round */
	uint64_t last_call;
};

static const struct nt_options *options_of(const struct player *p)
{
	return p->rank.job->options;
}

static void make_calls(struct player *p)
{
	const struct nt_options *o = options_of(p);

	for (unsigned c = 0; c < o->colls; c++) {
		for (unsigned n = 0; n < o->sizes; n++)
			p->call[p->calls++] = (struct nt_call){ o->coll[c], o->size_bytes[n],
								(int)(c * NT_MAX_SIZES + n) };
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

static bool is_due(const struct player *p, const struct nt_when *w)
{
	return (int)p->rank.rank == w->rank && p->rank.calls == w->call;
}

static void faults(struct player *p, struct nt_comm *c, const struct nt_call *call, unsigned calls)
{
	const struct nt_options *o = options_of(p);

	if (is_due(p, &o->kill))
		kill(getpid(), SIGKILL);
	if (is_due(p, &o->exit))
		_exit(NT_EXIT_ASKED);
	if ((int)p->rank.rank == o->simulate.rank && p->rank.calls % o->simulate.call == 0)
		nt_group_run(c, call, calls, NT_GROUP_SIMULATE);
	/* Held until a finalize, or for good where the communicator is aborted. */
	if ((o->late_kernelch || o->abort) && p->rank.calls + LATE_CALLS > p->last_call)
		nt_gpu_hold(p->rank.gpu, true);
}

static void one_call(struct player *p, struct nt_comm *c, const struct nt_call *call,
		     unsigned calls)
{
	const struct nt_options *o = options_of(p);
	struct timespec gap = { .tv_sec = (time_t)(o->call_gap_us / 1000000),
				.tv_nsec = (long)(o->call_gap_us % 1000000) * 1000 };
	uint64_t clock_ns;
	bool last;

	p->rank.calls++;
	last = p->rank.calls == p->last_call;
	if (o->call_gap_us)
		nanosleep(&gap, NULL);
	p->rank.host_ns += o->call_gap_us * 1000;
	faults(p, c, call, calls);
	if (o->capture_every && p->rank.calls % o->capture_every == 0) {
		nt_group_run(c, call, calls, NT_GROUP_CAPTURE);
		for (unsigned i = 0; i < o->replays; i++)
			nt_group_replay(c);
	} else {
		nt_group_run(c, call, calls, NT_GROUP_RUN);
	}
	/* ncclCommAbort finds work in flight. */
	if (o->abort && p->rank.calls + LATE_CALLS > p->last_call)
		return;
	if (last || (o->sync_every && p->rank.calls % o->sync_every == 0)) {
		clock_ns = nt_gpu_sync(p->rank.gpu);
		if (clock_ns > p->rank.host_ns)
			p->rank.host_ns = clock_ns;
	}
}

static void one_round(struct player *p, uint64_t round)
{
	const struct nt_options *o = options_of(p);

	if (o->shuffle)
		shuffle(p, round);
	for (unsigned i = 0; i < p->calls; i += o->group) {
		unsigned n = p->calls - i < o->group ? p->calls - i : o->group;

		for (unsigned c = 0; c < p->comms; c++)
			one_call(p, p->comm[c], &p->call[i], n);
	}
}

/* Ranks of the job that live on this rank's node, as ncclCommSplit by node would give. */
static void split(struct player *p)
{
	const struct nt_wire *w = p->rank.job->wire;
	unsigned members[NT_MAX_RANKS];
	unsigned n = 0;

	for (unsigned r = 0; r < p->rank.job->ranks; r++) {
		if (strcmp(nt_wire_node(w, r), p->rank.node) == 0)
			members[n++] = r;
	}
	/* NCCL: a hash of the parent's, the count of children and the color. */
	p->comm[1] = nt_comm_create(&p->rank, nt_rng_mix(nt_wire_world(w), members[0] + 1), 1,
				    members, n);
	/* A communicator of one rank decides nothing (enqueue.cc:2571@v2.28.9-1). */
	p->comms = n > 1 ? 2 : 1;
}

static void join(struct player *p)
{
	struct nt_job *job = p->rank.job;
	unsigned members[NT_MAX_RANKS];
	struct timespec now;
	struct nt_comm hello = { .owner = &p->rank,
				 .wire = nt_wire_comm(job->wire, 0, job->ranks),
				 .rank = p->rank.rank };

	clock_gettime(CLOCK_REALTIME, &now);
	nt_wire_hello(job->wire, p->rank.rank, p->rank.node,
		      nt_rng_mix((uint64_t)now.tv_nsec + (uint64_t)now.tv_sec, (uint64_t)getpid()) |
			      1);
	nt_fake_expect(&hello, nt_wire_barrier(hello.wire, p->rank.rank), "the start of the job");
	for (unsigned r = 0; r < job->ranks; r++)
		members[r] = r;
	p->comm[0] = nt_comm_create(&p->rank, nt_wire_world(job->wire), 0, members, job->ranks);
	p->comms = 1;
	if (options_of(p)->node_comms)
		split(p);
}

static void between_finalizes(struct nt_comm *c)
{
	nt_gpu_hold(c->owner->gpu, false);
	nt_gpu_drain(c->owner->gpu);
}

static void leave(struct player *p)
{
	const struct nt_options *o = options_of(p);
	bool after_tuner = o->late_kernelch == NT_LATE_TUNER;

	if (o->abort)
		nt_gpu_abandon(p->rank.gpu);
	else if (!o->late_kernelch)
		nt_gpu_drain(p->rank.gpu);
	/* Children first, as applications do. */
	for (int i = 1; i >= 0 && !o->no_destroy; i--) {
		if (!p->comm[i])
			continue;
		nt_comm_destroy(p->comm[i], after_tuner ? between_finalizes : NULL);
		if (o->late_kernelch)
			between_finalizes(p->comm[i]);
	}
	nt_gpu_hold(p->rank.gpu, false);
	nt_gpu_destroy(p->rank.gpu);
	for (int i = 0; i < 2; i++) {
		if (p->comm[i])
			nt_comm_free(p->comm[i]);
	}
}

int nt_play(struct nt_job *job, unsigned rank, const char *node)
{
	struct player p = { .rank = { .job = job, .rank = rank, .node = node } };
	int rc = NT_EXIT_OK;

	make_calls(&p);
	p.rank.sum = nt_sum_create(job);
	p.rank.gpu = nt_gpu_create(&p.rank);
	join(&p);
	p.last_call = job->options->iters * p.comms *
		      ((p.calls + job->options->group - 1) / job->options->group);
	for (uint64_t round = 0; round < job->options->iters; round++)
		one_round(&p, round);
	nt_sum_loaded(p.rank.sum, rank);
	leave(&p);
	nt_sum_publish(p.rank.sum, rank, p.rank.calls);
	if (rank == 0)
		rc = nt_sum_print(p.rank.sum);
	nt_sum_destroy(p.rank.sum);
	return rc;
}
