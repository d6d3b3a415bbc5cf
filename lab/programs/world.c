/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* world.c - a program's communicators, and its ranks' hosts, each a fiber */
#include "lab/programs/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/fake/rng.h"
#include "lab/programs/gpu.h"
#include "lab/programs/truth.h"

#define COMPUTE_HOST_NS 3000 /* to launch it */

void nt_world_leave(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("nt-programs: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	fflush(NULL);
	_exit(code);
}

static void *take(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		nt_world_leave(NT_EXIT_TROUBLE, "out of memory");
	return memory;
}

/* Where it lies on the nodes. */
static void place_of(const struct nt_world *w, struct nt_inst *inst)
{
	unsigned here = 0, node = 0;

	inst->place = (struct nt_shape){ .ranks = (int)inst->ranks, .algos = NT_ALGOS };
	for (unsigned i = 0; i < inst->ranks; i++) {
		unsigned its = nt_world_node(w, inst->member[i]);

		/* Members are in order, and so are their nodes. */
		if (i == 0 || its != node) {
			inst->place.nodes++;
			here = 0;
		}
		node = its;
		here++;
		if ((int)here > inst->place.per_node)
			inst->place.per_node = (int)here;
	}
	inst->place.channels = inst->place.nodes > 1 ? 2 : w->p->channels;
}

static void open_inst(struct nt_world *w, struct nt_inst *inst, unsigned kind, unsigned group)
{
	const struct nt_program_comm *c = &w->p->comm[kind];
	unsigned first = group / c->stride * c->count * c->stride + group % c->stride;

	inst->kind = kind;
	inst->ranks = c->count;
	inst->member = take(c->count, sizeof(inst->member[0]));
	inst->id = nt_rng_mix(nt_rng_mix(w->seed, kind + 1), group) | 1;
	for (unsigned i = 0; i < c->count; i++) {
		struct nt_member *s;

		inst->member[i] = first + i * c->stride;
		s = nt_world_member(w, inst->member[i], kind);
		s->inst = inst;
		s->rank = inst->member[i];
		s->index = i;
	}
	place_of(w, inst);
}

void nt_world_open(struct nt_world *w, const struct nt_program *p, uint64_t seed)
{
	struct nt_error err;
	unsigned n = 0;

	*w = (struct nt_world){
		.p = p, .seed = seed, .nodes = p->ranks / p->per_node, .process_ranks = p->per_node
	};
	if (nt_model_init(&w->model, &p->model, &err) < 0)
		nt_world_leave(NT_EXIT_USAGE, "%s", err.text);
	for (unsigned kind = 0; kind < p->comms; kind++)
		w->insts += p->ranks / p->comm[kind].count;
	w->inst = take(w->insts, sizeof(w->inst[0]));
	w->slot = take((size_t)p->ranks * p->comms, sizeof(w->slot[0]));
	for (unsigned kind = 0; kind < p->comms; kind++) {
		for (unsigned g = 0; g < p->ranks / p->comm[kind].count; g++)
			open_inst(w, &w->inst[n++], kind, g);
	}
	nt_truth_open(w);
}

void nt_world_close(struct nt_world *w)
{
	for (unsigned i = 0; i < w->insts; i++)
		free(w->inst[i].member);
	free(w->inst);
	free(w->slot);
	free(w->true_us);
	free(w->baseline_arm);
	free(w->best_arm);
	nt_model_fini(&w->model);
}

/* A rank's host. */
struct host {
	struct nt_world *w;
	unsigned rank;
	uint64_t host_ns, step;
	struct nt_choice_made *captured[NT_PROGRAM_GRAPHS]; /* by item; NULL: not yet */
};

/* What a key runs by where no plugin is asked. */
static int known_arm(const struct nt_world *w, const struct nt_member *s, unsigned key,
		     uint64_t step)
{
	const struct nt_key_log *log;

	if (w->chooser == NT_CHOOSE_BEST)
		return w->best_arm[key];
	if (w->chooser == NT_CHOOSE_AUTO)
		return w->baseline_arm[key];
	log = nt_world_key_log(w, s->inst, key);
	return log->decided_call && step > log->decided_step ? log->final_arm
							     : w->baseline_arm[key];
}

static struct nt_choice_made choose(struct host *h, struct nt_member *s, unsigned key,
				    bool captured)
{
	struct nt_world *w = h->w;
	struct nt_choice_made made = { .baseline_arm = w->baseline_arm[key] };
	unsigned algo;

	if (h->host_ns < nt_vtime_ns())
		h->host_ns = nt_vtime_ns();
	nt_fiber_sleep(h->host_ns);
	if (w->chooser == NT_CHOOSE_PLUGIN)
		w->calls->choose(w, s, &w->p->key[key], captured, &made);
	else
		made.arm = known_arm(w, s, key, h->step);
	/* A plugin may have made it wait. */
	if (h->host_ns < nt_vtime_ns()) {
		w->log->waited_ns[h->rank] += nt_vtime_ns() - h->host_ns;
		h->host_ns = nt_vtime_ns();
	}
	algo = (unsigned)nt_arm_pair(made.arm) / NT_PROTOS;
	if (!(s->connected & 1u << algo)) {
		s->connected |= 1u << algo;
		h->host_ns += (uint64_t)(w->p->connect_us * 1e3);
	}
	h->host_ns += (uint64_t)(w->p->host_us * 1e3);
	return made;
}

static uint64_t jittered(const struct host *h, unsigned item, uint64_t ns)
{
	const struct nt_world *w = h->w;
	uint64_t key = nt_rng_mix(nt_rng_mix(w->seed + 3, h->step), h->rank * 100003u + item);
	double factor = 1 + w->p->jitter * nt_rng_normal(key);

	factor = factor > 0.1 ? factor : 0.1;
	if (h->rank == w->p->slow_rank &&
	    nt_rng_unit(nt_rng_mix(w->seed + 11, h->step)) < w->p->slow_share)
		factor *= w->p->slow_factor;
	return (uint64_t)((double)ns * factor);
}

static void compute(struct host *h, unsigned at, uint64_t ns)
{
	h->host_ns += COMPUTE_HOST_NS;
	nt_gpu_compute(h->w, h->rank, h->host_ns, jittered(h, at, ns));
}

static void call(struct host *h, const struct nt_item *item)
{
	struct nt_member *s = nt_world_member(h->w, h->rank, item->comm);
	struct nt_choice_made made = choose(h, s, item->key, false);

	nt_gpu_call(h->w, h->rank, h->host_ns, item->key, &made, item->async);
}

static void capture(struct host *h, unsigned graph)
{
	const struct nt_items *items = &h->w->p->graph[graph];

	h->captured[graph] = take(items->count, sizeof(struct nt_choice_made));
	for (unsigned i = 0; i < items->count; i++) {
		const struct nt_item *item = &items->item[i];

		if (item->kind == NT_ITEM_CALL)
			h->captured[graph][i] = choose(
				h, nt_world_member(h->w, h->rank, item->comm), item->key, true);
	}
}

/* One launch for all of it. */
static void play(struct host *h, unsigned graph, unsigned at)
{
	const struct nt_items *items = &h->w->p->graph[graph];

	if (!h->captured[graph])
		capture(h, graph);
	h->host_ns += COMPUTE_HOST_NS;
	for (unsigned i = 0; i < items->count; i++) {
		const struct nt_item *item = &items->item[i];

		if (item->kind == NT_ITEM_CALL)
			nt_gpu_call(h->w, h->rank, h->host_ns, item->key, &h->captured[graph][i],
				    item->async);
		else if (item->kind == NT_ITEM_WAIT)
			nt_gpu_wait(h->w, h->rank, h->host_ns, item->comm);
		else
			nt_gpu_compute(h->w, h->rank, h->host_ns,
				       jittered(h, at * 1009 + i, item->ns));
	}
}

static void one_step(struct host *h)
{
	const struct nt_items *items = &h->w->p->step;

	for (unsigned i = 0; i < items->count; i++) {
		const struct nt_item *item = &items->item[i];

		if (!nt_item_is_due(item, h->step))
			continue;
		switch (item->kind) {
		case NT_ITEM_COMPUTE: compute(h, i, item->ns); break;
		case NT_ITEM_PAUSE: h->host_ns += item->ns; break;
		case NT_ITEM_CALL: call(h, item); break;
		case NT_ITEM_WAIT: nt_gpu_wait(h->w, h->rank, h->host_ns, item->comm); break;
		case NT_ITEM_PLAY: play(h, item->graph, i); break;
		}
	}
	/* A pause, too, ends before the step does. */
	nt_gpu_compute(h->w, h->rank, h->host_ns, 0);
	nt_gpu_finish(h->w, h->rank);
	h->host_ns = nt_vtime_ns();
}

static void host_main(void *arg)
{
	struct host *h = arg;
	struct nt_world *w = h->w;

	for (h->step = 0; h->step < w->steps; h->step++) {
		if (h->rank == 0)
			w->now_step = h->step;
		one_step(h);
		if (h->rank != 0)
			continue;
		w->log->end_ns[h->step] = nt_vtime_ns();
		if (w->calls)
			w->calls->step_done(w, h->step);
	}
	for (unsigned g = 0; g < NT_PROGRAM_GRAPHS; g++)
		free(h->captured[g]);
	w->done = --w->running == 0;
}

static void forget_last_run(struct nt_world *w)
{
	for (unsigned i = 0; i < w->insts; i++)
		w->inst[i].calls = w->inst[i].from_ns = w->inst[i].until_ns = 0;
	for (unsigned i = 0; i < w->p->ranks * w->p->comms; i++) {
		w->slot[i].connected = 0;
		memset(w->slot[i].seq, 0, sizeof(w->slot[i].seq));
	}
	w->dirty = 0;
	w->done = false;
}

void nt_world_run(struct nt_world *w, enum nt_selector chooser, uint64_t steps,
		  struct nt_run_log *log, const struct nt_chooser_calls *calls)
{
	struct host *host = take(w->p->ranks, sizeof(host[0]));

	if (!calls)
		nt_vtime_begin();
	forget_last_run(w);
	w->chooser = chooser;
	w->calls = calls;
	w->steps = steps;
	w->log = log;
	w->running = w->p->ranks;
	nt_gpus_open(w);
	for (unsigned r = 0; r < w->p->ranks; r++) {
		host[r] = (struct host){ .w = w, .rank = r, .host_ns = nt_vtime_ns() };
		nt_fiber_start(host_main, &host[r]);
	}
	if (!nt_vtime_run(&w->done))
		nt_world_leave(NT_EXIT_TROUBLE, "the program's ranks wait for each other");
	nt_gpus_close(w);
	free(host);
}
