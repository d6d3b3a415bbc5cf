/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/trace-check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GONE (UINT64_C(1) << 62) /* as tuner/comm.h */
#define BUCKETS 4096u
#define OBJECTIONS                                                             \
	(NT_PARTICIPANT_GRAPHS | NT_PARTICIPANT_ASYNC | NT_PARTICIPANT_ODD |   \
	 NT_PARTICIPANT_PROBES | NT_PARTICIPANT_MASKED | NT_PARTICIPANT_ROOM | \
	 NT_PARTICIPANT_LIMITS)

struct plan {
	uint64_t at, until;
	uint32_t epoch;
};

/* ---- what is agreed on: a key of a communicator, as its coordinator's log has it */

struct key {
	struct key *next;
	uint64_t id;
	bool wanted;
	uint32_t epoch; /* of the newest proposal */
	bool open; /* it has no outcome yet */
	bool running; /* ... and a plan with an end was committed */
	struct plan newest;
	struct plan *committed;
	uint32_t commits;
	/* by participant: the newest epoch that it has answered so */
	uint32_t *ack, *nack, *data;
	uint32_t *choice; /* by turn: 1 + the epoch that was followed */
	uint64_t turns;
};

/* A communicator from AGREED on; one of one node alone from its first entry on. */
struct comm {
	struct comm *next;
	uint64_t id;
	uint32_t coordinator;
	bool local, ended; /* ended: of a local one, another with this id may come */
	uint32_t *node;
	uint32_t nodes;
	struct key *keys;
};

/* ---- a node's shared memory, and what its leader has read and answered */

struct rank {
	bool joined, left;
	uint32_t flags;
};

struct seat { /* a rank's part of a key */
	uint64_t turn, top; /* published; the highest */
	uint32_t passed;
	bool looked; /* it has read the hold since it published its turn, and may go on */
	bool known; /* the leader has seen a turn */
	uint8_t seen; /* by the leader behind the hold: 0 not yet, 1 below it, 2 not */
	struct plan mine, under, waits;
};

struct view { /* of a key */
	struct view *next;
	uint64_t id;
	uint64_t hold;
	uint32_t epoch, state;
	struct plan plan[2], installed, committed;
	bool wanted, in_doubt, objected, data_due;
	struct plan proposed; /* newest PROPOSE that was read */
	uint32_t acked;
	uint32_t outcome_epoch;
	uint8_t outcome;
	struct seat seat[NT_SHM_SLOTS];
};

struct place { /* of a communicator on a node */
	struct place *next;
	uint64_t id;
	uint32_t node;
	struct comm *comm; /* once the node has AGREED */
	struct comm *left; /* that was here before; entries of it may still come into the log */
	struct rank rank[NT_SHM_SLOTS];
	struct view *views;
};

struct log {
	struct log *next;
	uint32_t node;
	struct trace_event *entry;
	uint32_t count, cap;
};

struct reader { /* how far `node` has read the log of `of` */
	struct reader *next;
	uint32_t node, of, at;
};

struct trace_check {
	struct comm *comms[BUCKETS];
	struct place *places[BUCKETS];
	struct log *logs[BUCKETS];
	struct reader *readers[BUCKETS];
	uint64_t events;
	uint64_t counts[TRACE_IS_COUNT];
	struct comm *agreed; /* whose participants come */
	const char *missing;
	char wrong[400];
};

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static uint32_t bucket(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ b << 32) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(x >> 40) % BUCKETS;
}

static struct comm *comm_of(struct trace_check *t, uint64_t id, uint32_t coordinator, bool local)
{
	struct comm **at = &t->comms[bucket(id, coordinator)];

	for (struct comm *c = *at; c; c = c->next) {
		if (c->id == id && c->coordinator == coordinator && c->local == local && !c->ended)
			return c;
	}
	struct comm *c = must(calloc(1, sizeof(*c)));

	*c = (struct comm){ .next = *at, .id = id, .coordinator = coordinator, .local = local };
	*at = c;
	return c;
}

static void add_participant(struct comm *c, uint32_t node)
{
	c->node = must(realloc(c->node, (c->nodes + 1) * sizeof(*c->node)));
	c->node[c->nodes++] = node;
}

static int participant(const struct comm *c, uint32_t node)
{
	for (uint32_t i = 0; i < c->nodes; i++) {
		if (c->node[i] == node)
			return (int)i;
	}
	return -1;
}

static struct key *key_of(struct comm *c, uint64_t id)
{
	for (struct key *k = c->keys; k; k = k->next) {
		if (k->id == id)
			return k;
	}
	struct key *k = must(calloc(1, sizeof(*k)));

	k->ack = must(calloc(3 * (size_t)c->nodes + 1, sizeof(*k->ack)));
	k->nack = k->ack + c->nodes;
	k->data = k->nack + c->nodes;
	k->id = id;
	k->next = c->keys;
	c->keys = k;
	return k;
}

static struct place *place_of(struct trace_check *t, uint32_t node, uint64_t id)
{
	struct place **at = &t->places[bucket(id, node)];

	for (struct place *p = *at; p; p = p->next) {
		if (p->id == id && p->node == node)
			return p;
	}
	struct place *p = must(calloc(1, sizeof(*p)));

	p->id = id;
	p->node = node;
	p->next = *at;
	*at = p;
	return p;
}

static struct view *view_of(struct place *p, uint64_t id)
{
	for (struct view *v = p->views; v; v = v->next) {
		if (v->id == id)
			return v;
	}
	struct view *v = must(calloc(1, sizeof(*v)));

	v->id = id;
	v->next = p->views;
	p->views = v;
	return v;
}

static struct log *log_of(struct trace_check *t, uint32_t node)
{
	struct log **at = &t->logs[bucket(node, 1)];

	for (struct log *l = *at; l; l = l->next) {
		if (l->node == node)
			return l;
	}
	struct log *l = must(calloc(1, sizeof(*l)));

	l->node = node;
	l->next = *at;
	*at = l;
	return l;
}

static struct reader *reader_of(struct trace_check *t, uint32_t node, uint32_t of)
{
	struct reader **at = &t->readers[bucket(node, of)];

	for (struct reader *r = *at; r; r = r->next) {
		if (r->node == node && r->of == of)
			return r;
	}
	struct reader *r = must(calloc(1, sizeof(*r)));

	r->node = node;
	r->of = of;
	r->next = *at;
	*at = r;
	return r;
}

/* ---- what transitions rest on */

#define NEEDS(condition, text)               \
	do {                                 \
		if (!(condition)) {          \
			t->missing = (text); \
			return;              \
		}                            \
	} while (0)

static bool any_objection(const struct place *p)
{
	for (uint32_t m = 0; m < NT_SHM_SLOTS; m++) {
		if (p->rank[m].left || (p->rank[m].flags & OBJECTIONS))
			return true;
	}
	return false;
}

/* All ranks that are there have passed the plan. */
static bool all_passed(const struct place *p, const struct view *v, const struct plan *plan)
{
	for (uint32_t m = 0; m < NT_SHM_SLOTS && plan->epoch != 0; m++) {
		const struct seat *s = &v->seat[m];

		if (!p->rank[m].joined || p->rank[m].left || s->turn >= GONE)
			continue;
		if (s->passed < plan->epoch || (plan->until != NT_NEVER && s->top <= plan->until))
			return false;
	}
	return true;
}

static bool was_committed(const struct key *k, const struct plan *plan)
{
	for (uint32_t i = k->commits; i-- > 0;) {
		if (k->committed[i].epoch == plan->epoch)
			return k->committed[i].at == plan->at &&
			       k->committed[i].until == plan->until;
	}
	return false;
}

static bool all_did(const struct comm *c, const uint32_t *epoch_of, uint32_t epoch)
{
	for (uint32_t i = 0; i < c->nodes; i++) {
		if (epoch_of[i] != epoch)
			return false;
	}
	return true;
}

/* ---- a rank: pmix-sync/turn.h */

static void on_turn(struct trace_check *t, const struct view *v, struct seat *s, uint64_t value)
{
	NEEDS(v->state != NT_KEY_IDLE, "the key is not open");
	NEEDS(value >= s->top || s->top >= GONE, "turns rise");
	s->turn = s->top = value;
	s->looked = false;
}

static void on_withdraw(struct seat *s, uint64_t value)
{
	s->turn = value;
	s->looked = false;
}

static void on_look(struct trace_check *t, const struct view *v, struct seat *s, uint64_t hold)
{
	NEEDS(hold == v->hold, "the hold is another");
	s->looked = s->turn != 0 && s->turn < GONE && (hold == 0 || s->turn < hold);
}

/* Which plan the rank follows at its turn: all ranks the same one. */
static void decide(struct trace_check *t, struct place *p, const struct view *v,
		   const struct seat *s)
{
	const uint64_t turn = s->turn - 1;
	const struct plan *plan = turn >= s->mine.at && turn < s->mine.until ? &s->mine : &s->under;
	struct key *k;

	if (!p->comm)
		return;
	k = key_of(p->comm, v->id);
	NEEDS(plan->epoch == 0 || was_committed(k, plan), "COMMIT of the plan is in the log");
	if (turn >= k->turns) {
		const uint64_t grown = 2 * turn + 64;

		k->choice = must(realloc(k->choice, grown * sizeof(*k->choice)));
		memset(k->choice + k->turns, 0, (grown - k->turns) * sizeof(*k->choice));
		k->turns = grown;
	}
	NEEDS(k->choice[turn] == 0 || k->choice[turn] == 1 + plan->epoch,
	      "all ranks follow the same at a turn");
	k->choice[turn] = 1 + plan->epoch;
}

static void on_take(struct trace_check *t, struct place *p, struct view *v, struct seat *s,
		    uint32_t epoch)
{
	NEEDS(s->looked, "the rank has read the hold behind its turn, and its turn is below it");
	NEEDS(epoch == v->epoch, "the epoch is another");
	if (epoch != s->mine.epoch && epoch != s->waits.epoch) {
		NEEDS(v->plan[epoch & 1].epoch == epoch, "the place has the plan of this epoch");
		s->waits = v->plan[epoch & 1];
	}
	if (s->waits.epoch != 0 && s->turn - 1 >= s->waits.at) {
		if (s->mine.epoch != 0 && s->mine.until == NT_NEVER)
			s->under = s->mine;
		s->mine = s->waits;
		s->waits.epoch = 0;
	}
	decide(t, p, v, s);
}

static void on_pass(struct trace_check *t, struct seat *s, uint32_t epoch)
{
	NEEDS(epoch == s->mine.epoch || s->turn >= GONE,
	      "the rank has copied the plan and its turn has come");
	NEEDS(epoch >= s->passed, "epochs rise");
	s->passed = epoch;
}

/* ---- a leader in shared memory: pmix-sync/participant.c, recheck-timer.c */

static void on_open(struct trace_check *t, struct view *v)
{
	NEEDS(v->wanted, "WANT was read");
	v->state = NT_KEY_OPEN;
}

static void on_hold(struct trace_check *t, const struct place *p, struct view *v, uint64_t hold)
{
	NEEDS(p->comm, "the communicator is agreed on");
	NEEDS(!v->in_doubt, "no plan is in doubt");
	NEEDS(v->proposed.epoch > v->installed.epoch, "a new epoch");
	NEEDS(hold == v->proposed.at + 1, "PROPOSE has this turn");
	NEEDS(v->state != NT_KEY_COMMITTED && v->state != NT_KEY_CLOSED, "the key is open");
	NEEDS(!v->data_due && all_passed(p, v, &v->installed), "the plan before is over");
	v->hold = hold;
	v->objected = any_objection(p);
	for (uint32_t m = 0; m < NT_SHM_SLOTS; m++)
		v->seat[m].seen = 0;
}

static void on_see(struct view *v, struct seat *s, uint64_t turn)
{
	s->known |= turn != 0;
	if (v->hold != 0 && s->seen == 0)
		s->seen = turn != 0 && turn < v->hold ? 1 : 2;
}

static void on_install(struct trace_check *t, const struct place *p, struct view *v,
		       const struct trace_event *event)
{
	const uint32_t epoch = (uint32_t)event->value;
	struct plan *plan = &v->plan[epoch & 1];

	NEEDS(p->comm && v->in_doubt && v->acked == epoch, "ACK was said");
	NEEDS(v->outcome_epoch == epoch && v->outcome == NT_ENTRY_COMMIT, "COMMIT was read");
	NEEDS(v->hold == v->proposed.at + 1, "the hold is there until the plan is");
	NEEDS(all_passed(p, v, plan), "no rank may still read what was in its place");
	*plan = (struct plan){ event->turn, event->until, event->epoch };
	NEEDS(event->epoch == epoch && was_committed(key_of(p->comm, v->id), plan),
	      "the plan in memory is the one that was committed");
	v->epoch = epoch;
	v->installed = *plan;
	v->data_due = plan->until != NT_NEVER;
	if (!v->data_due)
		v->committed = *plan;
}

static void on_release(struct trace_check *t, struct view *v)
{
	if (v->in_doubt) {
		NEEDS(v->outcome_epoch == v->acked, "the outcome was read");
		NEEDS(v->outcome == NT_ENTRY_ABORT || v->epoch == v->acked,
		      "the plan is in memory before the hold goes");
	}
	v->in_doubt = false;
	v->hold = 0;
}

static void on_settle(struct trace_check *t, struct view *v)
{
	NEEDS(v->committed.epoch != 0, "a plan for good is in force");
	NEEDS(!v->data_due, "no window is in force");
	NEEDS(!v->in_doubt || v->committed.epoch == v->acked, "no plan is in doubt");
	v->state = NT_KEY_COMMITTED;
}

static void on_recheck(struct trace_check *t, struct view *v)
{
	NEEDS(v->state == NT_KEY_COMMITTED, "a plan for good is in force, and no recheck is on");
	NEEDS(!v->in_doubt && !v->data_due, "nothing is under way");
	v->state = NT_KEY_RECHECK;
}

static void on_shut(struct trace_check *t, const struct place *p, struct view *v)
{
	NEEDS(!v->in_doubt, "no plan is in doubt");
	NEEDS(v->committed.epoch == 0, "no plan for good is in force");
	NEEDS(all_passed(p, v, &v->installed), "no window is in force");
	v->state = NT_KEY_CLOSED;
}

/* ---- its own answers */

static void on_ready(struct trace_check *t, const struct place *p, const struct view *v)
{
	NEEDS(v->wanted, "WANT was read");
	for (uint32_t m = 0; m < NT_SHM_SLOTS; m++) {
		if (p->rank[m].joined && !p->rank[m].left)
			NEEDS(v->seat[m].known, "all turns are known");
	}
}

static void on_ack(struct trace_check *t, const struct place *p, struct view *v, uint32_t epoch)
{
	const int self = p->comm ? participant(p->comm, p->node) : -1;

	NEEDS(self >= 0, "the node is a participant");
	NEEDS(epoch == v->proposed.epoch && !v->in_doubt, "PROPOSE was read, and not answered yet");
	NEEDS(v->hold == v->proposed.at + 1, "the hold is there");
	NEEDS(!v->objected, "no rank had left or set a flag before the hold");
	for (uint32_t m = 0; m < NT_SHM_SLOTS; m++) {
		if (p->rank[m].joined && !p->rank[m].left)
			NEEDS(v->seat[m].seen == 1,
			      "all turns were seen below the hold, behind it");
	}
	v->in_doubt = true;
	v->acked = epoch;
	key_of(p->comm, v->id)->ack[self] = epoch;
}

static void on_nack(struct trace_check *t, const struct place *p, const struct view *v,
		    uint32_t epoch)
{
	const int self = p->comm ? participant(p->comm, p->node) : -1;

	NEEDS(!v->in_doubt || v->acked != epoch, "ACK was not said");
	if (self >= 0)
		key_of(p->comm, v->id)->nack[self] = epoch;
}

static void on_data(struct trace_check *t, const struct place *p, struct view *v, uint32_t epoch)
{
	const int self = p->comm ? participant(p->comm, p->node) : -1;

	NEEDS(self >= 0 && v->data_due && v->installed.epoch == epoch, "the window is in memory");
	NEEDS(all_passed(p, v, &v->installed), "all ranks have passed the window");
	v->data_due = false;
	key_of(p->comm, v->id)->data[self] = epoch;
}

/* ---- logs: pmix-sync/coordinator.c, tree.c */

static void on_want(struct trace_check *t, struct key *k)
{
	NEEDS(!k->wanted, "the key is idle");
	k->wanted = true;
}

static void on_propose(struct trace_check *t, const struct comm *c, struct key *k,
		       const struct trace_event *event)
{
	NEEDS(k->wanted, "WANT was said");
	NEEDS(!k->open, "the proposal before has an outcome");
	NEEDS(event->epoch > k->epoch, "epochs are never used again");
	NEEDS(!k->running || all_did(c, k->data, k->epoch), "DATA of all nodes is there");
	k->running = false;
	k->open = true;
	k->epoch = event->epoch;
	k->newest = (struct plan){ event->turn, event->until, event->epoch };
}

static void on_commit(struct trace_check *t, const struct comm *c, struct key *k, uint32_t epoch)
{
	NEEDS(k->open && epoch == k->epoch, "the newest proposal has no outcome");
	for (uint32_t i = 0; i < c->nodes; i++)
		NEEDS(k->nack[i] != epoch, "no node has said NACK");
	NEEDS(all_did(c, k->ack, epoch), "ACK of all nodes is there");
	k->open = false;
	k->running = k->newest.until != NT_NEVER;
	k->committed = must(realloc(k->committed, (k->commits + 1) * sizeof(*k->committed)));
	k->committed[k->commits++] = k->newest;
}

static void on_abort(struct trace_check *t, struct key *k, uint32_t epoch)
{
	NEEDS(k->open && epoch == k->epoch, "the newest proposal has no outcome");
	k->open = false;
}

static void on_close(struct trace_check *t, const struct comm *c, struct key *k)
{
	NEEDS(!k->open, "no proposal waits for an outcome");
	NEEDS(!k->running || all_did(c, k->data, k->epoch), "no window is in force");
	k->running = false;
}

/* A node passes on the sum of its branch only with its own answer in it. */
static void on_sum(struct trace_check *t, const struct comm *c, struct key *k,
		   const struct trace_event *event)
{
	const int self = participant(c, event->node);

	NEEDS(self >= 0, "the node is a participant");
	/* It may have answered later questions before this is in its log. */
	if (event->type == NT_ENTRY_ACK)
		NEEDS(k->ack[self] >= event->epoch && k->nack[self] != event->epoch,
		      "the node itself has said ACK");
	if (event->type == NT_ENTRY_DATA)
		NEEDS(k->data[self] >= event->epoch, "the node itself has said DATA");
}

/* ---- events to transitions */

static enum trace_transition of_entry(uint8_t type)
{
	switch (type) {
	case NT_ENTRY_WANT: return TRACE_IS_want;
	case NT_ENTRY_PROPOSE: return TRACE_IS_propose;
	case NT_ENTRY_COMMIT: return TRACE_IS_commit;
	case NT_ENTRY_ABORT: return TRACE_IS_abort;
	case NT_ENTRY_CLOSE: return TRACE_IS_close;
	case NT_ENTRY_REFUSE: return TRACE_IS_refuse;
	case NT_ENTRY_READY:
	case NT_ENTRY_ACK:
	case NT_ENTRY_NACK:
	case NT_ENTRY_DATA: return TRACE_IS_sum;
	default: return TRACE_IS_COUNT; /* of joining */
	}
}

static enum trace_transition append_to_log(struct trace_check *t, const struct trace_event *event)
{
	struct log *log = log_of(t, event->node);

	if (log->count == log->cap) {
		log->cap = 2 * log->cap + 64;
		log->entry = must(realloc(log->entry, log->cap * sizeof(*log->entry)));
	}
	log->entry[log->count++] = *event;
	return of_entry(event->type);
}

/* A node's entry for all, or for the node above it. */
static enum trace_transition say(struct trace_check *t, const struct trace_event *event)
{
	const enum trace_transition is = of_entry(event->type);
	struct place *p = place_of(t, event->node, event->comm);
	struct comm *c;
	struct key *k;

	/* An AGREED of an earlier communicator with this id may have been read before. */
	if (event->what == TRACE_SAY && !(p->comm && p->comm->local)) {
		p->comm = comm_of(t, event->comm, event->node, true);
		if (p->comm->nodes == 0)
			add_participant(p->comm, event->node);
	}
	if (event->type == NT_ENTRY_AGREED && event->what == TRACE_APPEND) {
		t->agreed = comm_of(t, event->comm, event->node, false);
		p->comm = t->agreed;
	}
	c = p->comm || event->what == TRACE_SAY ? p->comm : p->left;
	if (is == TRACE_IS_COUNT || is == TRACE_IS_refuse)
		return is;
	t->missing = c ? NULL : "the communicator is agreed on";
	if (t->missing)
		return is;
	k = key_of(c, event->key);
	if (is == TRACE_IS_sum && event->what == TRACE_APPEND) {
		on_sum(t, c, k, event);
		return is;
	}
	if (event->node != c->coordinator)
		t->missing = "the node is the coordinator";
	else if (is == TRACE_IS_want)
		on_want(t, k);
	else if (is == TRACE_IS_propose)
		on_propose(t, c, k, event);
	else if (is == TRACE_IS_commit)
		on_commit(t, c, k, event->epoch);
	else if (is == TRACE_IS_abort)
		on_abort(t, k, event->epoch);
	else if (is == TRACE_IS_close)
		on_close(t, c, k);
	return is;
}

/* What an entry of the coordinator means on a node. */
static void take_effect(struct trace_check *t, const struct trace_event *event, uint32_t from)
{
	struct place *p = place_of(t, event->node, event->comm);
	struct view *v;

	if (event->type == NT_ENTRY_AGREED && !p->comm && event->what == TRACE_READ) {
		struct comm *c = comm_of(t, event->comm, from, false);

		if (participant(c, event->node) >= 0)
			p->comm = c;
	}
	if (!p->comm || from != p->comm->coordinator || event->key == 0)
		return;
	v = view_of(p, event->key);
	if (event->type == NT_ENTRY_WANT) {
		v->wanted = true;
	} else if (event->type == NT_ENTRY_PROPOSE) {
		v->proposed = (struct plan){ event->turn, event->until, event->epoch };
	} else if (event->type == NT_ENTRY_COMMIT || event->type == NT_ENTRY_ABORT) {
		v->outcome = event->type;
		v->outcome_epoch = event->epoch;
	}
}

/* Logs are read in order, each entry once. */
static void on_read(struct trace_check *t, const struct trace_event *event)
{
	struct reader *r = reader_of(t, event->node, event->slot);
	const struct log *log = log_of(t, event->slot);
	const struct trace_event *entry;

	NEEDS(r->at < log->count, "the entry is in the log");
	entry = &log->entry[r->at++];
	NEEDS(entry->type == event->type && entry->comm == event->comm &&
		      entry->key == event->key && entry->epoch == event->epoch &&
		      entry->turn == event->turn && entry->until == event->until,
	      "it is the next entry of the log");
	take_effect(t, event, event->slot);
}

static enum trace_transition on_answer(struct trace_check *t, const struct trace_event *event)
{
	struct place *p = place_of(t, event->node, event->comm);
	struct view *v = view_of(p, event->key);

	switch (event->type) {
	case NT_ENTRY_READY: on_ready(t, p, v); return TRACE_IS_ready;
	case NT_ENTRY_ACK: on_ack(t, p, v, event->epoch); return TRACE_IS_ack;
	case NT_ENTRY_NACK: on_nack(t, p, v, event->epoch); return TRACE_IS_nack;
	default: on_data(t, p, v, event->epoch); return TRACE_IS_data;
	}
}

static enum trace_transition of_rank(struct trace_check *t, struct place *p,
				     const struct trace_event *event)
{
	struct view *v = view_of(p, event->key);
	struct seat *s = &v->seat[event->slot];

	if (event->field == TRACE_HOLD) {
		on_look(t, v, s, event->value);
		return TRACE_IS_look;
	}
	if (event->field == TRACE_EPOCH) {
		on_take(t, p, v, s, (uint32_t)event->value);
		return TRACE_IS_take;
	}
	if (event->field == TRACE_PASSED) {
		on_pass(t, s, (uint32_t)event->value);
		return TRACE_IS_pass;
	}
	if (event->what == TRACE_LOAD) {
		on_see(v, s, event->value);
		return TRACE_IS_see;
	}
	if (event->value == 0 || event->value >= GONE) {
		on_withdraw(s, event->value);
		return TRACE_IS_withdraw;
	}
	on_turn(t, v, s, event->value);
	return TRACE_IS_turn;
}

static enum trace_transition of_leader(struct trace_check *t, struct place *p,
				       const struct trace_event *event)
{
	struct view *v = view_of(p, event->key);

	if (event->field == TRACE_HOLD && event->value != 0) {
		on_hold(t, p, v, event->value);
		return TRACE_IS_hold;
	}
	if (event->field == TRACE_HOLD) {
		on_release(t, v);
		return TRACE_IS_release;
	}
	if (event->field == TRACE_EPOCH) {
		on_install(t, p, v, event);
		return TRACE_IS_install;
	}
	switch (event->value) {
	case NT_KEY_OPEN: on_open(t, v); return TRACE_IS_open;
	case NT_KEY_COMMITTED: on_settle(t, v); return TRACE_IS_settle;
	case NT_KEY_RECHECK: on_recheck(t, v); return TRACE_IS_recheck;
	default: on_shut(t, p, v); return TRACE_IS_shut;
	}
}

static enum trace_transition of_seat(struct place *p, const struct trace_event *event)
{
	struct rank *r = &p->rank[event->slot];

	if (event->field == TRACE_FLAGS) {
		r->flags |= (uint32_t)event->value;
		return TRACE_IS_flag;
	}
	r->joined |= event->value == NT_PARTICIPANT_JOINED;
	r->left = event->value == NT_PARTICIPANT_LEFT;
	return r->left ? TRACE_IS_leave : TRACE_IS_COUNT;
}

static void free_views(struct place *p)
{
	for (struct view *v = p->views, *next; v; v = next) {
		next = v->next;
		free(v);
	}
	p->views = NULL;
}

static void on_free(struct place *p)
{
	free_views(p);
	if (p->comm && p->comm->local)
		p->comm->ended = true;
	else if (p->comm)
		p->left = p->comm;
	p->comm = NULL;
	memset(p->rank, 0, sizeof(p->rank));
}

static enum trace_transition of_memory(struct trace_check *t, const struct trace_event *event)
{
	struct place *p = place_of(t, event->node, event->comm);

	if (event->field == TRACE_SEAT || event->field == TRACE_FLAGS)
		return of_seat(p, event);
	return event->slot != TRACE_NOBODY ? of_rank(t, p, event) : of_leader(t, p, event);
}

static enum trace_transition step(struct trace_check *t, const struct trace_event *event)
{
	enum trace_transition is;

	switch (event->what) {
	case TRACE_STORE:
	case TRACE_LOAD: return of_memory(t, event);
	case TRACE_FREE: on_free(place_of(t, event->node, event->comm)); return TRACE_IS_COUNT;
	case TRACE_ANSWER: return on_answer(t, event);
	case TRACE_APPEND: (void)append_to_log(t, event); return say(t, event);
	case TRACE_READ: on_read(t, event); return TRACE_IS_read;
	case TRACE_SAY:
		is = say(t, event);
		if (!t->missing)
			take_effect(t, event, event->node);
		return is;
	case TRACE_PARTICIPANT:
		if (t->agreed && participant(t->agreed, event->slot) < 0)
			add_participant(t->agreed, event->slot);
		return TRACE_IS_COUNT;
	default: t->missing = "such an event exists"; return TRACE_IS_COUNT;
	}
}

/* ---- */

const char *trace_transition_name(enum trace_transition transition)
{
	static const char *const names[] = {
#define X(name) #name,
		TRACE_TRANSITIONS(X)
#undef X
	};

	return transition < TRACE_IS_COUNT ? names[transition] : "joining";
}

bool trace_check_event(struct trace_check *t, const struct trace_event *event)
{
	enum trace_transition is;

	if (t->wrong[0] != '\0')
		return false;
	t->missing = NULL;
	is = step(t, event);
	t->events++;
	if (is < TRACE_IS_COUNT)
		t->counts[is]++;
	if (!t->missing)
		return true;
	snprintf(
		t->wrong, sizeof(t->wrong),
		"event %llu: node %u, communicator %016llx, key %016llx, slot %d: %s is not allowed, since this "
		"must be so first: %s (value %llu, epoch %u, turn %llu)",
		(unsigned long long)t->events, event->node, (unsigned long long)event->comm,
		(unsigned long long)event->key, (int)event->slot, trace_transition_name(is),
		t->missing, (unsigned long long)event->value, event->epoch,
		(unsigned long long)event->turn);
	return false;
}

const char *trace_check_wrong(const struct trace_check *check)
{
	return check->wrong[0] != '\0' ? check->wrong : NULL;
}

const uint64_t *trace_check_counts(const struct trace_check *check)
{
	return check->counts;
}

struct trace_check *trace_check_create(void)
{
	return must(calloc(1, sizeof(struct trace_check)));
}

static void comm_free(struct comm *c)
{
	for (struct key *k = c->keys, *next; k; k = next) {
		next = k->next;
		free(k->ack);
		free(k->choice);
		free(k->committed);
		free(k);
	}
	free(c->node);
	free(c);
}

#define FREE_ALL(lists, type, how)                                                    \
	for (uint32_t b = 0; b < BUCKETS; b++) {                                      \
		for (struct type *each = check->lists[b], *next; each; each = next) { \
			next = each->next;                                            \
			how;                                                          \
		}                                                                     \
	}

void trace_check_destroy(struct trace_check *check)
{
	if (!check)
		return;
	FREE_ALL(comms, comm, comm_free(each))
	FREE_ALL(places, place, (free_views(each), free(each)))
	FREE_ALL(logs, log, (free(each->entry), free(each)))
	FREE_ALL(readers, reader, free(each))
	free(check);
}
