/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A Coll event names collective, arm and bytes but not the call: these match it to a decision of
 * its group. KernelCh events come from another thread, once per channel, with the handle of their
 * Coll event alone. Arms are compared by starts only: a stop is stamped when one of a block's
 * threads is done, not the collective (docs/decisions/reward.md). Stops tell how much of the
 * time up to the next start the collective itself took. */
#include "tuner/event.h"

#include <string.h>
#include "contract/key-id.h"
#include "tuner/apply-plan.h"
#include "tuner/gpu-times.h"
#include "tuner/handle.h"

#define KIND_MASK 3u
#define KIND_GROUP 3u /* of a handle; tuner/event-slot.h has kinds 1 and 2 */
#define KIND_P2P 0u
#define INDEX_BITS 8
#define OPENED_BITS 24

/* Names a communicator and, of sends and receives, the call. Leaves the top byte free
 * (tuner/handle.h), and is never 0, since `opened` counts from 1. */
static void *make_handle(const struct nt_comm *c, uintptr_t kind, uint32_t serial)
{
	uintptr_t opened = c->fixed.opened % (1u << OPENED_BITS);

	_Static_assert(NT_COMMS_MAX == 1 << INDEX_BITS, "they have room");
	_Static_assert((uint64_t)NT_P2P_SERIALS << (2 + INDEX_BITS + OPENED_BITS) ==
			       UINT64_C(1) << NT_HANDLE_SHIFT,
		       "so has the number");
	return (void *)((uintptr_t)serial << (2 + INDEX_BITS + OPENED_BITS) |
			opened << (2 + INDEX_BITS) | (uintptr_t)c->fixed.index << 2 | kind);
}

/* NULL: another communicator has its entry. The list entry was there before the handle, and is
 * never cleared. */
static struct nt_comm *comm_of(struct nt_process *process, const void *handle)
{
	uintptr_t number = (uintptr_t)handle >> 2;
	struct nt_comm *c = process->comm[number % NT_COMMS_MAX];

	return c && (c->fixed.opened ^ number >> INDEX_BITS) % (1u << OPENED_BITS) == 0 ? c : NULL;
}

/* NULL: the area is now another key's or plan's. */
static struct nt_shm_run *run_of(struct nt_process *process, const struct nt_sample *to)
{
	struct nt_shm_run *run = &process->map.shm->run[to->run];
	const struct nt_local_key *key = to->key;

	if (atomic_load_explicit(&run->owner, memory_order_acquire) == to->owner &&
	    atomic_load_explicit(&key->fixed.shared->epoch, memory_order_acquire) == to->epoch)
		return run;
	return NULL;
}

/* With its time, or given up */
static void count_done(struct nt_process *process, const struct nt_sample *to)
{
	struct nt_shm_run *run = to->run == NT_NO_RUN ? NULL : run_of(process, to);

	/* Pairs with the leader's read of `done`: the time is visible. */
	if (run)
		atomic_fetch_add_explicit(&run->done[to->rank_slot], 1, memory_order_release);
}

/* Of several decisions with one position the first counts. */
static void keep_time(struct nt_process *process, const struct nt_sample *to, uint32_t time)
{
	struct nt_local_key *key = to->key;
	struct nt_shm_run *run;
	uint32_t at, nothing = 0;

	if (to->run != NT_NO_RUN) {
		run = run_of(process, to);
		if (!run)
			nt_process_count(process, NT_COUNT_DROPPED);
		else
			atomic_compare_exchange_strong_explicit(
				&run->sample[to->rank_slot][to->position], &nothing, time,
				memory_order_relaxed, memory_order_relaxed);
		return;
	}
	if (!key->fixed.observed)
		return;
	at = atomic_fetch_add_explicit(&key->laps.observed, 1, memory_order_relaxed);
	if (at < NT_OBSERVED_MAX)
		/* Pairs with the acquire of the record's writer: 0 is "not yet". */
		atomic_store_explicit(&key->fixed.observed[at], time, memory_order_release);
}

/* As passed to the tuner (src/include/enqueue.h:36@v2.28.9-1) */
static uint64_t event_bytes(const struct nt_comm *c, int coll, const struct nt_coll_event *event)
{
	uint64_t bytes = (uint64_t)event->count * nt_datatype_bytes(event->datatype);

	return coll == NT_ALLGATHER || coll == NT_REDUCESCATTER ? bytes * c->fixed.ranks : bytes;
}

static struct nt_match *match_of(struct nt_comm *c, uint32_t at)
{
	const struct nt_decision *d = &c->decision.fifo[at];
	struct nt_match *m = &c->events.match[at];

	if (m->serial != d->serial)
		*m = (struct nt_match){ .serial = d->serial, .left_bytes = d->bytes };
	return m;
}

/* A decision that already has tasks, else one of exactly this size (the newest, since a simulated
 * group may come first), else the first that is large enough. -1: none. */
static int find_decision(struct nt_comm *c, int coll, int pair, uint64_t bytes)
{
	int exact = -1, fits = -1;

	for (uint32_t i = 0; i < c->decision.fifo_count && bytes > 0; i++) {
		const struct nt_decision *d = &c->decision.fifo[i];
		const struct nt_match *m = match_of(c, i);

		if (d->coll != coll || nt_arm_pair(d->arm) != pair || m->left_bytes < bytes)
			continue;
		if (m->tasks > 0)
			return (int)i;
		if (m->left_bytes == bytes)
			exact = (int)i;
		else if (fits < 0)
			fits = (int)i;
	}
	return exact >= 0 ? exact : fits;
}

/* NCCL did not follow a forced decision of this size. */
static void note_difference(struct nt_comm *c, int coll, uint64_t bytes)
{
	nt_process_count(c->fixed.process, NT_COUNT_UNMATCHED);
	for (uint32_t i = c->decision.fifo_count; i-- > 0 && bytes > 0;) {
		const struct nt_decision *d = &c->decision.fifo[i];
		struct nt_match *m = match_of(c, i);

		if (d->coll == coll && d->forced && m->left_bytes >= bytes) {
			m->left_bytes -= bytes;
			atomic_fetch_add_explicit(&d->key->events.differed, 1,
						  memory_order_relaxed);
			return;
		}
	}
}

/* The channels that NCCL gives a pair by itself; caps are based on them. Only a task that is alone
 * tells, since the tasks of a launch share the channels. */
static void note_channels(const struct nt_decision *d, uint8_t channels)
{
	struct nt_shm_key *shared = d->key->fixed.shared;
	int pair = nt_arm_pair(d->arm);

	if (channels != 0 && shared && d->arm == pair)
		atomic_store_explicit(&shared->channels[pair], channels, memory_order_relaxed);
}

/* All tasks of a measured decision have the same handle. */
static void *measure_decision(struct nt_comm *c, const struct nt_decision *d, struct nt_match *m,
			      uint32_t name)
{
	struct nt_process *process = c->fixed.process;
	const unsigned rank_slot = c->fixed.slot.index;
	const struct nt_sample sample = { .whose = c,
					  .key = d->key,
					  .run = d->run,
					  .owner = d->owner,
					  .epoch = d->epoch,
					  .rank_slot = rank_slot,
					  .position = d->position,
					  .name = name,
					  .number = d->number };
	struct nt_sample victim;
	bool lost;

	if (m->tasks > 1)
		return m->slot;
	if (d->run != NT_NO_RUN)
		atomic_fetch_add_explicit(&process->map.shm->run[d->run].issued[rank_slot], 1,
					  memory_order_relaxed);
	m->slot = nt_event_slot_take(&process->slots, &sample, &lost, &victim);
	if (lost) {
		nt_process_count(process, NT_COUNT_GIVEN_UP);
		count_done(process, &victim);
	}
	if (!m->slot)
		count_done(process, &sample);
	return m->slot;
}

/* Do this thread's events follow their group's decisions in program order? From v5 on each launch
 * tells its thread, before only the decision does. */
static bool in_program_order(const struct nt_comm *c)
{
	const _Atomic uintptr_t *thread = c->fixed.profiler_api >= 5 ? &c->launch.thread
								     : &c->decision.thread;

	return atomic_load_explicit(thread, memory_order_relaxed) == nt_thread_self();
}

void *nt_event_coll(struct nt_comm *c, const struct nt_coll_event *event)
{
	int coll = nt_coll_parse(event->func), at;
	int algo = nt_algo_parse(event->algo), proto = nt_proto_parse(event->proto);
	const struct nt_decision *d;
	struct nt_match *m;
	uint64_t bytes;
	bool listening;

	if (coll < 0)
		return NULL;
	/* The mask may be on for other communicators. */
	listening = nt_comm_listening(c);
	bytes = listening ? event_bytes(c, coll, event) : 0;
	/* First: once the turn is published, the task log must be complete. */
	if (listening)
		nt_task_log_note(&c->events.task_log[coll], event->seq,
				 event->symmetric ? NT_TASK_LOG_NONE : nt_band(bytes));
	nt_comm_note_turn(c, coll, event->seq);
	if (!listening)
		return NULL;
	if (!in_program_order(c)) {
		/* The decision thread may be using its list. */
		nt_comm_flag(c, NT_PARTICIPANT_ASYNC);
		return NULL;
	}
	if (event->symmetric) {
		atomic_store_explicit(
			&c->events.func[coll].symmetric,
			atomic_load_explicit(&c->decision.group, memory_order_relaxed),
			memory_order_relaxed);
		return NULL;
	}
	at = algo < 0 || proto < 0 ? -1 : find_decision(c, coll, algo * NT_PROTOS + proto, bytes);
	if (at < 0) {
		note_difference(c, coll, bytes);
		return NULL;
	}
	d = &c->decision.fifo[at];
	m = match_of(c, (uint32_t)at);
	if (c->decision.fifo_count == 1 && m->tasks == 0 && m->left_bytes == bytes)
		note_channels(d, event->channels);
	m->left_bytes -= bytes;
	m->tasks++;
	if (m->left_bytes == 0)
		atomic_store_explicit(&d->key->events.tasks, m->tasks, memory_order_relaxed);
	if (d->forced)
		atomic_fetch_add_explicit(&d->key->events.forced, 1, memory_order_relaxed);
	return d->measured ? measure_decision(c, d, m, nt_kept_name(coll, algo, event->seq)) : NULL;
}

void nt_event_call(struct nt_comm *c, bool captured)
{
	if (captured)
		nt_apply_plan_freeze(c);
	atomic_store_explicit(&c->decision.called, true, memory_order_relaxed);
}

void nt_event_launch(struct nt_comm *c)
{
	struct nt_comm_launch *launch = &c->launch;

	/* Captured; replays launch it, and nobody waits for it. */
	if (nt_comm_frozen(c))
		return;
	atomic_store_explicit(&launch->thread, nt_thread_self(), memory_order_relaxed);
	/* The launch before had no Group event on its thread. */
	if (nt_comm_launch_pending(c)) {
		atomic_store_explicit(&launch->left,
				      atomic_load_explicit(&launch->left, memory_order_relaxed) + 1,
				      memory_order_relaxed);
		nt_process_count(c->fixed.process, NT_COUNT_ASYNC);
		nt_comm_flag(c, NT_PARTICIPANT_ASYNC);
	}
	/* Single writer: no read-modify-write. */
	atomic_store_explicit(&launch->newest,
			      atomic_load_explicit(&launch->newest, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

/* Only a plan that is left to CUDA's callback thread gets a handle, for the stop event after its
 * Coll events. If others had one, NCCL would count captured tasks that it otherwise does not count
 * (profiler.cc:427@v2.28.9-1). */
void *nt_event_group(struct nt_comm *c)
{
	struct nt_comm_launch *launch = &c->launch;

	/* On the launching thread: the launch's event, or that of a plan without one (copy
	 * engine) */
	if (atomic_load_explicit(&launch->thread, memory_order_relaxed) == nt_thread_self()) {
		atomic_store_explicit(&launch->told,
				      atomic_load_explicit(&launch->newest, memory_order_relaxed),
				      memory_order_relaxed);
		return NULL;
	}
	if (nt_comm_frozen(c))
		return NULL;
	return make_handle(c, KIND_GROUP, 0);
}

void nt_event_group_stop(struct nt_process *process, void *group)
{
	struct nt_comm *c = NULL;

	if (((uintptr_t)group & KIND_MASK) == KIND_GROUP)
		c = comm_of(process, group);
	/* Pairs with the acquire in nt_comm_events_owed(). */
	if (c)
		atomic_fetch_add_explicit(&c->events.launches_begun, 1, memory_order_release);
}

/* By nt_shm_time(); 0: no valid time. */
static uint32_t time_between(uint64_t from_ns, uint64_t to_ns)
{
	const uint64_t ns = to_ns - from_ns;

	if (ns < NT_TIME_COARSE)
		return (uint32_t)ns;
	return to_ns > from_ns ? nt_shm_time(ns) : 0;
}

/* One thread at a time. NCCL has one thread for laps, but which one may change: an event that meets
 * another thread here is dropped, and laps under way become invalid. */
static bool take_laps(struct nt_comm *c)
{
	/* Pairs with the release in leave_laps(). */
	if (!atomic_exchange_explicit(&c->laps.busy, true, memory_order_acquire))
		return true;
	atomic_fetch_add_explicit(&c->laps.missed, 1, memory_order_relaxed);
	nt_process_count(c->fixed.process, NT_COUNT_DROPPED);
	return false;
}

static void leave_laps(struct nt_comm *c)
{
	atomic_store_explicit(&c->laps.busy, false, memory_order_release);
}

static uint32_t missed_so_far(const struct nt_comm *c)
{
	/* Of two events at one time the order does not matter; nothing to pair with. */
	return atomic_load_explicit(&c->laps.missed, memory_order_relaxed);
}

/* time 0: unknown. The first channel's time counts; the others find the decision finished. */
static void finish_sample(struct nt_process *process, const void *coll, uint32_t time)
{
	struct nt_sample sample;

	if (!nt_event_slot_finish(&process->slots, coll, &sample))
		return;
	if (time != 0)
		keep_time(process, &sample, time);
	else
		nt_process_count(process, NT_COUNT_DROPPED);
	count_done(process, &sample);
}

/* A channel starts another decision's collective: the time since its start before, with the way to
 * this one, is that decision's. */
static void end_lap(struct nt_comm *c, struct nt_lap *lap, uint64_t start_ns)
{
	bool whole = lap->missed == missed_so_far(c);

	finish_sample(c->fixed.process, lap->coll,
		      whole ? time_between(lap->start_ns, start_ns) : 0);
	lap->coll = NULL;
}

/* From 2.31 on a start may be told after a later one, if both came between two polls of NCCL's
 * thread (profilerProgressOps, src/plugin/profiler.cc@88980683): its time is unknown, and the lap
 * goes on. Twice in a row means that the lap's own stamp is wrong. */
static bool is_late(struct nt_comm *c, struct nt_lap *lap, const void *coll, uint64_t start_ns)
{
	bool late = lap->coll && start_ns < lap->start_ns && !lap->late;

	lap->late = late;
	if (late && coll)
		finish_sample(c->fixed.process, coll, 0);
	return late;
}

/* The key's next call: keep the time since the one before. */
static void end_period(struct nt_process *process, const void *coll, uint64_t start_ns)
{
	struct nt_sample now;
	struct nt_begun *last;
	struct nt_shm_run *run;
	bool next;

	if (!nt_event_slot_look(&process->slots, coll, &now) || now.run == NT_NO_RUN)
		return;
	last = &((struct nt_local_key *)now.key)->laps.begun;
	next = last->owner == now.owner && last->epoch == now.epoch;
	if (next && now.position <= last->position)
		return; /* this channel is late */
	run = run_of(process, &now);
	if (run && next && now.position == last->position + 1)
		atomic_store_explicit(&run->period[now.rank_slot][last->position],
				      time_between(last->start_ns, start_ns), memory_order_relaxed);
	*last = (struct nt_begun){ now.owner, now.epoch, now.position, start_ns };
}

static void *begin_kernel(struct nt_comm *c, void *coll, unsigned channel, uint64_t start_ns)
{
	struct nt_lap *lap = &c->laps.lap[channel % NT_LAP_CHANNELS];
	bool first;

	if (lap->coll && lap->coll == coll)
		return nt_event_slot_to_kernel(coll); /* the same decision's next task */
	if (is_late(c, lap, coll, start_ns))
		return NULL;
	if (lap->coll)
		end_lap(c, lap, start_ns);
	if (!coll)
		return NULL;
	if (!nt_event_slot_live(&c->fixed.process->slots, coll)) {
		nt_process_count(c->fixed.process, NT_COUNT_STALE);
		return NULL;
	}
	*lap = (struct nt_lap){ .coll = coll, .start_ns = start_ns, .missed = missed_so_far(c) };
	first = c->laps.begun != coll;
	if (first) {
		end_period(c->fixed.process, coll, start_ns);
		nt_kept_begin(&c->laps.kept, coll, start_ns);
	}
	c->laps.begun = coll;
	return first ? nt_event_slot_to_kernel(coll) : NULL;
}

static bool is_p2p(const void *handle)
{
	return handle && ((uintptr_t)handle & KIND_MASK) == KIND_P2P;
}

static uint32_t p2p_serial(const void *handle)
{
	return (uint32_t)((uintptr_t)handle >> (2 + INDEX_BITS + OPENED_BITS));
}

void nt_event_group_call(struct nt_comm *c, bool captured)
{
	struct nt_process *process = c->fixed.process;

	nt_p2p_begin_group(&process->groups);
	/* Of a collective perhaps no other event tells: only sends are counted (tuner/mask.h). */
	if (captured)
		nt_mask_forbid(&process->mask);
}

/* Without a handle NCCL would emit no event of the plan's tasks (profiler.cc:242@v2.27.7-1). This
 * one stops nothing, since it names no plan that is left to CUDA's callback thread. */
void *nt_event_group_v4(struct nt_comm *c)
{
	nt_p2p_begin_group(&c->fixed.process->groups);
	return make_handle(c, KIND_P2P, 0);
}

/* The first send or receive of a group. It has no number: the step marker is a collective. */
static void note_p2p(struct nt_comm *c, const struct nt_p2p_event *event)
{
	const size_t bytes = event->count * nt_datatype_bytes(event->datatype);
	const bool receives = event->func && strcmp(event->func, "Recv") == 0;
	const unsigned kind = receives ? NT_P2P_RECV : NT_P2P_SEND;

	nt_stretch_note(&c->fixed.process->stretch,
			&(struct nt_period_call){ .key = nt_key_id(kind, nt_band(bytes), 0),
						  .comm = c->fixed.opened,
						  .ranks = c->fixed.ranks });
}

void nt_event_p2p_call(struct nt_comm *c, const struct nt_p2p_event *event)
{
	struct nt_process *process = c->fixed.process;
	const uint32_t calls = nt_p2p_calls(&c->p2p);

	if (event->captured)
		nt_apply_plan_freeze(c);
	if (!nt_p2p_note(&c->p2p, &process->groups, c->fixed.ranks, event))
		nt_process_count(process, NT_COUNT_NO_KEY);
	if (nt_p2p_calls(&c->p2p) != calls && nt_stretch_is_open(&process->stretch))
		note_p2p(c, event);
}

void *nt_event_p2p(struct nt_comm *c)
{
	uint32_t serial = nt_comm_frozen(c) ? 0 : nt_p2p_launch(&c->p2p);

	return serial ? make_handle(c, KIND_P2P, serial) : NULL;
}

void *nt_event_kernel(struct nt_comm *c, void *coll, unsigned channel, uint64_t start_ns)
{
	void *kernel;

	nt_gpu_times_came(c);
	if (!take_laps(c))
		return NULL;
	kernel = begin_kernel(c, is_p2p(coll) ? NULL : coll, channel, start_ns);
	if (is_p2p(coll)) {
		nt_p2p_kernel(&c->p2p, p2p_serial(coll), start_ns);
		kernel = coll;
	}
	leave_laps(c);
	return kernel;
}

static void end_p2p(struct nt_process *process, const void *handle, uint64_t stop_ns)
{
	struct nt_comm *c = comm_of(process, handle);

	if (!c || !take_laps(c))
		return;
	nt_p2p_kernel_end(&c->p2p, p2p_serial(handle), stop_ns);
	leave_laps(c);
}

/* One channel's end counts for all: they move the same number of bytes, up to a chunk. The last of
 * several tasks counts, unless another decision of the key has begun. */
static void end_kernel(struct nt_process *process, const struct nt_sample *now, uint64_t stop_ns)
{
	const struct nt_begun *begun = &((const struct nt_local_key *)now->key)->laps.begun;
	struct nt_shm_run *run;
	_Atomic uint32_t *duration;
	uint32_t time;

	if (begun->owner != now->owner || begun->epoch != now->epoch ||
	    begun->position != now->position)
		return;
	run = run_of(process, now);
	time = time_between(begun->start_ns, stop_ns);
	duration = run ? &run->duration[now->rank_slot][now->position] : NULL;
	if (duration && atomic_load_explicit(duration, memory_order_relaxed) < time)
		atomic_store_explicit(duration, time, memory_order_relaxed);
}

void nt_event_kernel_end(struct nt_process *process, void *kernel, uint64_t stop_ns)
{
	const void *coll = nt_event_slot_of_kernel(kernel);
	struct nt_sample now;
	struct nt_comm *c;

	if (is_p2p(kernel))
		end_p2p(process, kernel, stop_ns);
	if (!coll || !nt_event_slot_look(&process->slots, coll, &now))
		return;
	c = (struct nt_comm *)now.whose;
	nt_calls_end(c->fixed.calls, now.number);
	if (!take_laps(c))
		return;
	nt_kept_end(&c->laps.kept, coll, now.name, stop_ns);
	if (now.run != NT_NO_RUN)
		end_kernel(process, &now, stop_ns);
	leave_laps(c);
}
