/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* turn.c - a rank's decision: count the call, follow the plan in force, write the arm into NCCL's
 * cost table
 *
 * In the steady state (no key of the communicator open) this is a scan of the table, one lookup and
 * two loads: no allocation, no lock, no system call, no log line. While a key is open the agreement
 * costs a few atomics more, and a rank in doubt waits (pmix-sync/turn.h).
 */
#include <time.h>
#include "tuner/comm.h"
#include "tuner/log.h"
#include "tuner/table.h"

#define POLL_NS 50000L /* between two looks at the board while in doubt */
#define SWEEP_CALLS 64u /* how often windows of keys that are no longer called are looked for */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void pause_briefly(void)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };

	nanosleep(&pause, NULL);
}

/* A key asked for twice in a group of which one decision alone had its Coll event: the other was a
 * probe, by which NCCL chooses between a symmetric kernel and the rest
 * (src/scheduler/symmetric_sched.cc:98@v2.29.2-1). A collective that goes to such a kernel has no
 * events and spends no number, so a plan could stand still: take none. */
static void look_for_probes(struct nt_comm *c)
{
	for (uint32_t i = 1; i < c->fifo_count; i++) {
		const struct nt_decision *before = &c->fifo[i - 1], *d = &c->fifo[i];

		if (before->key == d->key && (before->tasks == 0) != (d->tasks == 0))
			nt_comm_flag(c, NT_MEMBER_PROBES);
	}
}

/* The first decision after a call or a Coll event opens a group: within one, calls come before
 * decisions, and decisions before Coll events. */
static void begin_decision(struct nt_comm *c)
{
	atomic_store_explicit(&c->decider, nt_thread_self(), memory_order_relaxed);
	if (!atomic_load_explicit(&c->boundary, memory_order_relaxed))
		return;
	atomic_store_explicit(&c->boundary, false, memory_order_relaxed);
	atomic_fetch_add_explicit(&c->group, 1, memory_order_relaxed);
	look_for_probes(c);
	c->fifo_count = 0;
}

/* Remember what was decided for the Coll events to come. */
static void note_decision(struct nt_comm *c, struct nt_own_key *key, const struct nt_call *call,
			  const struct nt_decision *choice)
{
	struct nt_decision *d;

	if (c->fifo_count == NT_FIFO)
		return; /* its events will match nothing and be counted */
	d = &c->fifo[c->fifo_count++];
	*d = *choice;
	d->key = key;
	d->coll = (uint8_t)call->coll;
	d->left_bytes = call->bytes;
	d->forced = choice->arm != NT_ARM_AUTO;
	if (!d->forced)
		d->arm = (uint16_t)nt_auto_pick(call->cost, call->algos * NT_PROTOS);
}

/* The turn is that of the newest Coll event, known once a whole group has had its events with the
 * mask on. */
static bool turn_of(const struct nt_comm *c, int coll, uint64_t *turn)
{
	/* Pairs with the release in nt_event_coll(): the turn is at least as new as its group. */
	if (atomic_load_explicit(&c->func[coll].group, memory_order_acquire) <= c->open_group)
		return false;
	*turn = atomic_load_explicit(&c->func[coll].turn, memory_order_relaxed);
	return true;
}

/* Whether some plan may be in force, or come into force, for this rank. */
static bool any_plan(const struct nt_comm *c)
{
	for (unsigned i = 0; i < NT_OWN_KEYS; i++) {
		const struct nt_own_key *key = &c->key[i];

		uint32_t state = atomic_load_explicit(&key->state, memory_order_relaxed);

		if (!key->open || !key->shared || state == NT_OWN_COUNTED || state > NT_OWN_AGAIN)
			continue;
		if (atomic_load(&key->shared->hold_at) != 0 || key->turn.next.epoch != 0 ||
		    atomic_load(&key->shared->epoch) != key->turn.plan.epoch)
			return true;
		/* Turns only grow, so that a window once left stays left. */
		if (key->turn.plan.epoch != 0 && key->turn.plan.until != NT_NEVER &&
		    atomic_load(&key->shared->turn[c->seat.member]) <= key->turn.plan.until)
			return true;
	}
	return false;
}

static int give_up(struct nt_comm *c, const struct nt_call *call, const char *what)
{
	if (!c->lost)
		NT_WARN(c->session->log,
			"communicator %016llx %s rank %d: %s fails, since a decision of this rank "
			"alone could corrupt data: %s for %lld s",
			(unsigned long long)c->id, c->name, c->rank, nt_coll_name(call->coll), what,
			(long long)c->session->policy.agree_timeout_s);
	c->lost = true;
	nt_session_count(c->session, NT_COUNT_ERRORS);
	return -1;
}

static bool events_owed(const struct nt_comm *c)
{
	/* Pairs with the release in nt_event_group_stop(): the turns of a plan are there when it is
	 * counted. */
	return atomic_load_explicit(&c->async_started, memory_order_acquire) <
	       atomic_load_explicit(&c->async_launched, memory_order_relaxed);
}

/* With CUDA graphs alive in a communicator that shares this one's resources, NCCL leaves Coll
 * events to CUDA's callback thread (enqueue.cc:1520@v2.28.9-1). Then the turn is behind the
 * program; wait until it has caught up. */
static int settle_events(struct nt_comm *c, const struct nt_call *call)
{
	uint64_t until_ms = 0;

	if (atomic_load_explicit(&c->launching, memory_order_relaxed)) {
		atomic_store_explicit(&c->launching, false, memory_order_relaxed);
		atomic_fetch_add_explicit(&c->async_launched, 1, memory_order_relaxed);
		nt_session_count(c->session, NT_COUNT_ASYNC);
		nt_comm_flag(c, NT_MEMBER_ASYNC);
	}
	while (events_owed(c)) {
		if (until_ms == 0)
			until_ms = now_ms() + (uint64_t)c->session->policy.agree_timeout_s * 1000;
		if (c->lost || now_ms() > until_ms) {
			if (any_plan(c))
				return give_up(c, call, "its launches have not started");
			/* No plan is in force, and none will come: the flag is up. */
			nt_comm_freeze(c);
			return 0;
		}
		pause_briefly();
	}
	return 0;
}

static int wait_for_outcome(struct nt_comm *c, struct nt_own_key *key, const struct nt_call *call,
			    uint64_t turn)
{
	uint64_t until_ms = now_ms() + (uint64_t)c->session->policy.agree_timeout_s * 1000;

	nt_session_count(c->session, NT_COUNT_DOUBT);
	while (nt_turn_take(key->shared, c->seat.member, turn, &key->turn) == NT_TURN_WAIT) {
		if (c->lost || now_ms() > until_ms)
			return give_up(c, call, "the node of its rank 0 is gone or silent");
		pause_briefly();
	}
	return 0;
}

/* GPU times are wanted a little before a window with a run, and within it. */
static void update_measuring(struct nt_comm *c, struct nt_own_key *key, uint64_t turn)
{
	const struct nt_plan *plan = &key->turn.plan, *next = &key->turn.next;
	bool on = plan->epoch != 0 && plan->run != NT_NO_RUN && turn < plan->until;

	if (next->epoch != 0 && next->run != NT_NO_RUN)
		on |= turn + (uint64_t)NT_MEASURE_AHEAD * next->stride >= next->at &&
		      turn < next->until;
	nt_comm_measure_key(c, key, on);
}

/* What the plan in force says. */
static void follow_plan(struct nt_comm *c, struct nt_own_key *key, uint64_t turn,
			struct nt_decision *choice)
{
	int64_t position;
	const struct nt_plan *plan = nt_turn_plan(&key->turn, turn, &position);
	struct nt_schedule schedule;
	bool was_measuring = atomic_load_explicit(&key->measuring, memory_order_relaxed);
	int arm;

	update_measuring(c, key, turn);
	if (!plan || nt_schedule_read(&schedule, plan->payload, plan->payload_bytes) < 0)
		return;
	arm = nt_schedule_arm(&schedule, plan->epoch, position);
	choice->arm = (uint16_t)arm;
	if (plan->until == NT_NEVER) {
		nt_comm_settle(key, plan, &schedule, arm);
		return;
	}
	if (key->settled_epoch != 0)
		nt_comm_count_window(key, plan, &schedule);
	if (plan->run >= NT_BOARD_RUNS || position >= NT_RUN_POSITIONS)
		return;
	/* Tasks appended before GPU times were switched on will not have any. */
	choice->measured = was_measuring &&
			   key->measure_group <
				   atomic_load_explicit(&c->group, memory_order_relaxed);
	choice->run = plan->run;
	choice->owner = 1 + c->seat.comm * NT_BOARD_KEYS + (uint32_t)(key->shared - c->board->key);
	choice->epoch = plan->epoch;
	choice->position = (uint32_t)position;
}

/* By the turn alone, which all ranks have in common, and not by what this rank has decided: one
 * rank may have asked where no collective followed. */
void nt_comm_latch_reached(struct nt_comm *c, struct nt_own_key *key)
{
	uint64_t id = atomic_load_explicit(&c->key_id[key - c->key], memory_order_relaxed);
	const struct nt_call call = { .coll = (int)nt_key_coll(id) };
	struct nt_decision choice;
	uint64_t turn;

	/* Where the turn is not known nothing new can have been agreed. */
	if (atomic_load_explicit(&key->state, memory_order_relaxed) == NT_OWN_OPEN &&
	    turn_of(c, call.coll, &turn)) {
		if (nt_turn_take(key->shared, c->seat.member, turn, &key->turn) == NT_TURN_WAIT &&
		    wait_for_outcome(c, key, &call, turn) < 0)
			return;
		if (key->turn.plan.until == NT_NEVER)
			follow_plan(c, key, turn, &choice);
	}
	if (key->settled_epoch != 0)
		nt_comm_latch(c, key);
}

/* Nothing came for long, and no plan is in force: this rank takes no part any more, and its events
 * can go. First that is said, then looked whether somebody counts on this rank already: the
 * speaker does the opposite, so that one of the two sees the other. */
static void leave_tired_key(struct nt_comm *c, struct nt_own_key *key, uint64_t turn)
{
	struct nt_board_key *shared = key->shared;
	const struct nt_plan *plan = &key->turn.plan;

	if (key->turn.next.epoch != 0 || (plan->epoch != 0 && turn < plan->until))
		return;
	atomic_store(&shared->turn[c->seat.member], NT_TURN_GONE);
	if (atomic_load(&shared->hold_at) != 0 || atomic_load(&shared->epoch) != plan->epoch) {
		atomic_store(&shared->turn[c->seat.member], turn + 1);
		atomic_store_explicit(&key->tired, false, memory_order_relaxed);
		return;
	}
	nt_comm_drop_key(c, key);
	atomic_store_explicit(&key->state, NT_OWN_GONE, memory_order_release);
}

/* With a plan for good in force the board is looked at for as long as the key is open there. */
static void rest(struct nt_comm *c, struct nt_own_key *key, uint64_t turn, bool again)
{
	if (key->settled_epoch == 0 ||
	    (again && !atomic_load_explicit(&key->tired, memory_order_relaxed)))
		return;
	if (nt_turn_commit(key->shared, c->seat.member, turn, &key->turn))
		nt_comm_latch(c, key);
}

/* What is in force where nothing else is known. */
static void stay(const struct nt_own_key *key, struct nt_decision *choice)
{
	if (key->settled_epoch != 0)
		choice->arm = (uint16_t)key->arm;
}

/* A decision of a key that is open here, or now on the board. */
static int consider(struct nt_comm *c, struct nt_own_key *key, const struct nt_call *call,
		    struct nt_decision *choice)
{
	struct nt_board_key *shared = key->shared;
	uint32_t state = atomic_load_explicit(&shared->state, memory_order_acquire);
	uint64_t turn;

	stay(key, choice);
	if (c->lost && nt_comm_frozen(c))
		return -1; /* what it froze with is not known */
	if (state == NT_KEY_IDLE || nt_comm_frozen(c))
		return 0;
	if (state == NT_KEY_CLOSED) {
		nt_comm_drop_key(c, key);
		atomic_store_explicit(&key->state, NT_OWN_CLOSED, memory_order_release);
		return 0;
	}
	atomic_store_explicit(&key->state, NT_OWN_OPEN, memory_order_relaxed);
	nt_comm_open_key(c, key);
	atomic_store_explicit(&shared->calls[c->seat.member],
			      atomic_load_explicit(&key->calls, memory_order_relaxed),
			      memory_order_relaxed);
	if (settle_events(c, call) < 0)
		return -1;
	if (nt_comm_frozen(c)) {
		stay(key, choice);
		return 0;
	}
	if (!turn_of(c, call->coll, &turn)) {
		atomic_store(&shared->turn[c->seat.member], NT_TURN_UNKNOWN);
		nt_session_count(c->session, NT_COUNT_NO_TURN);
		return 0;
	}
	if (nt_turn_take(shared, c->seat.member, turn, &key->turn) == NT_TURN_WAIT &&
	    wait_for_outcome(c, key, call, turn) < 0)
		return -1;
	follow_plan(c, key, turn, choice);
	rest(c, key, turn, state == NT_KEY_RECHECK);
	if (key->settled_epoch == 0 && atomic_load_explicit(&key->tired, memory_order_relaxed) &&
	    atomic_load_explicit(&key->state, memory_order_relaxed) == NT_OWN_OPEN)
		leave_tired_key(c, key, turn);
	return 0;
}

/* Mode observe: the first calls of each key are measured on AUTO, each rank for itself. */
static void observe(struct nt_comm *c, struct nt_own_key *key, struct nt_decision *choice)
{
	uint64_t wanted = 2 * (uint64_t)c->session->policy.min_calls;
	uint64_t calls = atomic_load_explicit(&key->calls, memory_order_relaxed);
	bool was_measuring = key->open;

	if (wanted > NT_OBSERVED_MAX)
		wanted = NT_OBSERVED_MAX;
	if (nt_comm_frozen(c) || c->profiler_api < 4 ||
	    calls > wanted + 1) { /* the first call only switches events on */
		nt_comm_drop_key(c, key);
		atomic_store_explicit(&key->state, NT_OWN_CLOSED, memory_order_release);
		return;
	}
	nt_comm_open_key(c, key);
	nt_comm_measure_key(c, key, true);
	choice->measured = was_measuring &&
			   key->measure_group <
				   atomic_load_explicit(&c->group, memory_order_relaxed);
	choice->run = NT_NO_RUN;
}

/* Windows that ended by other keys' turns: their own key was not called since, would stay measured,
 * and nobody would learn that this rank is past it. A turn may be published at any time: what is
 * decided later is decided at this turn or a later one. */
static void sweep_windows(struct nt_comm *c)
{
	uint64_t turn;

	for (unsigned i = 0; i < NT_OWN_KEYS; i++) {
		struct nt_own_key *key = &c->key[i];
		uint64_t id = atomic_load_explicit(&c->key_id[i], memory_order_relaxed);

		if (!key->shared || !key->open || !turn_of(c, (int)nt_key_coll(id), &turn))
			continue;
		if (atomic_load_explicit(&key->state, memory_order_relaxed) == NT_OWN_OPEN)
			(void)nt_turn_take(key->shared, c->seat.member, turn, &key->turn);
		if (atomic_load_explicit(&key->measuring, memory_order_relaxed))
			update_measuring(c, key, turn);
	}
}

/* Everything that only concerns communicators with open keys. */
static void finish_decision(struct nt_comm *c, struct nt_own_key *key, const struct nt_call *call,
			    const struct nt_decision *choice)
{
	note_decision(c, key, call, choice);
	if (key->open &&
	    atomic_load_explicit(&key->state, memory_order_relaxed) == NT_OWN_LATCHED &&
	    ++key->confirmed > NT_CONFIRM_CALLS)
		nt_comm_drop_key(c, key);
	if (atomic_load_explicit(&key->calls, memory_order_relaxed) % SWEEP_CALLS == 0)
		sweep_windows(c);
}

/* Registered buffers may mean a capture that no event has told of: the mask was off, or the
 * interface is too old. Unless the user has promised that there is none. */
static void note_registered(struct nt_comm *c)
{
	if (c->session->policy.graphs == NT_GRAPHS_NEVER)
		return;
	if (c->profiler_api >= 5 && nt_mask_value(&c->session->mask) != 0)
		return;
	nt_mask_forbid(&c->session->mask);
	if (c->board &&
	    !(atomic_load_explicit(&c->board->member[c->seat.member].flags, memory_order_relaxed) &
	      NT_MEMBER_GRAPHS))
		nt_comm_flag(c, NT_MEMBER_GRAPHS);
}

int nt_comm_decide(struct nt_comm *c, const struct nt_call *call)
{
	struct nt_decision choice = { .arm = NT_ARM_AUTO };
	struct nt_own_key *key;
	uint32_t mask, state;
	int pair;

	if (!nt_table_known(call->coll, call->cost, call->algos, call->protos)) {
		nt_session_count(c->session, NT_COUNT_ODD_TABLE);
		return NT_NCCL_OK;
	}
	mask = nt_table_legal(call->cost, call->algos) & c->allowed;
	/* What a chained tuner made legal is its own business, not an arm. */
	if (c->model)
		mask &= nt_table_legal(c->model, call->algos);
	key = nt_comm_key(c, nt_key_id((unsigned)call->coll, nt_band(call->bytes), mask),
			  call->cost, call->algos);
	if (c->open_keys != 0)
		begin_decision(c);
	if (call->registered)
		note_registered(c);
	if (!key) {
		if (c->chunks)
			nt_comm_note_chunk(c, call, NT_ARM_AUTO);
		nt_session_count(c->session, NT_COUNT_NO_KEY);
		return NT_NCCL_OK;
	}
	/* One writer: no read-modify-write is needed. */
	atomic_store_explicit(&key->calls,
			      atomic_load_explicit(&key->calls, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	state = atomic_load_explicit(&key->state, memory_order_relaxed);
	if (state == NT_OWN_LATCHED)
		choice.arm = (uint16_t)key->arm;
	else if (state < NT_OWN_LATCHED && key->shared && consider(c, key, call, &choice) < 0)
		return NT_NCCL_SYSTEM_ERROR;
	else if (key->observed_ns && state != NT_OWN_CLOSED)
		observe(c, key, &choice);
	pair = nt_arm_pair(choice.arm);
	if (choice.arm != NT_ARM_AUTO && (pair >= NT_PAIRS || !(mask >> pair & 1)))
		choice.arm = NT_ARM_AUTO;
	if (c->open_keys != 0)
		finish_decision(c, key, call, &choice);
	if (choice.arm != NT_ARM_AUTO)
		nt_table_force(call->cost, pair);
	if (choice.arm >= NT_PAIRS && choice.arm != NT_ARM_AUTO && call->channels)
		nt_comm_cap(&choice, call);
	if (c->chunks)
		nt_comm_note_chunk(c, call, choice.arm);
	return NT_NCCL_OK;
}
