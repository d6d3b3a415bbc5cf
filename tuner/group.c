/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/group.h"

#define SELDOM __attribute__((noinline, cold)) /* cold code stays out of the hot path */

static bool has_events(const struct nt_comm *c, uint32_t at)
{
	const struct nt_match *match = &c->events.match[at];

	return match->serial == c->decision.fifo[at].serial && match->tasks > 0;
}

/* A symmetric kernel ran instead of a decision's task: by that decision NCCL has chosen among all.
 * In the group in which the first key was opened, tasks have no events. */
static bool symmetric_ran(const struct nt_comm *c, uint32_t at, uint64_t group)
{
	const _Atomic uint64_t *newest = &c->events.func[c->decision.fifo[at].coll].symmetric;

	return group > c->decision.open_group && !has_events(c, at) &&
	       atomic_load_explicit(newest, memory_order_relaxed) == group;
}

/* A key was asked for twice in a group, but only one decision had its Coll event: by the other one
 * NCCL has chosen between a symmetric kernel and the rest
 * (src/scheduler/symmetric_sched.cc:98@v2.29.2-1). Collectives of such kernels have no events and
 * no sequence numbers, so a plan could stall: take none. From 2.31 on they have both, and normally
 * no decision. */
static SELDOM void look_for_probes(const struct nt_comm *c, uint64_t group)
{
	const struct nt_decision *fifo = c->decision.fifo;

	for (uint32_t i = 0; i < c->decision.fifo_count; i++) {
		if ((i > 0 && fifo[i - 1].key == fifo[i].key &&
		     has_events(c, i - 1) != has_events(c, i)) ||
		    symmetric_ran(c, i, group))
			nt_comm_flag(c, NT_PARTICIPANT_PROBES);
	}
}

/* Tasks whose Coll events have come */
static uint32_t tasks_told(const struct nt_comm *c, uint32_t at)
{
	return has_events(c, at) ? c->events.match[at].tasks : 0;
}

/* As many as its key's newest fully told decision had */
static uint32_t tasks_of(const struct nt_decision *d)
{
	uint32_t tasks = atomic_load_explicit(&d->key->events.tasks, memory_order_relaxed);

	return tasks ? tasks : 1;
}

/* The tasks were appended while another party had switched the events off: make up for them. If the
 * program issues another number of collectives per group than before, this rank's turn is wrong
 * until the next event. */
static SELDOM void make_up_for_events(struct nt_comm *c)
{
	const struct nt_comm_decision *d = &c->decision;

	atomic_store_explicit(&c->decision.launch_judged,
			      atomic_load_explicit(&c->launch.newest, memory_order_relaxed),
			      memory_order_relaxed);
	for (uint32_t i = 0; i < d->fifo_count; i++) {
		int coll = d->fifo[i].coll;
		uint32_t tasks = tasks_of(&d->fifo[i]);
		unsigned band = nt_band(d->fifo[i].bytes / tasks);
		uint64_t seq;

		for (uint32_t k = tasks_told(c, i); k < tasks && nt_comm_turn(c, coll, &seq); k++) {
			nt_task_log_note(&c->events.task_log[coll], seq, band);
			nt_comm_note_turn(c, coll, seq);
		}
	}
}

/* Another party has written NCCL's event mask: put our bits back, so that plans in force end as
 * agreed, and take no others. True: some tasks may lack events. */
static SELDOM bool look_at_mask(struct nt_comm *c)
{
	struct nt_mask *mask = &c->fixed.process->mask;
	uint32_t losses;

	nt_mask_restore(mask);
	losses = nt_mask_losses(mask);
	if (losses == c->decision.losses_seen)
		return false;
	c->decision.losses_seen = losses;
	if (nt_mask_overridden(mask))
		nt_comm_flag(c, NT_PARTICIPANT_MASKED);
	return true;
}

void nt_group_begin(struct nt_comm *c)
{
	struct nt_comm_decision *d = &c->decision;
	uint64_t group = atomic_load_explicit(&d->group, memory_order_relaxed);
	bool lost = (!nt_mask_intact(&c->fixed.process->mask) ||
		     nt_mask_losses(&c->fixed.process->mask) != d->losses_seen) &&
		    look_at_mask(c);

	atomic_store_explicit(&d->thread, nt_thread_self(), memory_order_relaxed);
	if (!atomic_load_explicit(&d->called, memory_order_relaxed) &&
	    atomic_load_explicit(&c->events.group, memory_order_relaxed) != group &&
	    !(lost && d->blind)) {
		d->blind |= lost;
		return;
	}
	atomic_store_explicit(&d->called, false, memory_order_relaxed);
	/* As its events would have: still in its group */
	if (d->blind)
		make_up_for_events(c);
	else
		look_for_probes(c, group);
	d->blind = lost;
	atomic_store_explicit(&d->group, group + 1, memory_order_relaxed);
	d->fifo_count = 0;
}
