/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* decide.c - which tasks of a group are decided together, and on how many channels each runs
 *
 * Host: ncclPrepareTasks and scheduleCollTasksToPlan, src/enqueue.cc:348, :519 @v2.28.9-1.
 */
#include <stdlib.h>
#include <string.h>
#include "tests/fake/fake.h"

#define RING 1

static int proto_of(const struct nt_task *t)
{
	return t->arm % NT_PROTOS;
}

/* Largest first, stable. */
static void sort_by_traffic(struct nt_task *task, unsigned tasks)
{
	for (unsigned i = 1; i < tasks; i++) {
		struct nt_task t = task[i];
		unsigned k = i;

		for (; k && task[k - 1].traffic < t.traffic; k--)
			task[k] = task[k - 1];
		task[k] = t;
	}
}

/* Tasks of one collective side by side, collectives in order of their first task, smallest
 * first in each. */
static void bin_by_coll(struct nt_task *task, unsigned tasks)
{
	struct nt_task sorted[NT_MAX_TASKS];
	unsigned n = 0;

	for (unsigned i = 0; i < tasks; i++) {
		bool seen = false;

		for (unsigned k = 0; k < i; k++)
			seen = seen || task[k].coll == task[i].coll;
		for (unsigned k = tasks; !seen && k-- > 0;) {
			if (task[k].coll == task[i].coll)
				sorted[n++] = task[k];
		}
	}
	memcpy(task, sorted, n * sizeof(task[0]));
}

/* From 2.29 on NCCL may first ask for its choice, and run a symmetric kernel if that is LL. From
 * 2.31 on it asks for those kernels first, and with both buffers in windows for nothing else. None
 * of these questions belongs to a collective. */
static void probe(struct nt_plan *p, struct nt_task *t, bool windows, bool wanted)
{
	bool first = p->comm->owner->job->release->code >= NT_RELEASE_TUNING;
	struct nt_choice choice;

	if (first)
		t->arm = t->auto_arm = nt_choice_probe(p->comm, t->coll, t->bytes);
	if (windows) {
		t->symmetric = true;
		return;
	}
	nt_choice_make(p->comm, t->coll, t->bytes, first ? 0 : 1, 0, &choice);
	t->symmetric = wanted && choice.arm % NT_PROTOS == 0;
	t->arm = choice.arm;
	t->auto_arm = choice.auto_arm;
	t->changed = choice.changed;
}

/* From 2.31 on, if the user wants it so: one question for symmetric kernels and all others, for
 * each task alone (fillCollTuningInput, src/enqueue/task_prep/task_pretuning.cc@88980683). */
static bool asks_once(const struct nt_comm *c)
{
	const char *text = getenv("NCCL_ENQUEUE_REARCH_ENABLE");

	return c->owner->job->release->code >= NT_RELEASE_TUNING &&
	       (c->owner->job->options->one_question || (text && strtol(text, NULL, 0) != 0));
}

/* Are these decided together? Tasks with a configuration of their own are not (aggIsolate). */
static bool goes_with(const struct nt_plan *p, const struct nt_task *first, const struct nt_task *t)
{
	if (t == first)
		return true;
	return t->coll == first->coll && !t->symmetric && t->traffic < 4 * first->traffic &&
	       !first->selection && !t->selection && !asks_once(p->comm);
}

/* Decides task[0] and the following ones that are less than four times as large; returns how
 * many. A symmetric kernel takes half the time of NCCL's choice. */
static unsigned decide_run(struct nt_plan *p, struct nt_task *task, unsigned tasks, int pipe_ops)
{
	struct nt_choice choice;
	uint64_t bytes = 0;
	unsigned n = 0;

	for (; n < tasks && goes_with(p, &task[0], &task[n]); n++)
		bytes += task[n].bytes;
	nt_choice_make(p->comm, task[0].coll, bytes, pipe_ops, task[0].selection, &choice);
	task[0].symmetric = task[0].windows && choice.us > choice.auto_us / 2;
	for (unsigned i = 0; i < n; i++) {
		task[i].arm = choice.arm;
		task[i].auto_arm = choice.auto_arm;
		task[i].changed = choice.changed;
		task[i].cap = choice.cap;
		task[i].max_channels = choice.max_channels;
	}
	return n;
}

/* Only protocol and channels of the answer are used; it runs as a ring. */
static void decide_gathered(struct nt_plan *p)
{
	struct nt_task *t = &p->task[0];
	struct nt_choice choice;

	nt_choice_make(p->comm, t->coll, t->bytes, 1, 0, &choice);
	t->arm = RING * NT_PROTOS + choice.arm % NT_PROTOS;
	t->auto_arm = RING * NT_PROTOS + choice.auto_arm % NT_PROTOS;
	t->changed = choice.changed;
	t->max_channels = t->channels = choice.max_channels;
	/* There is no bound here (src/scheduler/allgatherv_sched.cc:69@v2.30.7-1). */
	if (choice.cap > (int)p->comm->place.channels)
		nt_fake_leave(p->comm->owner->job, NT_EXIT_CONTRACT,
			      "the tuner wants %d channels for Broadcasts run as one, with %u",
			      choice.cap, p->comm->place.channels);
}

/* From 2.29.2 on NCCL creates Broadcast's tasks again, without the data for their events
 * (ncclPrepareTasks, src/enqueue.cc:367@v2.30.7-1). */
static void forget_events(struct nt_plan *p)
{
	const char *text = getenv("NCCL_ALLGATHERV_ENABLE");

	if (p->comm->owner->job->release->code < 22902 || (text && strcmp(text, "0") == 0))
		return;
	for (unsigned i = 0; i < p->tasks; i++) {
		struct nt_task *t = &p->task[i];

		if (t->coll == NT_BROADCAST) {
			t->mask = 0;
			t->group_api = t->coll_api = NULL;
		}
	}
}

static void set_channels(struct nt_plan *p)
{
	uint64_t least = p->comm->owner->job->release->code >= 22903 ? 32768 : 16384;
	uint64_t traffic = 0;
	uint64_t share;
	int channels = 0;

	for (unsigned i = 0; i < p->tasks; i++) {
		struct nt_task *t = &p->task[i];

		if (proto_of(t) == 0)
			t->traffic *= 4;
		traffic += t->traffic > least ? t->traffic : least;
		channels += t->max_channels;
	}
	if (channels > (int)p->comm->place.channels)
		channels = (int)p->comm->place.channels;
	if (channels < 1)
		channels = 1;
	share = traffic / (unsigned)channels > least ? traffic / (unsigned)channels : least;
	for (unsigned i = 0; i < p->tasks; i++) {
		struct nt_task *t = &p->task[i];
		uint64_t n = (t->traffic + share - 1) / share;

		t->channels = n < 1 ? 1 : n > (uint64_t)channels ? channels : (int)n;
		if (!t->symmetric)
			nt_choice_chunks(p->comm, t);
	}
}

static void probe_all(struct nt_plan *p)
{
	const struct nt_rank *r = p->comm->owner;
	const struct nt_options *o = r->job->options;
	bool windows = o->symmetric_every && p->comm->calls % o->symmetric_every == 0;
	bool alone = (int)r->rank == o->probe_on.rank && r->calls % o->probe_on.call == 0;
	bool wanted = o->probe || (o->probe_from && p->comm->calls >= o->probe_from);

	for (unsigned i = 0; i < p->tasks; i++) {
		if (asks_once(p->comm))
			p->task[i].windows = windows;
		else if (windows || alone || wanted)
			probe(p, &p->task[i], windows, wanted);
	}
}

static void configure_all(struct nt_plan *p)
{
	const struct nt_options *o = p->comm->owner->job->options;

	for (unsigned i = 0; i < p->tasks; i++) {
		if (o->selected.every && p->comm->calls % o->selected.every == 0)
			p->task[i].selection = o->selected.pairs;
	}
}

void nt_plan_decide(struct nt_plan *p)
{
	unsigned channels = p->comm->place.channels;
	int pipe_ops = (int)((p->tasks + channels - 1) / channels);
	unsigned run = 0;

	if (p->task[0].gathered) {
		decide_gathered(p);
		return;
	}
	forget_events(p);
	sort_by_traffic(p->task, p->tasks);
	configure_all(p);
	probe_all(p);
	bin_by_coll(p->task, p->tasks);
	for (unsigned i = 0; i < p->tasks; run++) {
		unsigned n = 1;

		/* The probe has decided symmetric tasks, each by itself. */
		if (p->task[i].symmetric)
			p->task[i].max_channels = 1;
		else
			n = decide_run(p, &p->task[i], p->tasks - i, pipe_ops);
		for (unsigned k = 0; k < n; k++)
			p->task[i + k].run = run;
		i += n;
	}
	set_channels(p);
}
