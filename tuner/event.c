/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - what NCCL's profiler tells: turns, which arm a collective really ran, and the time
 * until the next one
 *
 * Coll events name collective, arm and bytes, not the call; they are matched to the decisions of
 * their group by that. KernelCh events come from the proxy thread, for each channel, with nothing
 * but the handle of their Coll event. Only their starts are used: a stop is stamped when one of a
 * block's threads is done, not the collective (docs/decisions/0004-reward.md).
 */
#include "tuner/comm.h"

#define KIND_GROUP 3u /* of a handle; 1 and 2 are tuner/slot.h's */

/* The run that a sample is for; NULL where it is another key's by now, or this key's for another
 * plan. */
static struct nt_board_run *run_of(struct nt_session *session, const struct nt_sample *to)
{
	struct nt_board_run *run = &session->map.board->run[to->run];

	if (atomic_load_explicit(&run->owner, memory_order_acquire) == to->owner &&
	    atomic_load_explicit(&to->key->shared->epoch, memory_order_acquire) == to->epoch)
		return run;
	return NULL;
}

/* Its time is known, or will not be. */
static void count_done(struct nt_session *session, const struct nt_sample *to)
{
	struct nt_board_run *run = to->run == NT_NO_RUN ? NULL : run_of(session, to);

	/* Pairs with the speaker's look at done: the time is there. */
	if (run)
		atomic_fetch_add_explicit(&run->done[to->member], 1, memory_order_release);
}

/* What a decision took. A position that several decisions came to keeps its first one. */
static void keep_time(struct nt_session *session, const struct nt_sample *to, uint32_t ns)
{
	struct nt_board_run *run;
	uint32_t at, nothing = 0;

	if (to->run != NT_NO_RUN) {
		run = run_of(session, to);
		if (!run)
			nt_session_count(session, NT_COUNT_DROPPED);
		else
			atomic_compare_exchange_strong_explicit(
				&run->sample_ns[to->member][to->position], &nothing, ns,
				memory_order_relaxed, memory_order_relaxed);
		return;
	}
	if (!to->key->observed_ns)
		return;
	at = atomic_fetch_add_explicit(&to->key->observed, 1, memory_order_relaxed);
	if (at < NT_OBSERVED_MAX)
		/* Pairs with the helper's acquire: 0 is "not yet". */
		atomic_store_explicit(&to->key->observed_ns[at], ns, memory_order_release);
}

/* Bytes as the tuner was told them for this task (src/include/enqueue.h:36@v2.28.9-1). */
static uint64_t event_bytes(const struct nt_comm *c, int coll, const struct nt_coll_event *event)
{
	uint64_t bytes = (uint64_t)event->count * nt_datatype_bytes(event->datatype);

	return coll == NT_ALLGATHER || coll == NT_REDUCESCATTER ? bytes * c->ranks : bytes;
}

static bool may_be(const struct nt_decision *d, int coll, int arm, uint64_t bytes)
{
	return d->coll == coll && nt_arm_pair(d->arm) == arm && bytes > 0 && d->left_bytes >= bytes;
}

/* The decision that this task ran by: one of which tasks have come already, else one of exactly its
 * size (the newest: a simulated group may lie before), else the first that is large enough. */
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

/* What caps are fractions of: how many channels NCCL gives a pair by itself. */
static void note_channels(const struct nt_comm *c, const struct nt_decision *d, uint64_t bytes,
			  uint8_t channels)
{
	/* Tasks of one launch share the channels. */
	bool alone = c->fifo_count == 1 && d->tasks == 0 && d->left_bytes == bytes;
	int pair = nt_arm_pair(d->arm);

	if (alone && channels != 0 && d->key->shared && d->arm == pair)
		atomic_store_explicit(&d->key->shared->channels[pair], channels,
				      memory_order_relaxed);
}

/* The handle of a measured decision, the same for all its tasks. */
static void *measure(struct nt_comm *c, struct nt_decision *d)
{
	const struct nt_sample sample = { .comm = c,
					  .key = d->key,
					  .run = d->run,
					  .owner = d->owner,
					  .epoch = d->epoch,
					  .member = c->seat.member,
					  .position = d->position };
	struct nt_sample victim;
	bool lost;

	if (d->tasks > 1)
		return d->slot;
	if (d->run != NT_NO_RUN)
		atomic_fetch_add_explicit(
			&c->session->map.board->run[d->run].issued[c->seat.member], 1,
			memory_order_relaxed);
	d->slot = nt_slot_take(&c->session->slots, &sample, &lost, &victim);
	if (lost) {
		nt_session_count(c->session, NT_COUNT_GIVEN_UP);
		count_done(c->session, &victim);
	}
	if (!d->slot)
		count_done(c->session, &sample);
	return d->slot;
}

/* Calls and decisions of a communicator come before its Coll events: the next decision opens a
 * group. */
static void note_turn(struct nt_comm *c, int coll, uint64_t seq)
{
	atomic_store_explicit(&c->func[coll].turn, seq + 1, memory_order_relaxed);
	/* Pairs with the acquire in turn_of(). */
	atomic_store_explicit(&c->func[coll].group,
			      atomic_load_explicit(&c->group, memory_order_relaxed),
			      memory_order_release);
	atomic_store_explicit(&c->boundary, true, memory_order_relaxed);
}

/* Whether this thread's events follow the decisions of their group in the program. From v5 on each
 * launch tells its thread, before that only the decision. */
static bool in_program_order(const struct nt_comm *c)
{
	const _Atomic uintptr_t *thread = c->profiler_api >= 5 ? &c->launcher : &c->decider;

	return atomic_load_explicit(thread, memory_order_relaxed) == nt_thread_self();
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
	/* The mask is on for other communicators too. Pairs with the release in nt_comm_open_key().
	 */
	if (!atomic_load_explicit(&c->listening, memory_order_acquire))
		return NULL;
	if (!in_program_order(c)) {
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
	note_channels(c, d, bytes, event->channels);
	d->left_bytes -= bytes;
	d->tasks++;
	if (d->forced)
		atomic_fetch_add_explicit(&d->key->forced, 1, memory_order_relaxed);
	return d->measured ? measure(c, d) : NULL;
}

void nt_event_call(struct nt_comm *c, bool captured)
{
	if (captured)
		nt_comm_freeze(c);
	atomic_store_explicit(&c->boundary, true, memory_order_relaxed);
}

void nt_event_launch(struct nt_comm *c)
{
	/* Captured, and launched by replays: nobody waits for this one. */
	if (nt_comm_frozen(c))
		return;
	atomic_store_explicit(&c->launcher, nt_thread_self(), memory_order_relaxed);
	/* The launch before this one was not followed by its Group event on its thread. */
	if (atomic_exchange_explicit(&c->launching, true, memory_order_relaxed)) {
		atomic_fetch_add_explicit(&c->async_launched, 1, memory_order_relaxed);
		nt_session_count(c->session, NT_COUNT_ASYNC);
		nt_comm_flag(c, NT_MEMBER_ASYNC);
	}
}

/* Only a plan left to CUDA's callback thread gets a handle, for its stop, when its Coll events have
 * come. A handle for other plans would make NCCL count captured tasks where it otherwise does not
 * (profiler.cc:427@v2.28.9-1). */
void *nt_event_group(struct nt_comm *c)
{
	/* On the launching thread: the launch's own, or one of a plan that has no launch event
	 * (copy engine). */
	if (atomic_load_explicit(&c->launcher, memory_order_relaxed) == nt_thread_self()) {
		atomic_store_explicit(&c->launching, false, memory_order_relaxed);
		return NULL;
	}
	if (nt_comm_frozen(c))
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

/* A channel begins another decision's collective: that is how long the one before took, the way to
 * it included. */
static void end_lap(struct nt_comm *c, struct nt_lap *lap, uint64_t start_ns)
{
	struct nt_sample sample;
	bool plausible = start_ns > lap->start_ns && start_ns - lap->start_ns <= UINT32_MAX;

	/* The first channel tells; the others find it finished. */
	if (nt_slot_finish(&c->session->slots, lap->coll, &sample)) {
		if (plausible)
			keep_time(c->session, &sample, (uint32_t)(start_ns - lap->start_ns));
		else
			nt_session_count(c->session, NT_COUNT_DROPPED);
		count_done(c->session, &sample);
	}
	lap->coll = NULL;
}

/* Another call of its key: so long did the program take from the one before to this one. */
static void end_period(struct nt_comm *c, const void *coll, uint64_t start_ns)
{
	struct nt_sample now;
	struct nt_begun *last;
	struct nt_board_run *run;
	bool next;

	if (!nt_slot_look(&c->session->slots, coll, &now) || now.run == NT_NO_RUN)
		return;
	last = &now.key->begun;
	next = last->owner == now.owner && last->epoch == now.epoch;
	if (next && now.position <= last->position)
		return; /* a channel that is late */
	run = run_of(c->session, &now);
	if (run && next && now.position == last->position + 1 && start_ns > last->start_ns &&
	    start_ns - last->start_ns <= UINT32_MAX)
		atomic_store_explicit(&run->period_ns[now.member][last->position],
				      (uint32_t)(start_ns - last->start_ns), memory_order_relaxed);
	*last = (struct nt_begun){ now.owner, now.epoch, now.position, start_ns };
}

void nt_event_kernel(struct nt_comm *c, void *coll, unsigned channel, uint64_t start_ns)
{
	struct nt_lap *lap = &c->lap[channel % NT_LAP_CHANNELS];

	if (lap->coll && lap->coll == coll)
		return; /* another task of the same decision */
	if (lap->coll)
		end_lap(c, lap, start_ns);
	if (!coll)
		return;
	if (!nt_slot_live(&c->session->slots, coll)) {
		nt_session_count(c->session, NT_COUNT_STALE);
		return;
	}
	lap->coll = coll;
	lap->start_ns = start_ns;
	if (c->begun != coll)
		end_period(c, coll, start_ns);
	c->begun = coll;
}
