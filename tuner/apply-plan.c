/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/apply-plan.h"

#include <time.h>
#include "lib/clock.h"
#include "tuner/costs.h"
#include "tuner/nccl-log.h"

#define POLL_NS 50000L /* while in doubt */
#define SWEEP_CALLS 64u /* calls between two looks for windows whose keys are no longer called */
#define SELDOM __attribute__((noinline, cold)) /* cold code stays out of the hot path */

static bool note_capture(struct nt_comm *c);
static void freeze_comm(struct nt_comm *c);

static void pause_briefly(void)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };

	nanosleep(&pause, NULL);
}

/* Later Coll events are matched with what is noted here. */
static void note_decision(struct nt_comm *c, struct nt_local_key *key, const struct nt_call *call,
			  const struct nt_decision *choice)
{
	struct nt_comm_decision *d = &c->decision;
	struct nt_decision *noted;

	if (d->fifo_count == NT_FIFO)
		return; /* its events will match nothing, and are counted */
	noted = &d->fifo[d->fifo_count++];
	*noted = *choice;
	noted->key = key;
	noted->serial = ++d->noted;
	noted->number = nt_calls_begun(c->fixed.calls);
	noted->coll = (uint8_t)call->coll;
	noted->bytes = call->bytes;
	noted->forced = choice->arm != NT_ARM_BASELINE;
	if (!noted->forced)
		noted->arm = (uint16_t)nt_costs_baseline(call->cost, call->algos * NT_PROTOS,
							 c->fixed.last_wins);
}

/* Is a plan in force for this rank, or may one come? */
static bool any_plan(const struct nt_comm *c)
{
	for (unsigned i = 0; i < nt_comm_keys(c); i++) {
		const struct nt_local_key *key = &c->key[i];
		const struct nt_shm_key *shared = key->fixed.shared;
		const struct nt_turn *turn = &key->decision.turn;
		uint32_t state = nt_key_state(key);

		if (!key->decision.open || !shared || state == NT_LOCAL_COUNTED ||
		    state > NT_LOCAL_RECHECK)
			continue;
		if (atomic_load(&shared->hold_at) != 0 || turn->next.epoch != 0 ||
		    atomic_load(&shared->epoch) != turn->plan.epoch)
			return true;
		/* Turns only grow: who left a window does not enter it again. */
		if (turn->plan.epoch != 0 && turn->plan.until != NT_NEVER &&
		    atomic_load(&shared->turn[c->fixed.slot.index]) <= turn->plan.until)
			return true;
	}
	return false;
}

static int64_t wait_until_ms(const struct nt_comm *c)
{
	return nt_clock_ms() + (int64_t)c->fixed.process->policy.agree_timeout_s * 1000;
}

static int give_up(struct nt_comm *c, int coll, const char *what)
{
	const struct nt_comm_fixed *fixed = &c->fixed;

	if (!c->decision.lost)
		NT_WARN(fixed->process->log,
			"communicator %016llx %s rank %d: %s fails, since a decision of this rank "
			"alone could corrupt data: %s for %lld s",
			(unsigned long long)fixed->id, fixed->name, fixed->rank, nt_coll_name(coll),
			what, (long long)fixed->process->policy.agree_timeout_s);
	c->decision.lost = true;
	nt_process_count(fixed->process, NT_COUNT_ERRORS);
	return -1;
}

/* While CUDA graphs are alive on a communicator that shares this one's resources, Coll events come
 * on CUDA's callback thread (enqueue.cc:1520@v2.28.9-1): the turn is behind the program. Wait for
 * it. */
static SELDOM int wait_for_events(struct nt_comm *c, int coll)
{
	struct nt_comm_decision *d = &c->decision;
	int64_t until_ms = 0;

	if (nt_comm_launch_pending(c)) {
		atomic_store_explicit(&d->launch_judged,
				      atomic_load_explicit(&c->launch.newest, memory_order_relaxed),
				      memory_order_relaxed);
		d->launches_left++;
		nt_process_count(c->fixed.process, NT_COUNT_ASYNC);
		nt_comm_flag(c, NT_PARTICIPANT_ASYNC);
	}
	while (nt_comm_events_owed(c)) {
		if (until_ms == 0)
			until_ms = wait_until_ms(c);
		if (d->lost || nt_clock_ms() > until_ms) {
			if (any_plan(c))
				return give_up(c, coll, "its launches have not started");
			/* No plan is in force, and with the flag set none will come. */
			if (note_capture(c))
				freeze_comm(c);
			return 0;
		}
		pause_briefly();
	}
	return 0;
}

static SELDOM int wait_for_outcome(struct nt_comm *c, struct nt_local_key *key, int coll,
				   uint64_t turn)
{
	int64_t until_ms = wait_until_ms(c);

	nt_process_count(c->fixed.process, NT_COUNT_DOUBT);
	while (nt_turn_take(key->fixed.shared, c->fixed.slot.index, turn, &key->decision.turn) ==
	       NT_TURN_WAIT) {
		if (c->decision.lost || nt_clock_ms() > until_ms)
			return give_up(c, coll, "the node of its rank 0 is gone or silent");
		pause_briefly();
	}
	return 0;
}

/* May wait for the outcome of a proposal. */
static inline int take_turn(struct nt_comm *c, struct nt_local_key *key, int coll, uint64_t turn)
{
	if (nt_turn_take(key->fixed.shared, c->fixed.slot.index, turn, &key->decision.turn) ==
	    NT_TURN_WAIT)
		return wait_for_outcome(c, key, coll, turn);
	return 0;
}

/* From now on use the committed arm without reading shared memory. */
static SELDOM void stop_looking(struct nt_comm *c, struct nt_local_key *key)
{
	nt_comm_measure_key(c, key, false);
	key->decision.told_calls = 0;
	key->decision.confirmed = 0;
	nt_key_set_state(key, NT_LOCAL_COMMITTED);
}

/* Go on reading while the key is open there for a recheck that has not stalled, and while another
 * node counts on this rank. */
static void stop_looking_if_over(struct nt_comm *c, struct nt_local_key *key, uint64_t turn,
				 bool recheck)
{
	if (key->decision.commit_epoch == 0 || (recheck && !nt_key_stalled(key)))
		return;
	if (nt_turn_commit(key->fixed.shared, c->fixed.slot.index, turn, &key->decision.turn))
		stop_looking(c, key);
}

/* A stalled key without a plan in force: withdraw, so that its events can be switched off. This
 * rank publishes that first and then checks whether the leader already counts on it; the leader
 * does it the other way round, so one of them sees the other. */
static SELDOM void leave_stalled_key(struct nt_comm *c, struct nt_local_key *key, uint64_t turn)
{
	struct nt_shm_key *shared = key->fixed.shared;
	const struct nt_plan *plan = &key->decision.turn.plan;
	unsigned slot = c->fixed.slot.index;

	if (key->decision.turn.next.epoch != 0 || (plan->epoch != 0 && turn < plan->until))
		return;
	atomic_store(&shared->turn[slot], NT_TURN_GONE);
	if (atomic_load(&shared->hold_at) != 0 || atomic_load(&shared->epoch) != plan->epoch) {
		atomic_store(&shared->turn[slot], turn + 1);
		nt_key_answer_stalled(key);
		return;
	}
	nt_comm_drop_key(c, key);
	nt_key_set_state(key, NT_LOCAL_GONE);
}

/* In turns: NT_MEASURE_AHEAD positions */
static uint64_t ahead_of(const struct nt_plan *plan)
{
	const uint64_t turns = (uint64_t)NT_MEASURE_AHEAD * plan->stride;

	return plan->cell > 1 ? (turns + plan->cell - 1) / plan->cell : turns;
}

/* GPU times are on from shortly before a measured window to its end. */
static void update_measuring(struct nt_comm *c, struct nt_local_key *key, uint64_t turn)
{
	const struct nt_plan *plan = &key->decision.turn.plan, *next = &key->decision.turn.next;
	bool on = plan->epoch != 0 && plan->run != NT_NO_RUN && turn < plan->until;

	if (next->epoch != 0 && next->run != NT_NO_RUN)
		on |= turn + ahead_of(next) >= next->at && turn < next->until;
	if (on != nt_mask_measures(&key->measured))
		nt_comm_measure_key(c, key, on);
}

/* Tasks that were appended before GPU times were on have none. */
static bool will_be_measured(const struct nt_comm *c, const struct nt_local_key *key, bool before)
{
	return before && key->decision.measure_group <
				 atomic_load_explicit(&c->decision.group, memory_order_relaxed);
}

/* Keep what the arm before has saved, and count anew. */
static void close_account(struct nt_key_decision *d, uint32_t commits, uint64_t calls)
{
	const struct nt_outcome *before = &d->outcome[commits & 1];
	uint64_t since = calls - atomic_load_explicit(&d->commit_calls, memory_order_relaxed);
	double saved_us = 0;

	if (before->samples > 0)
		saved_us = (double)since * ((double)before->baseline_us - (double)before->best_us);
	if (before->chosen_arm != NT_ARM_BASELINE && saved_us > -1e15 && saved_us < 1e15)
		atomic_fetch_add_explicit(&d->saved_us, (int64_t)saved_us, memory_order_relaxed);
}

void nt_commit(struct nt_local_key *key, const struct nt_plan *plan,
	       const struct nt_schedule *schedule, uint32_t arm)
{
	struct nt_key_decision *d = &key->decision;
	uint32_t commits = nt_key_commits(key, NULL);
	uint64_t calls = nt_key_calls(key);

	if (d->commit_epoch == plan->epoch)
		return;
	if (commits > 0) {
		close_account(d, commits, calls);
		if (arm == NT_ARM_BASELINE && d->arm != NT_ARM_BASELINE)
			atomic_fetch_add_explicit(&d->rollbacks, 1, memory_order_relaxed);
		else if (arm != d->arm)
			atomic_fetch_add_explicit(&d->changes, 1, memory_order_relaxed);
	}
	d->commit_epoch = plan->epoch;
	d->arm = arm;
	/* The helper thread may be reading the other one. */
	d->outcome[(commits + 1) & 1] = schedule->outcome;
	atomic_store_explicit(&d->commit_calls, calls, memory_order_relaxed);
	/* Pairs with the acquire in nt_key_commits(). */
	atomic_store_explicit(&d->commits, commits + 1, memory_order_release);
}

/* A window over a committed plan is in force. Idempotent. */
static void count_window(struct nt_local_key *key, const struct nt_plan *plan,
			 const struct nt_schedule *schedule)
{
	struct nt_key_decision *d = &key->decision;

	if (d->window_epoch == plan->epoch)
		return;
	d->window_epoch = plan->epoch;
	if (schedule->kind == NT_SCHEDULE_RECHECK)
		atomic_fetch_add_explicit(&d->rechecks, 1, memory_order_relaxed);
}

static void follow_plan(struct nt_comm *c, struct nt_local_key *key, uint64_t turn,
			struct nt_decision *choice)
{
	int64_t position;
	const struct nt_plan *plan = nt_turn_plan(&key->decision.turn, turn, &position);
	bool before = nt_mask_measures(&key->measured);
	struct nt_schedule schedule;
	int arm;

	update_measuring(c, key, turn);
	if (!plan || nt_schedule_read(&schedule, plan->payload, plan->payload_bytes) < 0)
		return;
	/* A call that has no position uses the plan below the window. */
	if (plan->until != NT_NEVER && position >= nt_schedule_positions(&schedule))
		return;
	arm = nt_schedule_arm(&schedule, plan->epoch, position);
	choice->arm = (uint16_t)arm;
	if (plan->until == NT_NEVER) {
		nt_commit(key, plan, &schedule, (uint32_t)arm);
		return;
	}
	if (key->decision.commit_epoch != 0)
		count_window(key, plan, &schedule);
	if (plan->run >= NT_SHM_RUNS || position >= NT_RUN_POSITIONS)
		return;
	choice->measured = will_be_measured(c, key, before);
	choice->run = plan->run;
	choice->owner = 1 + c->fixed.slot.comm * NT_SHM_KEYS +
			(uint32_t)(key->fixed.shared - c->fixed.shm->key);
	choice->epoch = plan->epoch;
	choice->position = (uint32_t)position;
}

/* By default: the committed arm, if there is one */
static void use_committed(const struct nt_local_key *key, struct nt_decision *choice)
{
	if (key->decision.commit_epoch != 0)
		choice->arm = (uint16_t)key->decision.arm;
}

/* Tell the coordinator how the key's calls lie among others; one rank suffices. */
static void tell_pace(struct nt_local_key *key, uint64_t turn)
{
	struct nt_shm_key *shared = key->fixed.shared;
	struct nt_key_decision *d = &key->decision;
	const uint64_t before = d->told_turn - 1;

	if (d->told_turn == 0 && d->told_calls == 0) {
		atomic_store_explicit(&shared->gap, 0, memory_order_relaxed);
	} else if (d->told_turn == 0) {
		/* While the key rested no event told tasks: each call counts as one. */
		atomic_store_explicit(&shared->tasks,
				      atomic_load_explicit(&shared->tasks, memory_order_relaxed) +
					      nt_key_calls(key) - d->told_calls,
				      memory_order_relaxed);
	} else if (turn > before) {
		/* Single writer: no read-modify-write. */
		atomic_store_explicit(
			&shared->tasks,
			atomic_load_explicit(&shared->tasks, memory_order_relaxed) +
				nt_task_log_count(d->turn.task_log, before, turn, d->turn.band),
			memory_order_relaxed);
		if (turn - before > atomic_load_explicit(&shared->gap, memory_order_relaxed))
			atomic_store_explicit(&shared->gap,
					      turn - before < UINT32_MAX ? (uint32_t)(turn - before)
									 : UINT32_MAX,
					      memory_order_relaxed);
	}
	d->told_turn = turn + 1;
	d->told_calls = nt_key_calls(key);
}

/* A decision of a key that is open here or in shared memory */
static int follow_shared(struct nt_comm *c, struct nt_local_key *key, int coll,
			 struct nt_decision *choice)
{
	struct nt_shm_key *shared = key->fixed.shared;
	uint32_t state = atomic_load_explicit(&shared->state, memory_order_acquire);
	unsigned slot = c->fixed.slot.index;
	uint64_t turn;

	use_committed(key, choice);
	if (c->decision.lost && nt_comm_frozen(c))
		return -1; /* its state when frozen is not known */
	if (state == NT_KEY_IDLE || nt_comm_frozen(c))
		return 0;
	if (!key->decision.open && nt_mask_overridden(&c->fixed.process->mask)) {
		nt_comm_flag(c, NT_PARTICIPANT_MASKED);
		return 0;
	}
	if (state == NT_KEY_CLOSED) {
		atomic_store_explicit(&key->decision.closed_calls, nt_key_calls(key),
				      memory_order_relaxed);
		key->decision.told_calls = 0;
		nt_comm_drop_key(c, key);
		nt_key_set_state(key, NT_LOCAL_CLOSED);
		return 0;
	}
	if (nt_key_state(key) != NT_LOCAL_OPEN)
		nt_key_set_state(key, NT_LOCAL_OPEN);
	if (!key->decision.open) {
		key->decision.told_turn = 0;
		nt_comm_open_key(c, key);
	}
	atomic_store_explicit(&shared->calls[slot], nt_key_calls(key), memory_order_relaxed);
	if ((nt_comm_launch_pending(c) || nt_comm_events_owed(c)) && wait_for_events(c, coll) < 0)
		return -1;
	if (nt_comm_frozen(c)) {
		use_committed(key, choice);
		return 0;
	}
	if (!nt_comm_turn(c, coll, &turn)) {
		atomic_store(&shared->turn[slot], NT_TURN_UNKNOWN);
		nt_process_count(c->fixed.process, NT_COUNT_NO_TURN);
		return 0;
	}
	if (slot == 0)
		tell_pace(key, turn);
	if (take_turn(c, key, coll, turn) < 0)
		return -1;
	follow_plan(c, key, turn, choice);
	stop_looking_if_over(c, key, turn, state == NT_KEY_RECHECK);
	if (key->decision.commit_epoch == 0 && nt_key_stalled(key) &&
	    nt_key_state(key) == NT_LOCAL_OPEN)
		leave_stalled_key(c, key, turn);
	return 0;
}

/* Mode observe: each rank by itself measures some calls of NCCL's choice. */
static SELDOM void observe_call(struct nt_comm *c, struct nt_local_key *key,
				struct nt_decision *choice)
{
	bool before = key->decision.open;

	if (nt_comm_frozen(c) || nt_mask_overridden(&c->fixed.process->mask) ||
	    nt_mask_forbidden(&c->fixed.process->mask) || c->fixed.profiler_api < 4) {
		nt_comm_drop_key(c, key);
		nt_key_set_state(key, NT_LOCAL_CLOSED);
		return;
	}
	if (!nt_key_observed_now(key) || nt_key_observed(key) ||
	    atomic_load_explicit(&c->fixed.process->observe_rests, memory_order_relaxed)) {
		nt_comm_drop_key(c, key);
		return;
	}
	nt_comm_open_key(c, key);
	nt_comm_measure_key(c, key, true);
	choice->measured = will_be_measured(c, key, before);
	choice->run = NT_NO_RUN;
}

/* A window can end by turns of other keys, while its own key is not called. Publish the turn, so
 * that the leader sees that this rank has passed the window, and switch GPU times off. To publish a
 * turn is always safe: later decisions have this one or a later one. */
static SELDOM void sweep_windows(struct nt_comm *c)
{
	uint64_t turn;

	for (unsigned i = 0; i < nt_comm_keys(c); i++) {
		struct nt_local_key *key = &c->key[i];
		int coll = (int)nt_key_coll(nt_comm_key_id(c, i));

		if (!key->fixed.shared || !key->decision.open || !nt_comm_turn(c, coll, &turn))
			continue;
		if (nt_key_state(key) == NT_LOCAL_OPEN)
			(void)nt_turn_take(key->fixed.shared, c->fixed.slot.index, turn,
					   &key->decision.turn);
		if (nt_mask_measures(&key->measured))
			update_measuring(c, key, turn);
	}
}

/* What only a communicator with open keys needs */
static void finish_decision(struct nt_comm *c, struct nt_local_key *key, const struct nt_call *call,
			    const struct nt_decision *choice)
{
	note_decision(c, key, call, choice);
	if (key->decision.open && nt_key_state(key) == NT_LOCAL_COMMITTED &&
	    ++key->decision.confirmed > NT_CONFIRM_CALLS)
		nt_comm_drop_key(c, key);
	if (nt_key_calls(key) % SWEEP_CALLS == 0)
		sweep_windows(c);
}

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

/* At each decision while some key is open: within a group calls come before decisions, and
 * decisions before Coll events, so the first decision after a call or a Coll event begins a group,
 * and ends the group before. A group without any event, of calls or of tasks, shows as the next
 * loss of events (tuner/mask.h). */
static void begin_group(struct nt_comm *c)
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

static int choose_arm(struct nt_comm *c, struct nt_local_key *key, const struct nt_call *call,
		      uint32_t legal, int *arm)
{
	struct nt_decision choice = { .arm = NT_ARM_BASELINE };
	uint32_t state;

	if (nt_comm_open_keys(c) != 0)
		begin_group(c);
	if (!key)
		return 0;
	state = nt_key_state(key);
	if (state == NT_LOCAL_COMMITTED)
		choice.arm = (uint16_t)key->decision.arm;
	else if (state < NT_LOCAL_COMMITTED && key->fixed.shared &&
		 follow_shared(c, key, call->coll, &choice) < 0)
		return -1;
	else if (key->fixed.observed && state != NT_LOCAL_CLOSED)
		observe_call(c, key, &choice);
	choice.arm = (uint16_t)nt_costs_allowed(legal, choice.arm);
	if (nt_comm_open_keys(c) != 0)
		finish_decision(c, key, call, &choice);
	*arm = choice.arm;
	return 0;
}

int nt_apply_plan(struct nt_comm *c, struct nt_local_key *key, const struct nt_call *call,
		  uint32_t legal, int *arm)
{
	int rc;

	nt_comm_take(c);
	rc = choose_arm(c, key, call, legal, arm);
	nt_comm_untake(c);
	return rc;
}

/* A capture begins while the key is open: the newest committed plan that was reached becomes this
 * rank's arm, and windows end. This must follow from the turn, which all ranks have in common, and
 * not from this rank's decisions: one rank may have asked about a collective that never
 * followed. */
static void commit_what_was_reached(struct nt_comm *c, struct nt_local_key *key, int coll)
{
	struct nt_decision choice;
	uint64_t turn;

	/* Without a known turn nothing new was agreed on. */
	if (key->decision.open && nt_key_state(key) == NT_LOCAL_OPEN &&
	    nt_comm_turn(c, coll, &turn)) {
		if (take_turn(c, key, coll, turn) < 0)
			return;
		if (key->decision.turn.plan.until == NT_NEVER)
			follow_plan(c, key, turn, &choice);
	}
	if (key->decision.commit_epoch != 0)
		stop_looking(c, key);
}

/* The leader must not wait for this rank. */
static void freeze_key(struct nt_comm *c, struct nt_local_key *key, int coll)
{
	struct nt_shm_key *shared = key->fixed.shared;
	uint32_t state = nt_key_state(key);

	if (shared && (state == NT_LOCAL_OPEN || state == NT_LOCAL_RECHECK))
		commit_what_was_reached(c, key, coll);
	nt_comm_drop_key(c, key);
	if (state == NT_LOCAL_COUNTED || state == NT_LOCAL_CLOSED || state == NT_LOCAL_GONE)
		return;
	if (shared) {
		atomic_store(&shared->turn[c->fixed.slot.index], NT_TURN_GONE);
		atomic_store(&shared->passed[c->fixed.slot.index], atomic_load(&shared->epoch));
	}
	if (nt_key_state(key) == NT_LOCAL_OPEN)
		nt_key_set_state(key, NT_LOCAL_GONE);
}

/* False: it was seen before. */
static bool note_capture(struct nt_comm *c)
{
	return !atomic_exchange_explicit(&c->decision.frozen, true, memory_order_relaxed);
}

/* Once. `taken` is held. */
static void freeze_comm(struct nt_comm *c)
{
	nt_process_count(c->fixed.process, NT_COUNT_FROZEN);
	nt_mask_forbid(&c->fixed.process->mask);
	/* First the flag: no key may count as ready that this rank has left. */
	nt_comm_flag(c, NT_PARTICIPANT_GRAPHS);
	for (unsigned i = 0; i < nt_comm_keys(c); i++)
		freeze_key(c, &c->key[i], (int)nt_key_coll(nt_comm_key_id(c, i)));
}

void nt_apply_plan_freeze(struct nt_comm *c)
{
	if (!note_capture(c))
		return;
	nt_comm_take(c);
	freeze_comm(c);
	nt_comm_untake(c);
}
