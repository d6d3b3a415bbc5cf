/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/coordinator.h"

#include <string.h>
#include "pmix-sync/outbox.h"
#include "pmix-sync/shm.h"
#include "pmix-sync/view.h"
#include "pmix-sync/window-layout.h"

#define NT_OPEN_CALLS 8 /* calls of an open key until its stride is known */
#define NT_ATTEMPTS 10 /* proposals of one plan before the key is given up */
#define NT_RANKS_WAIT_MS 100 /* longest time that the coordinator's ranks wait for answers */
#define NT_DECIDE_MS 2000 /* least time for answers to a proposal */
/* Other nodes may become ready this much later than the coordinator, or this many pauses. */
#define NT_READY_MS 30000
#define NT_READY_PAUSES 8
#define NT_BUSY_MS 500 /* first wait for a sample area, doubled each time */
#define NT_BUSY_TRIES 8
#define NT_RECHECK_LEAD_MS 1000 /* least lead of a recheck across nodes: logs are read rarely */
#define NT_RECHECK_ATTEMPTS 4
#define NT_SIBLINGS_MS 2000 /* longest wait for a sibling that should be ready, too */
#define NT_SIBLING_TURNS 16 /* siblings differ by at most so many turns */

static void tell_nodes(struct nt_agree *a, struct nt_agree_comm *comm,
		       const struct nt_agree_key *key, uint32_t type)
{
	struct nt_entry entry = {
		.type = type, .comm = comm->id, .key = key->id, .epoch = key->plan.epoch
	};

	nt_outbox_say(a, comm, &entry);
}

static void ask_all(struct nt_agree *a, struct nt_agree_key *key)
{
	key->answered = key->refused = key->busy = false;
	key->asked_ms = a->now_ms;
}

static void finish_key(struct nt_agree *a, struct nt_agree_key *key)
{
	key->coordinator = NT_COORDINATOR_DONE;
	if (key->tuner)
		a->config.hooks.end(key->tuner);
	key->tuner = NULL;
}

/* No more plans for this key. No plan that ends is in force on any node then, so this changes no
 * decision. */
static void close_key(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key,
		      const struct nt_plan *result)
{
	struct nt_entry entry = {
		.type = NT_ENTRY_CLOSE, .comm = comm->id, .key = key->id, .span = key->opened
	};

	if (result) {
		entry.bytes = result->payload;
		entry.count = result->payload_bytes;
	}
	nt_outbox_say(a, comm, &entry);
	finish_key(a, key);
}

static void open_key(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	struct nt_shm_comm *shm = nt_view_comm(a, comm);

	key->tuner = a->config.hooks.start(a->config.hooks.arg, shm, &shm->key[key->slot]);
	if (!key->tuner) {
		close_key(a, comm, key, NULL);
		return;
	}
	ask_all(a, key);
	key->asked = 0;
	key->coordinator = NT_COORDINATOR_WANTED;
	tell_nodes(a, comm, key, NT_ENTRY_WANT);
}

/* Open a committed key for a recheck. The other nodes open it by themselves: wait for their
 * READY. */
static void open_recheck(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	struct nt_shm_comm *shm = nt_view_comm(a, comm);

	key->tuner = a->config.hooks.start_recheck(a->config.hooks.arg, shm, &shm->key[key->slot],
						   &key->committed_plan);
	if (!key->tuner)
		return;
	ask_all(a, key);
	key->open_ms = key->retry_ms = 0;
	key->asked = 0;
	key->coordinator = NT_COORDINATOR_WANTED;
	key->opened = key->recheck;
}

/* Did this node end the recheck? It takes no more plans of it. */
static bool recheck_over(const struct nt_agree_key *key)
{
	return key->committed && !key->rechecking &&
	       (key->coordinator == NT_COORDINATOR_WANTED ||
		key->coordinator == NT_COORDINATOR_RETRY ||
		key->coordinator == NT_COORDINATOR_RUNNING);
}

/* What our first rank has done since the key was opened: turns, calls and tasks. */
static bool measure_pace(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key,
			 struct nt_cadence *seen)
{
	struct nt_shm_comm *shm = nt_view_comm(a, comm);
	struct nt_shm_key *shm_key = &shm->key[key->slot];
	uint32_t m = 0;
	uint64_t turn;

	while (m < NT_SHM_SLOTS && !nt_view_joined(shm, m))
		m++;
	turn = m < NT_SHM_SLOTS ? atomic_load(&shm_key->turn[m]) : 0;
	if (turn == 0)
		return false;
	if (key->open_ms == 0) {
		key->open_ms = a->now_ms;
		key->open_turn = turn;
		key->open_calls = atomic_load(&shm_key->calls[m]);
		key->open_tasks = atomic_load(&shm_key->tasks);
	}
	*seen = (struct nt_cadence){
		.turns = turn - key->open_turn,
		.calls = atomic_load(&shm_key->calls[m]) - key->open_calls,
		.tasks = atomic_load(&shm_key->tasks) - key->open_tasks,
		.gap = atomic_load(&shm_key->gap),
	};
	return true;
}

/* How far ahead of all known turns a plan must start, so that all nodes can answer and learn the
 * outcome in time. */
static uint64_t lead_turns(struct nt_agree *a, const struct nt_agree_comm *comm,
			   const struct nt_agree_key *key, uint64_t turns)
{
	uint64_t since_ms = a->now_ms - key->open_ms + 1;
	uint64_t rtt_ms = key->committed && !comm->local && comm->rtt_ms < NT_RECHECK_LEAD_MS
				  ? NT_RECHECK_LEAD_MS
				  : comm->rtt_ms;
	uint64_t lead_ms = 2 * rtt_ms << (key->attempts < 6 ? key->attempts : 6);

	return turns * lead_ms / since_ms + 4;
}

/* Siblings have the same number of ranks on the same nodes, this node as their coordinator, and no
 * GPU in common: the data-parallel groups of a job with tensor parallelism. They run side by side,
 * and the program waits for the slowest. So the tuner is asked for the same key of all at the same
 * time, each is given the measurements of all, and equal plans begin at the same turn with the same
 * epoch. A tuner that treats equal input equally then runs the same arms side by side, and decides
 * alike.
 *
 * Nothing of this is agreed on: each communicator has its own proposals, outcomes and plans, and
 * goes on alone if it is late, refused or given another plan. */
static bool are_siblings(struct nt_agree *a, const struct nt_agree_comm *x,
			 const struct nt_agree_comm *y)
{
	if (x == y || !y->is_coordinator || !y->agreed || y->rejected || y->refused ||
	    x->ranks != y->ranks || x->participant_count != y->participant_count)
		return false;
	for (uint32_t i = 0; i < x->participant_count; i++) {
		if (x->participants[i] != y->participants[i])
			return false;
	}
	return !nt_shm_share_gpu(a->config.shm, nt_view_comm(a, x), nt_view_comm(a, y));
}

/* The same key in the next sibling from *at on; NULL: none. */
static struct nt_agree_key *next_sibling(struct nt_agree *a, const struct nt_agree_comm *comm,
					 const struct nt_agree_key *key, uint32_t *at)
{
	while (*at < NT_SHM_COMMS) {
		struct nt_agree_comm *other = a->comms[(*at)++];

		for (uint32_t k = 0; other && k < other->key_count; k++) {
			struct nt_agree_key *sibling = &other->keys[k];

			if (sibling->id == key->id && sibling->slot >= 0 &&
			    are_siblings(a, comm, other))
				return sibling;
		}
	}
	return NULL;
}

static bool asks_tuner(const struct nt_agree_key *key)
{
	return key->coordinator == NT_COORDINATOR_WANTED ||
	       key->coordinator == NT_COORDINATOR_RUNNING;
}

static bool has_proposal(const struct nt_agree_key *key)
{
	return key->coordinator == NT_COORDINATOR_PROPOSED ||
	       key->coordinator == NT_COORDINATOR_RUNNING;
}

/* Equally far in the same exploration or recheck. */
static bool are_abreast(const struct nt_agree_key *key, const struct nt_agree_key *sibling)
{
	return sibling->opened == key->opened && sibling->asked == key->asked;
}

static bool same_plan(const struct nt_plan *x, const struct nt_plan *y)
{
	return x->until == y->until && x->payload_bytes == y->payload_bytes &&
	       memcmp(x->payload, y->payload, x->payload_bytes) == 0;
}

/* Ask the tuner later, because siblings will soon be ready for this key, too? */
static bool awaits_siblings(struct nt_agree *a, const struct nt_agree_comm *comm,
			    const struct nt_agree_key *key)
{
	const struct nt_agree_key *sibling;
	uint32_t at = 0;

	if (a->now_ms - key->answered_ms >= NT_SIBLINGS_MS)
		return false;
	while ((sibling = next_sibling(a, comm, key, &at)) != NULL) {
		/* It is called as often: it will be opened any moment. */
		if (sibling->coordinator == NT_COORDINATOR_IDLE && key->asked == 0 &&
		    key->opened == 0 && 2 * sibling->interval.calls >= key->interval.calls)
			return true;
		if (asks_tuner(sibling) && are_abreast(key, sibling) && !sibling->answered)
			return true;
	}
	return false;
}

/* A sibling's plan with these contents; NULL: none, or it begins too soon or too late. */
static const struct nt_plan *sibling_plan(struct nt_agree *a, const struct nt_agree_comm *comm,
					  const struct nt_agree_key *key, uint64_t top,
					  uint64_t ahead)
{
	const struct nt_agree_key *sibling;
	uint32_t at = 0;

	while ((sibling = next_sibling(a, comm, key, &at)) != NULL) {
		if (has_proposal(sibling) && are_abreast(key, sibling) &&
		    same_plan(&key->plan, &sibling->plan) &&
		    sibling->plan.at >= top + ahead - ahead / 4 &&
		    sibling->plan.at <= top + 2 * ahead + NT_SIBLING_TURNS)
			return &sibling->plan;
	}
	return NULL;
}

/* Before key->plan is proposed with plan.epoch and plan.at, so many turns ahead of `top`: begin
 * with the siblings if possible. Takes at most the slack from the lead, and never reuses an
 * epoch. */
static void align_siblings(struct nt_agree *a, const struct nt_agree_comm *comm,
			   struct nt_agree_key *key, uint64_t top, uint64_t ahead)
{
	const struct nt_plan *with = sibling_plan(a, comm, key, top, ahead);
	const struct nt_agree_key *sibling;
	uint32_t at = 0;

	if (with) {
		key->plan.at = with->at;
		key->plan.stride = with->stride;
		key->plan.cell = with->cell;
		if (with->epoch > key->plan.epoch)
			key->plan.epoch = with->epoch;
		return;
	}
	/* The first of them: the others reach their turns about now. */
	while ((sibling = next_sibling(a, comm, key, &at)) != NULL) {
		if (!asks_tuner(sibling) || !sibling->answered || sibling->opened != key->opened ||
		    sibling->asked + 1 != key->asked)
			continue;
		if (sibling->max_turn > top && sibling->max_turn <= top + NT_SIBLING_TURNS &&
		    sibling->max_turn + ahead > key->plan.at)
			key->plan.at = sibling->max_turn + ahead;
		if (sibling->plan.epoch >= key->plan.epoch)
			key->plan.epoch = sibling->plan.epoch + 1;
	}
}

/* Give all nodes' measurements of key's plan to siblings that run the same plan. */
static void share_with_siblings(struct nt_agree *a, const struct nt_agree_comm *comm,
				const struct nt_agree_key *key, const uint8_t *bytes, size_t count)
{
	const struct nt_agree_key *sibling;
	uint32_t at = 0;

	while (count > 0 && (sibling = next_sibling(a, comm, key, &at)) != NULL) {
		if (sibling->coordinator == NT_COORDINATOR_RUNNING && are_abreast(key, sibling) &&
		    same_plan(&key->plan, &sibling->plan))
			a->config.hooks.absorb(sibling->tuner, bytes, count);
	}
}

static void propose_plan(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	struct nt_entry entry = { .type = NT_ENTRY_PROPOSE, .comm = comm->id, .key = key->id };
	struct nt_cadence seen;
	uint64_t top, ahead;

	/* Participants do not listen while the key is not called. */
	if (a->now_ms < key->retry_ms || nt_view_pauses(a, key) ||
	    !measure_pace(a, comm, key, &seen))
		return;
	top = nt_view_top_turn(nt_view_key(a, comm, key), nt_view_comm(a, comm));
	if (key->max_turn > top)
		top = key->max_turn;
	key->plan.epoch++;
	ahead = lead_turns(a, comm, key, seen.turns);
	key->plan.at = top + ahead;
	align_siblings(a, comm, key, top, ahead);
	key->attempts++;
	key->waited_ms = 0;
	ask_all(a, key);
	key->coordinator = NT_COORDINATOR_PROPOSED;
	entry.epoch = key->plan.epoch;
	entry.turn = key->plan.at;
	entry.stride = key->plan.stride;
	entry.cell = key->plan.cell;
	entry.span = nt_window_layout_turns(&key->plan);
	entry.bytes = key->plan.payload;
	entry.count = key->plan.payload_bytes;
	nt_outbox_say(a, comm, &entry);
}

static bool needs_no_stride(const struct nt_agree *a, const struct nt_agree_key *key)
{
	return a->config.hooks.ready && a->config.hooks.ready(key->tuner);
}

static void ask_tuner(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	struct nt_plan wish = { .until = 0 };
	struct nt_cadence seen;

	if (!measure_pace(a, comm, key, &seen) ||
	    (seen.calls < NT_OPEN_CALLS && !needs_no_stride(a, key)))
		return; /* ask again at the next step */
	if (!comm->refused && awaits_siblings(a, comm, key))
		return;
	key->asked++;
	if (comm->refused || a->config.hooks.next(key->tuner, &wish) == 0) {
		close_key(a, comm, key, comm->refused ? NULL : &wish);
		return;
	}
	wish.epoch = key->plan.epoch;
	nt_window_layout(&seen, &wish);
	key->plan = wish;
	key->attempts = key->busy_tries = 0;
	key->coordinator = NT_COORDINATOR_RETRY; /* do not ask the tuner twice for one plan */
	propose_plan(a, comm, key);
}

static void commit_plan(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	uint64_t took_ms = a->now_ms - key->asked_ms;

	comm->rtt_ms = (comm->rtt_ms + took_ms + 3) / 2;
	a->counts.commit_ms[a->counts.timed++ % NT_AGREE_TIMES] = (uint16_t)(took_ms < UINT16_MAX
										     ? took_ms
										     : UINT16_MAX);
	tell_nodes(a, comm, key, NT_ENTRY_COMMIT);
	if (key->plan.until == NT_NEVER) {
		finish_key(a, key);
		return;
	}
	ask_all(a, key);
	key->coordinator = NT_COORDINATOR_RUNNING;
}

/* If only sample areas were lacking, some may become free: do not count the attempt. */
static void abort_plan(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	tell_nodes(a, comm, key, NT_ENTRY_ABORT);
	key->coordinator = NT_COORDINATOR_RETRY;
	if (key->refused && key->busy && key->busy_tries < NT_BUSY_TRIES) {
		key->retry_ms = a->now_ms + ((uint64_t)NT_BUSY_MS << key->busy_tries++);
		key->attempts--;
	}
}

/* Local ranks wait at the plan's turn: other nodes read the proposal late, and the lead was too
 * short. */
static bool ranks_wait(struct nt_agree *a, const struct nt_agree_comm *comm,
		       struct nt_agree_key *key)
{
	if (!nt_view_waits(a, comm, key))
		key->waited_ms = 0;
	else if (key->waited_ms == 0)
		key->waited_ms = a->now_ms;
	return key->waited_ms != 0 && a->now_ms - key->waited_ms >= NT_RANKS_WAIT_MS;
}

static void step_proposed(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	/* Answers take longer with more nodes, and the first round trip is unknown. */
	uint64_t timeout_ms = (NT_DECIDE_MS + 10 * comm->rtt_ms)
			      << (key->attempts < 5 ? key->attempts - 1 : 4);

	/* Waiting ranks must get the outcome before they give up. */
	if (a->config.agree_ms > 0 && timeout_ms > a->config.agree_ms / 4)
		timeout_ms = a->config.agree_ms / 4;
	if (key->refused || comm->refused || a->now_ms - key->asked_ms > timeout_ms)
		abort_plan(a, comm, key);
	else if (key->answered)
		commit_plan(a, comm, key);
	else if (ranks_wait(a, comm, key))
		abort_plan(a, comm, key);
}

/* The others have had enough time to become ready. A recheck ends by itself. */
static bool waited_long(const struct nt_agree *a, const struct nt_agree_key *key)
{
	return !key->committed && key->ready && !key->answered &&
	       a->now_ms - key->ready_ms >
		       nt_call_interval_ms(&key->interval, NT_READY_PAUSES, NT_READY_MS);
}

static void key_step(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	struct nt_shm_comm *shm = nt_view_comm(a, comm);

	if (recheck_over(key))
		finish_key(a, key);
	switch (key->coordinator) {
	case NT_COORDINATOR_IDLE:
		/* All communicators agreed on in this step must be visible to each other first. */
		if (key->slot >= 0 && !comm->refused &&
		    atomic_load(&shm->state) == NT_COMM_AGREED &&
		    a->config.hooks.may_open(a->config.hooks.arg, shm, &shm->key[key->slot]))
			open_key(a, comm, key);
		return;
	case NT_COORDINATOR_WANTED:
		if (comm->refused || waited_long(a, key))
			close_key(a, comm, key, NULL);
		else if (key->answered)
			ask_tuner(a, comm, key);
		return;
	case NT_COORDINATOR_RETRY:
		if (comm->refused ||
		    key->attempts >= (key->committed ? NT_RECHECK_ATTEMPTS : NT_ATTEMPTS))
			close_key(a, comm, key, NULL);
		else
			propose_plan(a, comm, key);
		return;
	case NT_COORDINATOR_PROPOSED: step_proposed(a, comm, key); return;
	case NT_COORDINATOR_RUNNING:
		if (key->answered)
			ask_tuner(a, comm, key);
		return;
	case NT_COORDINATOR_DONE:
		if (key->rechecking && key->opened != key->recheck && !comm->refused)
			open_recheck(a, comm, key);
		return;
	}
}

void nt_coordinator_answer(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key,
			   const struct nt_entry *sum)
{
	bool asked = false;

	if (sum->type == NT_ENTRY_READY)
		asked = key->coordinator == NT_COORDINATOR_WANTED && sum->span == key->opened;
	else if (sum->epoch == key->plan.epoch)
		asked = key->coordinator == (sum->type == NT_ENTRY_DATA ? NT_COORDINATOR_RUNNING
									: NT_COORDINATOR_PROPOSED);
	if (!asked)
		return;
	if (sum->turn > key->max_turn)
		key->max_turn = sum->turn;
	key->refused = sum->type == NT_ENTRY_NACK;
	key->busy = key->refused && sum->span == 1;
	key->answered = !key->refused;
	key->answered_ms = a->now_ms;
	if (sum->type != NT_ENTRY_DATA)
		return;
	a->config.hooks.absorb(key->tuner, sum->bytes, sum->count);
	share_with_siblings(a, comm, key, sum->bytes, sum->count);
}

void nt_coordinator_step(struct nt_agree *a, struct nt_agree_comm *comm)
{
	for (uint32_t k = 0; k < comm->key_count; k++)
		key_step(a, comm, &comm->keys[k]);
}

void nt_coordinator_leave(struct nt_agree *a, struct nt_agree_comm *comm)
{
	comm->refused = true;
	for (uint32_t k = 0; k < comm->key_count; k++) {
		if (comm->keys[k].coordinator == NT_COORDINATOR_PROPOSED)
			abort_plan(a, comm, &comm->keys[k]);
	}
}
