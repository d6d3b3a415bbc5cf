/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/programs/gpu.h"

#include <stdlib.h>
#include <string.h>
#include "contract/shm-layout.h"
#include "tests/fake/rng.h"
#include "lab/programs/truth.h"

#define LAUNCH_NS 4000 /* from the host's call to the kernel's first instruction */
#define PROXY_NS 20000 /* how late kernel times are told */
#define STREAMS (1 + NT_PROGRAM_COMMS) /* 0 computes */

struct op {
	struct op *next; /* of its stream */
	const struct op *after; /* of another stream; NULL: nothing */
	uint64_t launched_ns, ns, start_ns, end_ns;
	struct nt_member *slot; /* a collective; else NULL */
	struct nt_choice_made choice;
	unsigned key;
	bool arrived, done;
};

struct stream {
	struct op *first, *last; /* that have not run */
	const struct op *newest; /* of this step, run or not */
	uint64_t clock_ns;
};

struct nt_gpu_of_rank {
	struct stream stream[STREAMS];
	struct op *op; /* of this step */
	unsigned ops, room;
	struct nt_fiber *waits; /* for all streams to be empty */
	bool dirty;
};

struct kernel {
	struct nt_member *slot;
	void *event;
	int channels;
	uint64_t start_ns, end_ns;
};

static unsigned ops_of(const struct nt_items *items)
{
	return 2 * items->count;
}

void nt_gpus_open(struct nt_world *w)
{
	unsigned room = ops_of(&w->p->step);

	for (unsigned i = 0; i < w->p->step.count; i++) {
		const struct nt_item *item = &w->p->step.item[i];

		if (item->kind == NT_ITEM_PLAY)
			room += ops_of(&w->p->graph[item->graph]);
	}
	w->gpu = calloc(w->p->ranks, sizeof(w->gpu[0]));
	for (unsigned r = 0; w->gpu && r < w->p->ranks; r++) {
		w->gpu[r].room = room;
		w->gpu[r].op = calloc(room, sizeof(struct op));
		if (!w->gpu[r].op)
			nt_world_leave(NT_EXIT_TROUBLE, "out of memory");
	}
	if (!w->gpu)
		nt_world_leave(NT_EXIT_TROUBLE, "out of memory");
}

void nt_gpus_close(struct nt_world *w)
{
	for (unsigned r = 0; r < w->p->ranks; r++)
		free(w->gpu[r].op);
	free(w->gpu);
	w->gpu = NULL;
}

static void pop(struct stream *s, uint64_t end_ns)
{
	struct op *op = s->first;

	op->end_ns = s->clock_ns = end_ns;
	op->done = true;
	s->first = op->next;
	if (!s->first)
		s->last = NULL;
}

static void tell_kernel(void *arg)
{
	struct kernel *k = arg;

	nt_plugin_kernel(k->slot, k->event, k->channels, k->start_ns, k->end_ns);
	free(k);
}

static void plan_to_tell(const struct op *op)
{
	struct kernel *k = malloc(sizeof(*k));

	if (!k)
		nt_world_leave(NT_EXIT_TROUBLE, "out of memory");
	*k = (struct kernel){ op->slot, op->choice.event, op->choice.channels, op->start_ns,
			      op->end_ns };
	nt_vtime_at(op->end_ns + PROXY_NS, tell_kernel, k);
}

static struct stream *stream_of(struct nt_world *w, const struct nt_inst *inst, unsigned index)
{
	return &w->gpu[inst->member[index]].stream[1 + inst->kind];
}

static void note_call(struct nt_world *w, struct nt_inst *inst, const struct op *op, uint64_t ns)
{
	struct nt_key_log *log = nt_world_key_log(w, inst, op->key);
	uint64_t auto_ns;

	if (w->chooser != NT_CHOOSE_PLUGIN)
		return;
	log->calls++;
	log->events += op->choice.events;
	/* A recheck's window tries other arms; the committed one stays until it has ended. */
	if (log->state != NT_KEY_RECHECK)
		log->final_arm = (uint16_t)op->choice.arm;
	if (!log->decided_call)
		log->measured += op->choice.measured;
	if (op->choice.arm == w->baseline_arm[op->key])
		return;
	auto_ns = nt_truth_ns(w, inst, op->key, w->baseline_arm[op->key], inst->calls);
	if (log->decided_call) {
		log->saved_ns += (double)auto_ns - (double)ns;
	} else {
		log->tried++;
		log->last_tried_step = (uint32_t)w->now_step;
		log->tried_extra_ns += (double)ns - (double)auto_ns;
	}
}

static bool share_a_node(const struct nt_world *w, const struct nt_inst *a, const struct nt_inst *b)
{
	for (unsigned i = 0; i < a->ranks; i++) {
		for (unsigned k = 0; k < b->ranks; k++)
			if (nt_world_node(w, a->member[i]) == nt_world_node(w, b->member[k]))
				return true;
	}
	return false;
}

/* What runs between nodes already makes what comes then longer; what runs is not changed. */
static double shared(const struct nt_world *w, const struct nt_inst *inst)
{
	double factor = 1;

	if (w->p->shared <= 0 || inst->place.nodes < 2)
		return factor;
	for (unsigned i = 0; i < w->insts; i++) {
		const struct nt_inst *other = &w->inst[i];

		if (other != inst && other->place.nodes > 1 && other->from_ns <= inst->latest_ns &&
		    inst->latest_ns < other->until_ns && share_a_node(w, inst, other))
			factor += w->p->shared;
	}
	return factor;
}

/* The last rank has come. */
static void run_collective(struct nt_world *w, struct nt_inst *inst)
{
	struct op *first = stream_of(w, inst, 0)->first;
	uint64_t ns = nt_truth_ns(w, inst, first->key, first->choice.arm, inst->calls);
	double whole_ns = (double)ns * shared(w, inst);

	for (unsigned i = 0; i < inst->ranks; i++) {
		struct stream *s = stream_of(w, inst, i);
		struct op *op = s->first;

		if (op->key != first->key || op->choice.arm != first->choice.arm)
			nt_world_leave(NT_EXIT_MISMATCH,
				       "ranks %u and %u of a %s communicator chose %s and %s",
				       inst->member[0], inst->member[i],
				       w->p->comm[inst->kind].name, nt_arm_name(first->choice.arm),
				       nt_arm_name(op->choice.arm));
		pop(s, inst->latest_ns + (uint64_t)(whole_ns * nt_truth_end(w, inst, i, op->key,
									    op->choice.arm)));
		if (op->choice.told)
			plan_to_tell(op);
		w->dirty += !w->gpu[inst->member[i]].dirty;
		w->gpu[inst->member[i]].dirty = true;
	}
	note_call(w, inst, first, ns);
	inst->calls++;
	inst->from_ns = inst->latest_ns;
	inst->until_ns = inst->latest_ns + (uint64_t)whole_ns;
	inst->arrived = 0;
	inst->latest_ns = 0;
}

static void arrive(struct nt_world *w, struct op *op, uint64_t start_ns)
{
	struct nt_inst *inst = op->slot->inst;
	uint64_t key = nt_rng_mix(nt_rng_mix(w->seed + 5, inst->id + op->slot->index), inst->calls);

	op->arrived = true;
	op->start_ns = start_ns + (uint64_t)nt_rng_exponential(key, w->p->late_us * 1e3);
	if (op->start_ns > inst->latest_ns)
		inst->latest_ns = op->start_ns;
	if (++inst->arrived == inst->ranks)
		run_collective(w, inst);
}

/* True: something was done. */
static bool advance(struct nt_world *w, struct stream *s)
{
	struct op *op = s->first;
	uint64_t start_ns;

	if (!op || op->arrived || (op->after && !op->after->done))
		return false;
	start_ns = s->clock_ns > op->launched_ns ? s->clock_ns : op->launched_ns;
	if (op->after && op->after->end_ns > start_ns)
		start_ns = op->after->end_ns;
	if (op->slot)
		arrive(w, op, start_ns);
	else
		pop(s, start_ns + op->ns);
	return true;
}

static void wake_if_empty(struct nt_gpu_of_rank *g)
{
	uint64_t end_ns = 0;

	for (unsigned i = 0; g->waits && i < STREAMS; i++) {
		if (g->stream[i].first)
			return;
		if (g->stream[i].clock_ns > end_ns)
			end_ns = g->stream[i].clock_ns;
	}
	if (g->waits)
		nt_fiber_wake(g->waits, end_ns);
	g->waits = NULL;
}

static void advance_all(struct nt_world *w, struct nt_gpu_of_rank *g)
{
	bool more = true;

	w->dirty -= g->dirty;
	g->dirty = false;
	while (more) {
		more = false;
		for (unsigned i = 0; i <= w->p->comms; i++)
			while (advance(w, &g->stream[i]))
				more = true;
	}
	wake_if_empty(g);
}

/* One rank's collective may let all its members go on, and so forth. */
static void go_on(struct nt_world *w, unsigned rank)
{
	advance_all(w, &w->gpu[rank]);
	while (w->dirty) {
		for (unsigned r = 0; r < w->p->ranks; r++) {
			if (w->gpu[r].dirty)
				advance_all(w, &w->gpu[r]);
		}
	}
}

static struct op *push(struct nt_world *w, unsigned rank, unsigned stream, uint64_t host_ns)
{
	struct nt_gpu_of_rank *g = &w->gpu[rank];
	struct stream *s = &g->stream[stream];
	struct op *op = &g->op[g->ops++];

	if (g->ops > g->room)
		nt_world_leave(NT_EXIT_TROUBLE, "a step of too many operations");
	memset(op, 0, sizeof(*op));
	op->launched_ns = host_ns + LAUNCH_NS;
	if (s->last)
		s->last->next = op;
	else
		s->first = op;
	s->last = op;
	s->newest = op;
	return op;
}

void nt_gpu_compute(struct nt_world *w, unsigned rank, uint64_t host_ns, uint64_t ns)
{
	push(w, rank, 0, host_ns)->ns = ns;
	go_on(w, rank);
}

void nt_gpu_wait(struct nt_world *w, unsigned rank, uint64_t host_ns, unsigned kind)
{
	const struct op *newest = w->gpu[rank].stream[1 + kind].newest;

	if (!newest)
		return;
	push(w, rank, 0, host_ns)->after = newest;
	go_on(w, rank);
}

void nt_gpu_call(struct nt_world *w, unsigned rank, uint64_t host_ns, unsigned key,
		 const struct nt_choice_made *choice, bool async)
{
	unsigned kind = w->p->key[key].comm;
	const struct op *after = w->gpu[rank].stream[0].newest;
	struct op *op = push(w, rank, 1 + kind, host_ns);

	op->after = after;
	op->slot = nt_world_member(w, rank, kind);
	op->choice = *choice;
	op->key = key;
	if (!async)
		push(w, rank, 0, host_ns)->after = op;
	go_on(w, rank);
}

void nt_gpu_finish(struct nt_world *w, unsigned rank)
{
	struct nt_gpu_of_rank *g = &w->gpu[rank];

	g->waits = nt_fiber_self();
	wake_if_empty(g);
	nt_fiber_block();
	g->ops = 0;
	for (unsigned i = 0; i < STREAMS; i++)
		g->stream[i].newest = NULL;
}
