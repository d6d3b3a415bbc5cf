/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/programs/plugin.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "contract/names.h"
#include "tests/fake/load.h"
#include "tests/fake/masks.h"
#include "tests/fake/rng.h"
#include "lab/programs/pmix.h"
#include "lab/programs/settings.h"
#include "lab/programs/watch.h"

#define RELEASE "2.28.9"
#define ELEMENT 2 /* bytes of ncclBfloat16 */
#define TICK_NS 32 /* of GPU time stamps */

/* One of NCCL's, of some ranks of a node. */
struct process {
	const struct nt_tuner_v5 *tuner;
	const struct nt_prof_v5 *prof;
	int mask;
	char shm[NT_PATH_MAX]; /* its node's memory */
};

static struct {
	struct nt_world *w;
	struct process *process;
	unsigned processes;
} only;

static struct process *process_of(const struct nt_member *s)
{
	return &only.process[s->rank / only.w->process_ranks];
}

static void copy_file(const char *from, const char *to)
{
	char bytes[65536];
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	size_t n;

	if (!in || !out)
		nt_world_leave(NT_EXIT_TROUBLE, "cannot copy %s to %s: %m", from, to);
	while ((n = fread(bytes, 1, sizeof(bytes), in)) > 0)
		fwrite(bytes, 1, n, out);
	fclose(in);
	if (fclose(out) != 0)
		nt_world_leave(NT_EXIT_TROUBLE, "cannot write %s", to);
}

static void load_process(struct process *n, unsigned number, const char *library, const char *dir,
			 const char *policy)
{
	unsigned node = nt_world_node(only.w, number * only.w->process_ranks);
	struct nt_task_place place = { .task = number,
				       .tasks = only.processes,
				       .local = number % (only.processes / only.w->nodes),
				       .node = node,
				       .nodes = only.w->nodes };
	char copy[NT_PATH_MAX + 64];
	struct nt_error err;
	void *handle;

	snprintf(n->shm, sizeof(n->shm), "%s/n%u", dir, node);
	snprintf(copy, sizeof(copy), "%s/t%u.so", dir, number);
	copy_file(library, copy);
	if (nt_settings_apply(policy, n->shm, copy, &place, &err) < 0)
		nt_world_leave(NT_EXIT_USAGE, "--policy: %s", err.text);
	handle = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		nt_world_leave(NT_EXIT_TROUBLE, "%s", dlerror());
	n->tuner = dlsym(handle, "ncclTunerPlugin_v5");
	n->prof = dlsym(handle, "ncclProfiler_v5");
	if (!n->tuner || !n->prof)
		nt_world_leave(NT_EXIT_TROUBLE, "%s has no tuner and profiler of version 5",
			       library);
}

static void expect(int rc, const char *what)
{
	if (rc != NT_NCCL_OK)
		nt_world_leave(NT_EXIT_NCCL_ERROR, "%s returned %d", what, rc);
}

static void open_member(struct nt_member *s)
{
	const struct nt_inst *inst = s->inst;
	const struct nt_shape *place = &inst->place;
	const char *name = only.w->p->comm[inst->kind].name;
	static struct nt_tuner_constants_v5 constants;
	struct nt_tuner_nvl_v5 nvl = { place->nodes, place->per_node, place->per_node };
	struct process *n = process_of(s);

	expect(n->prof->init(&s->profiler, inst->id, &n->mask, name, place->nodes, place->ranks,
			     (int)s->index, nt_load_log),
	       "profiler init");
	expect(n->tuner->init(&s->tuner, inst->id, (size_t)place->ranks, (size_t)place->nodes,
			      nt_load_log, &nvl, &constants),
	       "tuner init");
}

/* A process starts at its first communicator, and reads its environment then. */
static void open_members(struct nt_world *w, unsigned process)
{
	nt_vtime_set_process(process);
	for (unsigned r = process * w->process_ranks; r < (process + 1) * w->process_ranks; r++) {
		for (unsigned kind = 0; kind < w->p->comms; kind++)
			open_member(nt_world_member(w, r, kind));
	}
}

void nt_plugin_open(struct nt_world *w, const char *library, const char *dir, const char *policy)
{
	only.w = w;
	only.processes = w->p->ranks / w->process_ranks;
	only.process = calloc(only.processes, sizeof(only.process[0]));
	if (!only.process)
		nt_world_leave(NT_EXIT_TROUBLE, "out of memory");
	(void)nt_load_setup(nt_release_find(RELEASE));
	nt_vtime_begin();
	nt_pmix_begin(only.processes, w->nodes);
	for (unsigned i = 0; i < only.processes; i++) {
		load_process(&only.process[i], i, library, dir, policy);
		open_members(w, i);
	}
	for (unsigned i = 0; i < w->nodes; i++)
		nt_watch_open(i, only.process[i * only.processes / w->nodes].shm);
}

void nt_plugin_close(struct nt_world *w)
{
	for (unsigned i = 0; i < w->p->ranks * w->p->comms; i++) {
		struct nt_member *s = &w->slot[i];

		expect(process_of(s)->tuner->finalize(s->tuner), "tuner finalize");
		process_of(s)->prof->finalize(s->profiler);
	}
}

/* Events. */

static void start(const struct nt_member *s, void **event, struct nt_prof_descr_v5 *d)
{
	static char untouched;

	*event = &untouched;
	process_of(s)->prof->start(s->profiler, event, d);
	if (*event == &untouched)
		nt_world_leave(NT_EXIT_CONTRACT, "the profiler left an event's handle unwritten");
}

static void stop(const struct nt_member *s, void *event)
{
	if (event)
		process_of(s)->prof->stop(event);
}

/* A group of one call, and its events. */
struct group {
	struct nt_member *s;
	const struct nt_program_key *key;
	int mask; /* when it was called */
	bool captured, in_group;
	uint64_t api_count, count, bytes;
	const char *datatype;
	void *group_api, *coll_api, *group_event;
};

static void count_elements(struct group *g)
{
	unsigned ranks = g->s->inst->ranks;
	bool gathers = g->key->coll == NT_ALLGATHER || g->key->coll == NT_REDUCESCATTER;
	unsigned spread = gathers ? ranks : 1;

	g->api_count = g->key->bytes / ELEMENT / spread;
	g->api_count += g->api_count == 0;
	g->bytes = g->api_count * ELEMENT * spread;
	g->count = g->api_count;
	g->datatype = "ncclBfloat16";
	if (g->key->coll == NT_ALLGATHER || g->key->coll == NT_BROADCAST) {
		g->count *= ELEMENT;
		g->datatype = "ncclInt8";
	}
}

static void tell_call(struct group *g)
{
	const struct nt_prof_v5 *prof = process_of(g->s)->prof;
	struct nt_prof_descr_v5 d = { .type = NT_PROF_GROUP_API };

	if (g->mask & (int)BELOW_GROUP_API) {
		d.group_api.graph_captured = g->captured;
		d.group_api.depth = 1;
		start(g->s, &g->group_api, &d);
		g->in_group = true;
		if (g->group_api)
			prof->state(g->group_api, NT_PROF_STATE_GROUP_START_DONE, NULL);
	}
	if (g->mask & (int)BELOW_COLL_API) {
		d = (struct nt_prof_descr_v5){ .type = NT_PROF_COLL_API, .parent = g->group_api };
		d.coll_api.func = nt_coll_name(g->key->coll);
		d.coll_api.count = g->api_count;
		d.coll_api.datatype = "ncclBfloat16";
		d.coll_api.stream = g->s;
		d.coll_api.graph_captured = g->captured;
		start(g->s, &g->coll_api, &d);
		stop(g->s, g->coll_api);
	}
	if (g->group_api)
		prof->state(g->group_api, NT_PROF_STATE_GROUP_END_START, NULL);
}

static void decide(struct group *g, struct nt_choice_made *out)
{
	struct nt_world *w = only.w;
	struct nt_member *s = g->s;
	float cost[NT_PAIRS], before[NT_PAIRS];
	int channels = 0, arm;

	nt_model_costs(&w->model, &s->inst->place, g->key->coll, g->bytes, 1, cost);
	out->baseline_arm = w->baseline_arm[nt_world_key(w, g->key)];
	for (int i = 0; i < NT_PAIRS; i++) {
		double skew = w->p->model.cost_skew *
			      (nt_rng_unit(nt_rng_mix(s->rank + 1, (uint64_t)i)) - 0.5);

		if (cost[i] >= 0 && i != out->baseline_arm)
			cost[i] *= (float)(1.0 + w->p->model.cost_skew + skew);
	}
	memcpy(before, cost, sizeof(cost));
	expect(process_of(s)->tuner->get_coll_info(s->tuner, g->key->coll, g->bytes, 1,
						   (float **)cost, NT_ALGOS, NT_PROTOS, 0,
						   &channels),
	       "getCollInfo");
	for (int i = 0; i < NT_PAIRS; i++) {
		if (before[i] < 0 && cost[i] >= 0)
			nt_world_leave(NT_EXIT_CONTRACT, "the tuner raised %s, which is not legal",
				       nt_arm_name(i));
	}
	arm = nt_model_pick(cost, NT_ALGOS);
	out->arm = nt_arm_make(arm, (unsigned)channels);
	if (out->arm < 0)
		out->arm = arm;
	out->channels = channels ? channels : nt_model_channels(&s->inst->place, g->bytes, arm);
}

static void tell_launch(struct group *g)
{
	struct nt_prof_descr_v5 d = { .type = NT_PROF_KERNEL_LAUNCH, .parent = g->group_api };
	void *event = NULL;

	if (!(g->mask & (int)NT_PROF_KERNEL_LAUNCH))
		return;
	d.kernel_launch.stream = g->s;
	start(g->s, &event, &d);
	stop(g->s, event);
}

static void tell_task(struct group *g, const struct nt_choice_made *c, void **event)
{
	struct nt_member *s = g->s;
	struct nt_prof_descr_v5 d = { .type = NT_PROF_GROUP };
	int pair = nt_arm_pair(c->arm);

	*event = NULL;
	if (g->mask & (int)BELOW_GROUP)
		start(s, &g->group_event, &d);
	if (g->mask & (int)BELOW_COLL) {
		d = (struct nt_prof_descr_v5){
			.type = NT_PROF_COLL,
			.parent = g->coll_api,
			.rank = (int)s->index,
			.coll = {
				.seq = s->seq[g->key->coll],
				.func = nt_coll_name(g->key->coll),
				.send = s,
				.recv = s,
				.count = g->count,
				.datatype = g->datatype,
				.channels = (uint8_t)c->channels,
				.warps = 16,
				.algo = nt_algo_name(pair / NT_PROTOS),
				.proto = nt_proto_name(pair % NT_PROTOS),
				.group = g->group_event,
			},
		};
		start(s, event, &d);
	}
	if (!g->captured)
		s->seq[g->key->coll]++;
	stop(s, *event);
	stop(s, g->group_event);
}

static void choose(struct nt_world *w, struct nt_member *s, const struct nt_program_key *key,
		   bool captured, struct nt_choice_made *out)
{
	struct group g = { .s = s, .key = key, .captured = captured, .mask = process_of(s)->mask };
	void *event;

	(void)w;
	count_elements(&g);
	tell_call(&g);
	decide(&g, out);
	tell_launch(&g);
	tell_task(&g, out, &event);
	if (g.in_group)
		stop(s, g.group_api);
	out->told = !captured && (g.mask & (int)NT_PROF_KERNEL_CH);
	out->measured = event && out->told;
	out->events = (g.mask & (int)(BELOW_COLL | NT_PROF_KERNEL_LAUNCH)) != 0;
	out->event = out->measured ? event : NULL;
}

/* Stamps tick, and each GPU has a clock of its own. */
static uint64_t stamp(const struct nt_member *s, uint64_t ns)
{
	uint64_t offset_ns = UINT64_C(1760000000000000000) +
			     nt_rng_mix(only.w->seed, s->rank + 1) % UINT64_C(3600000000000);

	return (offset_ns + ns) / TICK_NS * TICK_NS;
}

void nt_plugin_kernel(struct nt_member *s, void *event, int channels, uint64_t start_ns,
		      uint64_t end_ns)
{
	const struct nt_prof_v5 *prof = process_of(s)->prof;
	void *channel[NT_MAX_CHANNELS];

	for (int ch = 0; ch < channels; ch++) {
		struct nt_prof_descr_v5 d = { .type = NT_PROF_KERNEL_CH, .parent = event };

		d.kernel_ch.channel = (uint8_t)ch;
		d.kernel_ch.start_ns = stamp(s, start_ns) + (uint64_t)(ch % 4) * TICK_NS;
		start(s, &channel[ch], &d);
	}
	for (int ch = 0; ch < channels; ch++) {
		union nt_prof_args_v4 args = { .kernel_ch = { .stop_ns = stamp(s, end_ns) } };

		if (!channel[ch])
			continue;
		prof->state(channel[ch], NT_PROF_STATE_KERNEL_CH_STOP, &args);
		stop(s, channel[ch]);
	}
}

const struct nt_chooser_calls nt_plugin_calls = { choose, nt_watch_step };
