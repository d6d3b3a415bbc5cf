/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - NCCL's events in order, with the handles that it does not clear */
#include "tests/fake/event.h"

#include "tests/fake/masks.h"

#define UNTOUCHED ((void *)0x5a5a5a5a5a5aul)

/* NCCL keeps these for each thread; coll_api is not cleared after its stop. */
static _Thread_local struct {
	int mask;
	bool group_open;
	bool start_recorded;
	void *group_api;
	void *coll_api;
} api;

static bool has_api_events(const struct nt_comm *c)
{
	return c->owner->job->release->code >= 22803;
}

/* Starts an event in *slot, which keeps its old value, and checks that the plugin writes it. Late
 * events may come after the last communicator has closed the plugin: then there is none. */
static void start(struct nt_comm *c, void **slot, struct nt_prof_descr_v7 *d)
{
	const struct nt_prof_v7 *prof = nt_load_profiler_use();

	*slot = prof ? UNTOUCHED : NULL;
	if (!prof)
		return;
	prof->start(c->prof_ctx, slot, d);
	nt_load_profiler_done();
	if (*slot == UNTOUCHED)
		nt_fake_leave(
			c->owner->job, NT_EXIT_CONTRACT,
			"the profiler left the handle of a started event (type %#llx) unwritten",
			(unsigned long long)d->type);
}

static void stop(void *event)
{
	const struct nt_prof_v7 *prof = event ? nt_load_profiler_use() : NULL;

	if (!prof)
		return;
	prof->stop(event);
	nt_load_profiler_done();
}

static void change(void *event, int state, union nt_prof_args_v4 *args)
{
	const struct nt_prof_v7 *prof = event ? nt_load_profiler_use() : NULL;

	if (!prof)
		return;
	prof->state(event, state, args);
	nt_load_profiler_done();
}

static void append_group_api(struct nt_comm *c, bool captured)
{
	struct nt_prof_descr_v7 d = { .type = NT_PROF_GROUP_API };

	if (!api.group_open && (api.mask & (int)BELOW_GROUP_API)) {
		d.group_api.graph_captured = captured;
		d.group_api.depth = 1;
		start(c, &api.group_api, &d);
		api.group_open = true;
		api.start_recorded = false;
	}
	if (api.group_open && !api.start_recorded) {
		change(api.group_api, NT_PROF_STATE_GROUP_START_DONE, NULL);
		api.start_recorded = true;
	}
}

void nt_event_append(struct nt_comm *c, struct nt_task *t, bool captured)
{
	struct nt_prof_descr_v7 d = { .type = NT_PROF_COLL_API };

	api.mask = nt_load_mask_now();
	t->mask = api.mask;
	if (!nt_load_profiler_now() || !has_api_events(c))
		return;
	append_group_api(c, captured);
	d.parent = api.group_api;
	d.coll_api.func = nt_coll_name(t->coll);
	d.coll_api.count = t->api_count;
	d.coll_api.datatype = t->api_datatype;
	d.coll_api.stream = c->owner;
	d.coll_api.graph_captured = captured;
	if (api.mask & (int)BELOW_COLL_API)
		start(c, &api.coll_api, &d);
	t->group_api = api.group_api;
	t->coll_api = api.coll_api;
	/* Even if it was started long ago (profiler.cc:299@v2.28.9-1). */
	stop(api.coll_api);
}

/* Its handle is cleared after the stop (ncclProfilerStopP2pApiEvent, profiler.cc:275@v2.28.9-1). */
void nt_event_append_p2p(struct nt_comm *c, struct nt_p2p_task *t)
{
	struct nt_prof_descr_v7 d = { .type = NT_PROF_P2P_API };

	api.mask = nt_load_mask_now();
	t->mask = api.mask;
	if (!nt_load_profiler_now() || !has_api_events(c))
		return;
	append_group_api(c, false);
	d.parent = t->group_api = api.group_api;
	d.p2p_api.func = nt_coll_name(t->receives ? NT_P2P_RECV : NT_P2P_SEND);
	d.p2p_api.count = t->count;
	d.p2p_api.datatype = t->datatype;
	d.p2p_api.stream = c->owner;
	if (api.mask & (int)BELOW_P2P_API)
		start(c, &t->api, &d);
	stop(t->api);
}

void nt_event_group_end(void)
{
	if (api.group_open)
		change(api.group_api, NT_PROF_STATE_GROUP_END_START, NULL);
}

void nt_event_group_done(void)
{
	if (api.group_open)
		stop(api.group_api);
	api.group_api = NULL;
	api.group_open = false;
}

/* Not in any list from which NCCL makes events. */
static bool is_hidden(const struct nt_plan *p, const struct nt_task *t)
{
	return t->gathered ||
	       (t->symmetric && p->comm->owner->job->release->code < NT_RELEASE_TUNING);
}

/* The mask of the first task that has one, and its group. */
static int first_mask(const struct nt_plan *p, void **group_api)
{
	for (unsigned i = 0; i < p->tasks; i++) {
		*group_api = p->task[i].group_api;
		if (p->task[i].mask && !is_hidden(p, &p->task[i]))
			return p->task[i].mask;
	}
	for (unsigned i = 0; i < p->p2ps; i++) {
		*group_api = p->p2p[i].group_api;
		if (p->p2p[i].mask)
			return p->p2p[i].mask;
	}
	return 0;
}

void nt_event_launch_start(struct nt_plan *p)
{
	struct nt_prof_descr_v7 d = { .type = NT_PROF_KERNEL_LAUNCH };
	int mask = first_mask(p, &d.parent);

	if (!nt_load_profiler_now() || !has_api_events(p->comm) ||
	    !(mask & (int)NT_PROF_KERNEL_LAUNCH))
		return;
	d.kernel_launch.stream = p->comm->owner;
	start(p->comm, &p->launch_event, &d);
}

void nt_event_launch_stop(struct nt_plan *p)
{
	stop(p->launch_event);
}

static void start_task(struct nt_plan *p, struct nt_task *t)
{
	struct nt_comm *c = p->comm;
	struct nt_prof_descr_v7 d = {
		.type = NT_PROF_COLL,
		.parent = t->coll_api,
		.rank = (int)c->rank,
		.coll = {
			.seq = atomic_load(&c->seq[t->coll]),
			.func = nt_coll_name(t->coll),
			.send = c,
			.recv = c,
			.count = t->count,
			.datatype = t->datatype,
			.channels = (uint8_t)t->channels,
			.warps = 16,
			.algo = nt_algo_name(t->arm / NT_PROTOS),
			.proto = nt_proto_name(t->arm % NT_PROTOS),
			.group = p->group_event,
		},
	};

	if (t->symmetric) {
		d.coll.algo = "AGxLL_R";
		d.coll.proto = "";
		d.coll.kernel = "AllGather_AGxLL_R";
		d.coll.symmetric = true;
	}
	start(c, &t->event, &d);
}

static void start_p2p(struct nt_plan *p, struct nt_p2p_task *t)
{
	struct nt_prof_descr_v7 d = {
		.type = NT_PROF_P2P,
		.rank = (int)p->comm->rank,
		.p2p = {
			.func = nt_coll_name(t->receives ? NT_P2P_RECV : NT_P2P_SEND),
			.buffer = p,
			.datatype = t->datatype,
			.count = t->count,
			.peer = t->peer,
			.channels = 2,
			.group = p->group_event,
		},
	};

	start(p->comm, &t->event, &d);
}

/* Graph-captured tasks are counted only if kernel times were on (profiler.cc:419@v2.28.9-1). */
static bool counted(const struct nt_plan *p, const struct nt_task *t)
{
	return !p->persistent || (nt_load_profiler_now() && (p->group_event || t->coll_api) &&
				  (t->mask & (int)NT_PROF_KERNEL_CH));
}

void nt_event_tasks_start(struct nt_plan *p)
{
	struct nt_prof_descr_v7 d = { .type = NT_PROF_GROUP };
	void *group_api;
	bool told;

	if (nt_load_profiler_now() && (first_mask(p, &group_api) & (int)BELOW_GROUP))
		start(p->comm, &p->group_event, &d);
	told = nt_load_profiler_now() && (has_api_events(p->comm) || p->group_event);
	for (unsigned i = 0; i < p->tasks; i++) {
		struct nt_task *t = &p->task[i];

		if (is_hidden(p, t))
			continue;
		if (told && (t->mask & (int)BELOW_COLL))
			start_task(p, t);
		if (counted(p, t))
			atomic_fetch_add_explicit(&p->comm->seq[t->coll], 1, memory_order_relaxed);
	}
	for (unsigned i = 0; i < p->p2ps; i++) {
		if (told && (p->p2p[i].mask & (int)BELOW_P2P))
			start_p2p(p, &p->p2p[i]);
	}
}

void nt_event_tasks_stop(struct nt_plan *p)
{
	for (unsigned i = 0; i < p->tasks; i++)
		stop(p->task[i].event);
	for (unsigned i = 0; i < p->p2ps; i++)
		stop(p->p2p[i].event);
	stop(p->group_event);
}

void *nt_event_kernel_start(struct nt_comm *c, void *coll_event, int channel, uint64_t start_ns)
{
	struct nt_prof_descr_v7 d = { .type = NT_PROF_KERNEL_CH, .parent = coll_event };
	void *event = NULL;

	if (!nt_load_profiler_now() || c->owner->job->release->profiler < 3)
		return NULL;
	d.kernel_ch.channel = (uint8_t)channel;
	d.kernel_ch.start_ns = start_ns;
	start(c, &event, &d);
	return event;
}

void nt_event_kernel_stop(void *event, uint64_t stop_ns)
{
	union nt_prof_args_v4 args = { .kernel_ch = { .stop_ns = stop_ns } };

	change(event, NT_PROF_STATE_KERNEL_CH_STOP, &args);
	stop(event);
}
