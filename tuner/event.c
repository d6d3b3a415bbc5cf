/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - what NCCL's profiler tells: turns, which arm a collective really ran, and how long it took on the GPU
 *
 * Coll events name collective, arm and bytes, not the call; they are matched to the decisions of their group by that.
 * KernelCh events come from the proxy thread, for each channel, with nothing but the handle of their Coll event.
 */
#include <stdlib.h>
#include <string.h>
#include "tuner/comm.h"

#define KIND_GROUP 3u		/* of a handle; 1 and 2 are tuner/slot.h's */
#define SLACK_NS 50000u		/* a collective may seem to start this long before its forerunner's end */

/* Hand a duration over, 0 where there is none: then it only counts as done. */
static void deliver(struct nt_session *session, const struct nt_sample *to, uint32_t duration_ns)
{
	struct nt_board_run *run;
	uint32_t at, nothing = 0;

	if (to->run == NT_NO_RUN) {
		if (duration_ns == 0 || !to->key->observed_ns)
			return;
		at = atomic_fetch_add_explicit(&to->key->observed, 1, memory_order_relaxed);
		if (at < NT_OBSERVED_MAX)
			/* Pairs with the helper's acquire: 0 is "not yet". */
			atomic_store_explicit(&to->key->observed_ns[at], duration_ns, memory_order_release);
		return;
	}
	run = &session->map.board->run[to->run];
	if (atomic_load_explicit(&run->owner, memory_order_acquire) != to->owner) {
		nt_session_count(session, NT_COUNT_DROPPED);
		return;
	}
	if (duration_ns != 0)
		atomic_compare_exchange_strong_explicit(&run->sample_ns[to->member][to->position], &nothing,
							duration_ns, memory_order_relaxed, memory_order_relaxed);
	/* Pairs with the speaker's look at done: what counts as done is there. */
	atomic_fetch_add_explicit(&run->done[to->member], 1, memory_order_release);
}

/* A proxy thread that lags behind by more than NCCL's 64 stamps a channel hands out newer ones for older collectives
 * (src/device/common.h:309@v2.28.9-1): times that overlap the collective before are not true. */
static uint32_t plausible_ns(struct nt_comm *comm, const struct nt_slot_result *result)
{
	uint64_t last = atomic_load_explicit(&comm->last_stop_ns, memory_order_relaxed);
	bool same_group = atomic_load_explicit(&comm->last_group, memory_order_relaxed) == result->sample.group;

	atomic_store_explicit(&comm->last_stop_ns, result->stop_ns, memory_order_relaxed);
	atomic_store_explicit(&comm->last_group, result->sample.group, memory_order_relaxed);
	if (result->start_ns >= result->stop_ns || result->stop_ns - result->start_ns > UINT32_MAX)
		return 0;
	if (!same_group && result->start_ns + SLACK_NS < last)
		return 0;
	return (uint32_t)(result->stop_ns - result->start_ns);
}

static void complete(struct nt_session *session, const struct nt_slot_result *result)
{
	uint32_t duration_ns = plausible_ns(result->sample.comm, result);

	if (duration_ns == 0)
		nt_session_count(session, NT_COUNT_DROPPED);
	deliver(session, &result->sample, duration_ns);
}

/* Bytes as the tuner was told them for this task (src/include/enqueue.h:36@v2.28.9-1). */
static uint64_t event_bytes(const struct nt_comm *c, int coll, const struct nt_coll_event *event)
{
	uint64_t bytes = (uint64_t)event->count * nt_datatype_bytes(event->datatype);

	return coll == NT_ALLGATHER || coll == NT_REDUCESCATTER ? bytes * c->ranks : bytes;
}

static bool may_be(const struct nt_decision *d, int coll, int arm, uint64_t bytes)
{
	return d->coll == coll && d->arm == arm && bytes > 0 && d->left_bytes >= bytes;
}

/* The decision that this task ran by: one of which tasks have come already, else one of exactly its size (the newest:
 * a simulated group may lie before), else the first that is large enough. */
static struct nt_decision *match(struct nt_comm *c, int coll, int arm, uint64_t bytes)
{
	struct nt_decision *exact = NULL, *fits = NULL;

	for (uint32_t i = 0; i < c->fifo_count; i++) {
		struct nt_decision *d = &c->fifo[i];

		if (!may_be(d, coll, arm, bytes))
			continue;
		if (d->tasks > 0)
			return d;
		if (d->left_bytes == bytes)
			exact = d;
		else if (!fits)
			fits = d;
	}
	return exact ? exact : fits;
}

/* A forced decision of this size that ran as something else. */
static void note_difference(struct nt_comm *c, int coll, uint64_t bytes)
{
	nt_session_count(c->session, NT_COUNT_UNMATCHED);
	for (uint32_t i = c->fifo_count; i-- > 0;) {
		struct nt_decision *d = &c->fifo[i];

		if (d->coll == coll && d->forced && bytes > 0 && d->left_bytes >= bytes) {
			d->left_bytes -= bytes;
			atomic_fetch_add_explicit(&d->key->differed, 1, memory_order_relaxed);
			return;
		}
	}
}

static struct nt_sample sample_of(struct nt_comm *c, const struct nt_decision *d)
{
	return (struct nt_sample){
		.comm = c, .key = d->key, .run = d->run, .owner = d->owner, .member = c->seat.member,
		.position = d->position, .group = (uint32_t)atomic_load_explicit(&c->group, memory_order_relaxed),
	};
}

static void take_slot(struct nt_comm *c, struct nt_decision *d)
{
	const struct nt_sample sample = sample_of(c, d);
	struct nt_sample victim;
	bool lost;

	d->taken = true;
	if (d->run != NT_NO_RUN)
		atomic_fetch_add_explicit(&c->session->map.board->run[d->run].issued[c->seat.member], 1,
					  memory_order_relaxed);
	d->slot = nt_slot_take(&c->session->slots, &sample, &lost, &victim);
	if (lost) {
		nt_session_count(c->session, NT_COUNT_GIVEN_UP);
		deliver(c->session, &victim, 0);
	}
	if (d->slot == 0)
		deliver(c->session, &sample, 0);
}

/* A task that cannot be followed: no channels of its own (CollNet), or too many tasks. */
static void drop_slot(struct nt_comm *c, struct nt_decision *d)
{
	const struct nt_sample sample = sample_of(c, d);

	nt_session_count(c->session, NT_COUNT_DROPPED);
	if (nt_slot_drop(&c->session->slots, d->slot))
		deliver(c->session, &sample, 0);
	d->slot = 0;
}

/* The handle for a measured task. The last one of its decision closes the slot. */
static void *measure_task(struct nt_comm *c, struct nt_decision *d, unsigned channels)
{
	struct nt_slot_result result;
	void *handle;

	if (!d->taken)
		take_slot(c, d);
	if (d->slot == 0)
		return NULL;
	handle = nt_slot_task(&c->session->slots, d->slot, d->tasks - 1, channels);
	if (!handle)
		drop_slot(c, d);
	else if (d->left_bytes == 0 && nt_slot_seal(&c->session->slots, d->slot, &result) == NT_SLOT_DONE)
		complete(c->session, &result);
	return handle;
}

/* Calls and decisions of a communicator come before its Coll events: the next decision opens a group. */
static void note_turn(struct nt_comm *c, int coll, uint64_t seq)
{
	atomic_store_explicit(&c->func[coll].turn, seq + 1, memory_order_relaxed);
	/* Pairs with the acquire in turn_of(). */
	atomic_store_explicit(&c->func[coll].group, atomic_load_explicit(&c->group, memory_order_relaxed),
			      memory_order_release);
	atomic_store_explicit(&c->boundary, true, memory_order_relaxed);
}

void *nt_event_coll(struct nt_comm *c, const struct nt_coll_event *event)
{
	int coll = nt_coll_parse(event->func);
	int algo = nt_algo_parse(event->algo), proto = nt_proto_parse(event->proto);
	struct nt_decision *d;
	uint64_t bytes;

	if (coll < 0)
		return NULL;
	note_turn(c, coll, event->seq);
	if (atomic_load_explicit(&c->decider, memory_order_relaxed) != nt_thread_self()) {
		/* The decision thread may be at work on its list. */
		nt_comm_flag(c, NT_MEMBER_ASYNC);
		return NULL;
	}
	bytes = event_bytes(c, coll, event);
	d = algo < 0 || proto < 0 ? NULL : match(c, coll, algo * NT_PROTOS + proto, bytes);
	if (!d) {
		note_difference(c, coll, bytes);
		return NULL;
	}
	d->left_bytes -= bytes;
	d->tasks++;
	if (d->forced)
		atomic_fetch_add_explicit(&d->key->forced, 1, memory_order_relaxed);
	return d->measured ? measure_task(c, d, event->channels) : NULL;
}

void nt_event_call(struct nt_comm *c, bool captured)
{
	if (captured)
		nt_comm_freeze(c);
	atomic_store_explicit(&c->boundary, true, memory_order_relaxed);
}

void nt_event_launch(struct nt_comm *c)
{
	/* The launch before this one was not followed by its Group event on this thread. */
	if (atomic_exchange_explicit(&c->launcher, nt_thread_self(), memory_order_relaxed) != 0) {
		atomic_fetch_add_explicit(&c->async_launched, 1, memory_order_relaxed);
		nt_session_count(c->session, NT_COUNT_ASYNC);
		nt_comm_flag(c, NT_MEMBER_ASYNC);
	}
}

/* Only a plan left to CUDA's callback thread gets a handle, for its stop, when its Coll events have come. A handle for
 * other plans would make NCCL count captured tasks where it otherwise does not (profiler.cc:427@v2.28.9-1). */
void *nt_event_group(struct nt_comm *c)
{
	uintptr_t self = nt_thread_self();

	if (atomic_load_explicit(&c->launcher, memory_order_relaxed) == self) {
		atomic_store_explicit(&c->launcher, 0, memory_order_relaxed);
		return NULL;
	}
	if (nt_comm_frozen(c) || atomic_load_explicit(&c->decider, memory_order_relaxed) == self)
		return NULL;
	return (void *)((uintptr_t)c->opened << 32 | (uintptr_t)c->index << 2 | KIND_GROUP);
}

void nt_event_group_stop(struct nt_session *session, void *group)
{
	uintptr_t handle = (uintptr_t)group;
	struct nt_comm *c = NULL;

	/* The slot of the list was filled before the handle was made, and is never emptied. */
	if ((handle & 3) == KIND_GROUP && (uint32_t)handle >> 2 < NT_COMMS_MAX)
		c = session->comm[(uint32_t)handle >> 2];
	/* Pairs with the acquire in events_owed(). */
	if (c && c->opened == handle >> 32)
		atomic_fetch_add_explicit(&c->async_started, 1, memory_order_release);
}

void *nt_event_kernel(struct nt_session *session, void *coll, unsigned channel, uint64_t start_ns)
{
	void *handle = coll ? nt_slot_start(&session->slots, coll, channel, start_ns) : NULL;

	if (coll && !handle)
		nt_session_count(session, NT_COUNT_STALE);
	return handle;
}

void nt_event_kernel_stop(struct nt_session *session, void *kernel, uint64_t stop_ns)
{
	struct nt_slot_result result;

	switch (nt_slot_stop(&session->slots, kernel, stop_ns, &result)) {
	case NT_SLOT_STALE:
		nt_session_count(session, NT_COUNT_STALE);
		return;
	case NT_SLOT_MORE:
		return;
	case NT_SLOT_DONE:
		complete(session, &result);
		return;
	}
}
