/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* comm.c - communicators: the plugins' init and finalize in NCCL's order (init.cc:1251, :1352,
 * :2253 @v2.28.9-1) */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/fake/dumps.h"
#include "tests/fake/fake.h"
#include "tests/fake/gpu.h"
#include "tests/fake/pool.h"

void nt_fake_leave(struct nt_job *job, int code, const char *format, ...)
{
	char text[600];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "nt-fake-nccl: %s\n", text);
	fflush(NULL);
	if (job->wire && (code == NT_EXIT_MISMATCH || code == NT_EXIT_PEER_GONE))
		nt_wire_mourn(job->wire);
	_exit(code);
}

void nt_fake_check_launch(struct nt_job *job)
{
	const char *first = nt_wire_launch(job->wire, 0);

	for (unsigned r = 1; r < job->ranks; r++) {
		if (strcmp(nt_wire_launch(job->wire, r), first) != 0)
			nt_fake_leave(job, NT_EXIT_MISMATCH,
				      "MISMATCH launch variables: rank 0 %s, rank %u %s", first, r,
				      nt_wire_launch(job->wire, r));
	}
}

void nt_fake_expect(struct nt_comm *c, enum nt_wire_end end, const char *doing)
{
	struct nt_job *job = c->owner->job;
	char missing[256];

	if (end == NT_WIRE_OK || end == NT_WIRE_QUIT)
		return;
	/* The first of a rank's threads does it. */
	while (atomic_exchange(&c->owner->ended, true))
		pause();
	if (end == NT_WIRE_MISMATCH) {
		fprintf(stderr, "nt-fake-nccl: %s (seen by rank %u)\n", nt_wire_alarm(job->wire),
			c->owner->rank);
		nt_fake_leave(job, NT_EXIT_MISMATCH,
			      "rank %u stops: NCCL would hang or corrupt data here",
			      c->owner->rank);
	}
	nt_wire_missing(c->wire, c->rank, missing, sizeof(missing));
	nt_fake_leave(job, NT_EXIT_PEER_GONE,
		      "rank %u waited %u s in %s for rank(s)%s of comm %016llx", c->owner->rank,
		      job->options->peer_timeout_s, doing, missing, (unsigned long long)c->id);
}

/* The nodes of the members, and the largest and smallest number of ranks on one. */
static int count_nodes(const struct nt_wire *w, const unsigned *members, unsigned ranks, int *most,
		       int *least)
{
	int nodes = 0;

	*most = 0;
	*least = (int)ranks;
	for (unsigned i = 0; i < ranks; i++) {
		int here = 0;
		bool first = true;

		for (unsigned k = 0; k < ranks; k++) {
			if (strcmp(nt_wire_node(w, members[i]), nt_wire_node(w, members[k])) != 0)
				continue;
			here++;
			first = first && k >= i;
		}
		nodes += first;
		*most = here > *most ? here : *most;
		*least = here < *least ? here : *least;
	}
	return nodes;
}

/* NCCL's own number, within the limits of the launch variables. */
static unsigned own_channels(int nodes)
{
	const char *least = getenv("NCCL_MIN_NCHANNELS"), *most = getenv("NCCL_MAX_NCHANNELS");
	unsigned long channels = nodes > 1 ? 2 : 24;
	unsigned long bound = most ? strtoul(most, NULL, 10) : 0;

	if (bound && channels > bound)
		channels = bound;
	bound = least ? strtoul(least, NULL, 10) : 0;
	if (channels < bound)
		channels = bound;
	return channels < NT_MAX_CHANNELS ? (unsigned)channels : NT_MAX_CHANNELS;
}

static void shape(struct nt_comm *c, const unsigned *members, unsigned ranks, int *least)
{
	const struct nt_job *job = c->owner->job;

	c->place.ranks = (int)ranks;
	c->place.nodes = count_nodes(job->wire, members, ranks, &c->place.per_node, least);
	c->place.algos = job->release->algos;
	c->place.wide_pat = job->release->code >= NT_RELEASE_TUNING;
	c->place.fp8 = strncmp(job->options->datatype, "ncclFloat8", 10) == 0;
	c->place.channels = job->options->channels;
	if (!c->place.channels)
		c->place.channels = own_channels(c->place.nodes);
	for (int a = 0; a < NT_ALGOS; a++) {
		for (int p = 0; p < NT_PROTOS; p++) {
			c->constants.base_latency[a][p] = 6.0 + a + p;
			for (int link = 0; link < 3; link++)
				c->constants.hw_latency[link][a][p] = 0.6 + 5.0 * link;
		}
	}
}

static void init_profiler(struct nt_comm *c)
{
	const struct nt_prof_v7 *prof = nt_load_profiler();
	int rc;

	if (!prof)
		return;
	rc = prof->init(&c->prof_ctx, c->id, nt_load_mask(), c->name[0] ? c->name : NULL,
			c->place.nodes, c->place.ranks, (int)c->rank, nt_load_log);
	if (c->owner->job->release->code >= NT_RELEASE_TUNING)
		nt_load_ras_again();
	if (rc == NT_NCCL_OK)
		return;
	fprintf(stderr, "nt-fake-nccl: profiler init returned %d; NCCL goes on\n", rc);
	/* profiler.cc:191@v2.28.9-1 keeps it in use, profiler.cc:253@v2.30.7-1 does not. */
	if (c->owner->job->release->code >= 23003)
		nt_load_profiler_drop();
}

static void init_tuner(struct nt_comm *c, int least_ranks)
{
	struct nt_tuner_nvl_v5 nvl = { c->place.nodes, least_ranks, c->place.per_node };
	const struct nt_tuner_constants_v7 own = c->constants;
	int rc;

	c->tuner = nt_load_tuner(&c->tuner_owner);
	if (!c->tuner)
		return;
	rc = c->tuner->init(&c->tuner_ctx, c->id, (size_t)c->place.ranks, (size_t)c->place.nodes,
			    nt_load_log, &nvl, &c->constants);
	if (rc != NT_NCCL_OK)
		nt_fake_leave(c->owner->job, NT_EXIT_NCCL_ERROR,
			      "tuner init returned %d: ncclCommInitRank fails", rc);
	/* ncclTuningInit, src/tuning/tuning.cc@88980683 */
	if (c->owner->job->release->code >= NT_RELEASE_TUNING)
		c->constants = own;
}

struct nt_comm *nt_comm_create(struct nt_rank *owner, const struct nt_birth *b)
{
	struct nt_comm *c = calloc(1, sizeof(*c));
	int least;

	if (!c)
		nt_fake_leave(owner->job, NT_EXIT_TROUBLE, "out of memory");
	c->owner = owner;
	c->id = b->id;
	c->kind = b->kind;
	for (unsigned i = 0; i < b->ranks; i++)
		c->rank = b->members[i] == owner->rank ? i : c->rank;
	c->wire = nt_wire_comm(owner->job->wire, b->id, b->life, b->ranks);
	if (!c->wire)
		nt_fake_leave(owner->job, NT_EXIT_TROUBLE, "more than %d communicators",
			      NT_MAX_COMMS);
	shape(c, b->members, b->ranks, &least);
	if (owner->job->options->split[b->kind].kind == NT_SPLIT_WORLD)
		snprintf(c->name, sizeof(c->name), "world");
	nt_fake_expect(c, nt_wire_barrier(c->wire, c->rank), "ncclCommInitRank");
	nt_fake_dump(c, b->members, b->ranks);
	init_profiler(c);
	c->gpu = nt_gpu_create(owner); /* NCCL's threads come before the tuner, too */
	init_tuner(c, least);
	/* The name belonged to the application; a plugin that kept the pointer reads this. */
	memset(c->name, '!', sizeof(c->name) - 1);
	nt_fake_expect(c, nt_wire_barrier(c->wire, c->rank), "ncclCommInitRank");
	nt_load_log(NT_NCCL_LOG_INFO, NT_NCCL_SUB_INIT, __func__, __LINE__,
		    "rank %u nranks %u nNodes %d commId 0x%llx - Init COMPLETE", c->rank, b->ranks,
		    c->place.nodes, (unsigned long long)c->id);
	return c;
}

void nt_comm_destroy(struct nt_comm *c, void (*between)(struct nt_comm *c))
{
	const struct nt_prof_v7 *prof;
	int rc;

	if (c->tuner) {
		rc = c->tuner->finalize(c->tuner_ctx);
		if (rc != NT_NCCL_OK)
			nt_fake_leave(c->owner->job, NT_EXIT_NCCL_ERROR,
				      "tuner finalize returned %d: ncclCommDestroy fails", rc);
		nt_load_tuner_drop(c->tuner_owner);
	}
	if (between)
		between(c);
	prof = nt_load_profiler_now();
	if (prof && c->prof_ctx)
		prof->finalize(c->prof_ctx);
	nt_load_profiler_drop();
}

void nt_comm_free(struct nt_comm *c)
{
	while (c->graphs) {
		struct nt_plan *next = c->graphs->next;

		nt_plan_release(c->graphs);
		c->graphs = next;
	}
	nt_gpu_destroy(c->gpu);
	nt_pool_free(c);
	nt_wire_leave(c->wire);
	free(c);
}
