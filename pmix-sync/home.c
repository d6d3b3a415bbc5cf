/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* home.c - see home.h */
#include "pmix-sync/home.h"

#include "pmix-sync/alike.h"
#include "pmix-sync/outbox.h"
#include "pmix-sync/spread.h"
#include "pmix-sync/view.h"

#define NT_OPEN_CALLS 8 /* calls of an open key before its stride is known well enough */
#define NT_ATTEMPTS 10 /* proposals of one plan before the key is left alone */
#define NT_RANKS_WAIT_MS 100 /* at most, of home, for the others' answers */
#define NT_DECIDE_MS 2000 /* at least this long a proposal waits for its answers */
/* By so much another node may be later than home to know its turns, or by so many pauses. */
#define NT_READY_MS 30000
#define NT_READY_PAUSES 8
#define NT_BUSY_MS 500 /* first wait for an exploration area, doubled each time */
#define NT_BUSY_TRIES 8
#define NT_RECHECK_LEAD_MS 1000 /* least lead in a recheck between nodes: logs are read rarely */
#define NT_RECHECK_ATTEMPTS 4

static void tell(struct nt_agree *a, struct nt_agree_comm *comm, const struct nt_agree_key *key,
		 uint32_t type)
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

static void finish(struct nt_agree *a, struct nt_agree_key *key)
{
	key->home = NT_HOME_DONE;
	if (key->tuner)
		a->config.hooks.end(key->tuner);
	key->tuner = NULL;
}

/* No more plans of this key: AUTO, or the committed plan, stays. Said only while no other plan of
 * the key is in force on any node, so that it changes no decision. */
static void close_key(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key,
		      const struct nt_plan *result)
{
	struct nt_entry entry = { .type = NT_ENTRY_CLOSE, .comm = comm->id, .key = key->id };

	if (result) {
		entry.bytes = result->payload;
		entry.count = result->payload_bytes;
	}
	nt_outbox_say(a, comm, &entry);
	finish(a, key);
}

static void open_key(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	struct nt_board_comm *board = nt_view_comm(a, comm);

	key->tuner = a->config.hooks.start(a->config.hooks.arg, board, &board->key[key->slot]);
	if (!key->tuner) {
		close_key(a, comm, key, NULL);
		return;
	}
	ask_all(a, key);
	key->asked = 0;
	key->home = NT_HOME_WANTED;
	tell(a, comm, key, NT_ENTRY_WANT);
}

/* A committed key, for a recheck. The other nodes open it by themselves; what is waited for is
 * that all of them have. */
static void open_recheck(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	struct nt_board_comm *board = nt_view_comm(a, comm);

	key->tuner = a->config.hooks.start_recheck(a->config.hooks.arg, board,
						   &board->key[key->slot], &key->committed_plan);
	if (!key->tuner)
		return;
	ask_all(a, key);
	key->open_ms = key->retry_ms = 0;
	key->asked = 0;
	key->home = NT_HOME_WANTED;
	key->opened = key->recheck;
}

/* Home's own node has ended the recheck and takes no plan of it any more. */
static bool recheck_over(const struct nt_agree_key *key)
{
	return key->committed && !key->rechecking &&
	       (key->home == NT_HOME_WANTED || key->home == NT_HOME_RETRY ||
		key->home == NT_HOME_RUNNING);
}

/* The first of our ranks: its turn and calls since the key was opened tell turns per call and
 * per millisecond. */
static bool pace(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key,
		 struct nt_cadence *seen)
{
	struct nt_board_comm *board = nt_view_comm(a, comm);
	struct nt_board_key *board_key = &board->key[key->slot];
	uint32_t m = 0;
	uint64_t turn;

	while (m < NT_BOARD_MEMBERS && !nt_view_seated(board, m))
		m++;
	turn = m < NT_BOARD_MEMBERS ? atomic_load(&board_key->turn[m]) : 0;
	if (turn == 0)
		return false;
	if (key->open_ms == 0) {
		key->open_ms = a->now_ms;
		key->open_turn = turn;
		key->open_calls = atomic_load(&board_key->calls[m]);
		key->open_tasks = atomic_load(&board_key->tasks);
	}
	*seen = (struct nt_cadence){
		.turns = turn - key->open_turn,
		.calls = atomic_load(&board_key->calls[m]) - key->open_calls,
		.tasks = atomic_load(&board_key->tasks) - key->open_tasks,
		.gap = atomic_load(&board_key->gap),
	};
	return true;
}

/* Turns ahead of every turn known, by which all nodes should have held and learnt the outcome. */
static uint64_t lead(struct nt_agree *a, const struct nt_agree_comm *comm,
		     const struct nt_agree_key *key, uint64_t turns)
{
	uint64_t since_ms = a->now_ms - key->open_ms + 1;
	uint64_t rtt_ms = key->committed && !comm->local && comm->rtt_ms < NT_RECHECK_LEAD_MS
				  ? NT_RECHECK_LEAD_MS
				  : comm->rtt_ms;
	uint64_t lead_ms = 2 * rtt_ms << (key->attempts < 6 ? key->attempts : 6);

	return turns * lead_ms / since_ms + 4;
}

static void propose(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	struct nt_entry entry = { .type = NT_ENTRY_PROPOSE, .comm = comm->id, .key = key->id };
	struct nt_cadence seen;
	uint64_t top, ahead;

	/* Members do not listen for a key that nobody calls. */
	if (a->now_ms < key->retry_ms || nt_view_pauses(a, key) || !pace(a, comm, key, &seen))
		return;
	top = nt_view_top_turn(nt_view_key(a, comm, key), nt_view_comm(a, comm));
	if (key->max_turn > top)
		top = key->max_turn;
	key->plan.epoch++;
	ahead = lead(a, comm, key, seen.turns);
	key->plan.at = top + ahead;
	nt_alike_align(a, comm, key, top, ahead);
	key->attempts++;
	key->waited_ms = 0;
	ask_all(a, key);
	key->home = NT_HOME_PROPOSED;
	entry.epoch = key->plan.epoch;
	entry.turn = key->plan.at;
	entry.stride = key->plan.stride;
	entry.cell = key->plan.cell;
	entry.span = nt_spread_turns(&key->plan);
	entry.bytes = key->plan.payload;
	entry.count = key->plan.payload_bytes;
	nt_outbox_say(a, comm, &entry);
}

static bool needs_no_stride(const struct nt_agree *a, const struct nt_agree_key *key)
{
	return a->config.hooks.ready && a->config.hooks.ready(key->tuner);
}

/* Every node stands ready: what does the tuner want? */
static void ask_tuner(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	struct nt_plan wish = { .until = 0 };
	struct nt_cadence seen;

	if (!pace(a, comm, key, &seen) || (seen.calls < NT_OPEN_CALLS && !needs_no_stride(a, key)))
		return; /* asked again at the next step */
	if (!comm->refused && nt_alike_wait(a, comm, key))
		return;
	key->asked++;
	if (comm->refused || a->config.hooks.next(key->tuner, &wish) == 0) {
		close_key(a, comm, key, comm->refused ? NULL : &wish);
		return;
	}
	wish.epoch = key->plan.epoch;
	nt_spread(&seen, &wish);
	key->plan = wish;
	key->attempts = key->busy_tries = 0;
	key->home = NT_HOME_RETRY; /* so that the tuner is not asked twice for one plan */
	propose(a, comm, key);
}

static void commit(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	uint64_t took_ms = a->now_ms - key->asked_ms;

	comm->rtt_ms = (comm->rtt_ms + took_ms + 3) / 2;
	a->counts.commit_ms[a->counts.timed++ % NT_AGREE_TIMES] = (uint16_t)(took_ms < UINT16_MAX
										     ? took_ms
										     : UINT16_MAX);
	tell(a, comm, key, NT_ENTRY_COMMIT);
	if (key->plan.until == NT_NEVER) {
		finish(a, key);
		return;
	}
	ask_all(a, key);
	key->home = NT_HOME_RUNNING;
}

/* Where only room for samples was lacking, others may give theirs back: that is no failed
 * attempt. */
static void abort_plan(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	tell(a, comm, key, NT_ENTRY_ABORT);
	key->home = NT_HOME_RETRY;
	if (key->refused && key->busy && key->busy_tries < NT_BUSY_TRIES) {
		key->retry_ms = a->now_ms + ((uint64_t)NT_BUSY_MS << key->busy_tries++);
		key->attempts--;
	}
}

/* Ranks of this node have come to the plan's turn, and the others have not answered yet: they may
 * read of it much later, and the lead was too short. */
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
	/* The more nodes there are the longer it takes, and nobody knows how long before the
	 * first answer. */
	uint64_t patience_ms = (NT_DECIDE_MS + 10 * comm->rtt_ms)
			       << (key->attempts < 5 ? key->attempts - 1 : 4);

	/* Ranks that wait must hear of it before they give up. */
	if (a->config.agree_ms > 0 && patience_ms > a->config.agree_ms / 4)
		patience_ms = a->config.agree_ms / 4;
	if (key->refused || comm->refused || a->now_ms - key->asked_ms > patience_ms)
		abort_plan(a, comm, key);
	else if (key->answered)
		commit(a, comm, key);
	else if (ranks_wait(a, comm, key))
		abort_plan(a, comm, key);
}

/* The others have had their time to be ready. A recheck ends by itself. */
static bool waited_long(const struct nt_agree *a, const struct nt_agree_key *key)
{
	return !key->committed && key->ready && !key->answered &&
	       a->now_ms - key->ready_ms > nt_rhythm_ms(&key->rhythm, NT_READY_PAUSES, NT_READY_MS);
}

static void key_step(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	struct nt_board_comm *board = nt_view_comm(a, comm);

	if (recheck_over(key))
		finish(a, key);
	switch (key->home) {
	case NT_HOME_IDLE:
		/* Those that were agreed on at once are seen by each other first. */
		if (key->slot >= 0 && !comm->refused &&
		    atomic_load(&board->state) == NT_COMM_AGREED &&
		    a->config.hooks.worth(a->config.hooks.arg, board, &board->key[key->slot]))
			open_key(a, comm, key);
		return;
	case NT_HOME_WANTED:
		if (comm->refused || waited_long(a, key))
			close_key(a, comm, key, NULL);
		else if (key->answered)
			ask_tuner(a, comm, key);
		return;
	case NT_HOME_RETRY:
		if (comm->refused ||
		    key->attempts >= (key->committed ? NT_RECHECK_ATTEMPTS : NT_ATTEMPTS))
			close_key(a, comm, key, NULL);
		else
			propose(a, comm, key);
		return;
	case NT_HOME_PROPOSED: step_proposed(a, comm, key); return;
	case NT_HOME_RUNNING:
		if (key->answered)
			ask_tuner(a, comm, key);
		return;
	case NT_HOME_DONE:
		if (key->rechecking && key->opened != key->recheck && !comm->refused)
			open_recheck(a, comm, key);
		return;
	}
}

void nt_home_answer(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key,
		    const struct nt_entry *sum)
{
	bool asked = false;

	if (sum->type == NT_ENTRY_READY)
		asked = key->home == NT_HOME_WANTED && sum->span == key->opened;
	else if (sum->epoch == key->plan.epoch)
		asked = key->home ==
			(sum->type == NT_ENTRY_DATA ? NT_HOME_RUNNING : NT_HOME_PROPOSED);
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
	nt_alike_share(a, comm, key, sum->bytes, sum->count);
}

void nt_home_step(struct nt_agree *a, struct nt_agree_comm *comm)
{
	for (uint32_t k = 0; k < comm->key_count; k++)
		key_step(a, comm, &comm->keys[k]);
}

void nt_home_leave(struct nt_agree *a, struct nt_agree_comm *comm)
{
	comm->refused = true;
	for (uint32_t k = 0; k < comm->key_count; k++) {
		if (comm->keys[k].home == NT_HOME_PROPOSED)
			abort_plan(a, comm, &comm->keys[k]);
	}
}
