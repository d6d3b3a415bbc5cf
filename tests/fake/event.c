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
	d.coll_api.tag = t->tag;
	if (api.mask & (int)BELOW_COLL_API)
		start(c, &api.coll_api, &d);
	t->group_api = api.group_api;
	t->coll_api = api.coll_api;
	/* Even if it was started long ago (profiler.cc:299@v2.28.9-1). */
	stop(api.coll_api);
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

/* The first task that has a mask. */
static const struct nt_task *first_masked(const struct nt_plan *p)
{
	for (unsigned i = 0; i < p->tasks; i++) {
		if (p->task[i].mask && !is_hidden(p, &p->task[i]))
			return &p->task[i];
	}
	return NULL;
}

void nt_event_launch_start(struct nt_plan *p)
{
	const struct nt_task *t = first_masked(p);
	struct nt_prof_descr_v7 d = { .type = NT_PROF_KERNEL_LAUNCH };

	if (!nt_load_profiler_now() || !has_api_events(p->comm) || !t ||
	    !(t->mask & (int)NT_PROF_KERNEL_LAUNCH))
		return;
	d.parent = t->group_api;
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
			.tag = t->tag,
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

/* Graph-captured tasks are counted only if kernel times were on (profiler.cc:419@v2.28.9-1). Before
 * 2.26 only tasks with an event were counted. */
static bool counted(const struct nt_plan *p, const struct nt_task *t)
{
	bool event = nt_load_profiler_now() && (t->mask & (int)BELOW_COLL);

	if (p->comm->owner->job->release->code < 22602)
		return event;
	return !p->persistent || (nt_load_profiler_now() && (p->group_event || t->coll_api) &&
				  (t->mask & (int)NT_PROF_KERNEL_CH));
}

void nt_event_tasks_start(struct nt_plan *p)
{
	const struct nt_task *masked = first_masked(p);
	struct nt_prof_descr_v7 d = { .type = NT_PROF_GROUP };

	if (nt_load_profiler_now() && masked && (masked->mask & (int)BELOW_GROUP))
		start(p->comm, &p->group_event, &d);
	for (unsigned i = 0; i < p->tasks; i++) {
		struct nt_task *t = &p->task[i];

		if (is_hidden(p, t))
			continue;
		if (nt_load_profiler_now() && (t->mask & (int)BELOW_COLL))
			start_task(p, t);
		if (counted(p, t))
			atomic_fetch_add_explicit(&p->comm->seq[t->coll], 1, memory_order_relaxed);
	}
}

void nt_event_tasks_stop(struct nt_plan *p)
{
	for (unsigned i = 0; i < p->tasks; i++)
		stop(p->task[i].event);
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
