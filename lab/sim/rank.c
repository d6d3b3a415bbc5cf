/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rank.c - a rank's side as the tuner plays it (tuner/decide.c, tuner/apply-plan.c), and what is
 * checked at each collective */
#include "lab/sim/sim.h"
#include "lib/hash.h"

#define FLAG_MS 2000 /* from a flag to a rank's own freeze, at least */
#define AUTO 1u /* what a rank follows, in one number; anything else is a plan's */

static struct nt_shm_key *shared_key(struct sim_member *m, unsigned k)
{
	return &m->slot.shm->comm[m->slot.comm].key[m->view[k].slot];
}

/* Everything that the arm depends on. */
static uint32_t followed(const struct nt_plan *plan, int64_t position)
{
	uint32_t hash = nt_hash32(NT_HASH32, &plan->epoch, sizeof(plan->epoch));

	hash = nt_hash32(hash, plan->payload, plan->payload_bytes);
	return nt_hash32(hash, &position, sizeof(position)) | 2;
}

static void open_key(struct sim_member *m, unsigned k)
{
	if (m->view[k].open)
		return;
	m->view[k].open = true;
	if (!m->task_log)
		m->task_log = sim_take(SIM_FUNCS, sizeof(*m->task_log));
	m->view[k].turn.task_log = &m->task_log[k % SIM_FUNCS];
	m->view[k].turn.band = nt_key_band(sim_key_id(k));
	m->view[k].told_turn = 0;
	if (m->open_keys++ == 0)
		m->open_group = m->comm->call[m->next].group;
}

static void drop_key(struct sim_member *m, unsigned k)
{
	m->open_keys -= m->view[k].open;
	m->view[k].open = false;
}

static void raise_flag(struct sim_member *m)
{
	(void)atomic_fetch_or(&m->slot.shm->comm[m->slot.comm].slot[m->slot.index].flags,
			      NT_PARTICIPANT_GRAPHS);
}

/* A plan for good is in force. */
static void commit(struct sim_view *view, const struct nt_plan *plan)
{
	view->committed = true;
	view->committed_choice = followed(plan, 0);
	view->followed_epoch = view->committed_epoch = plan->epoch;
}

/* A capture begins: plans for good whose turn has come stay, by the turn alone. False: an
 * outcome is not known yet. */
static bool commit_reached(struct sim_member *m)
{
	const struct sim_call *call = &m->comm->call[m->next];

	for (unsigned k = 0; m->joined && k < SIM_KEYS; k++) {
		struct sim_view *view = &m->view[k];
		uint64_t turn = call->turn[k % SIM_FUNCS];

		if (view->duration != SIM_OWN_OPEN)
			continue;
		if (call->last[k % SIM_FUNCS] > m->open_group + 1) {
			if (nt_turn_take(shared_key(m, k), m->slot.index, turn, &view->turn) ==
			    NT_TURN_WAIT)
				return false;
			if (view->turn.plan.until == NT_NEVER &&
			    nt_turn_position(&view->turn, turn) >= 0)
				commit(view, &view->turn.plan);
		}
	}
	return true;
}

static void freeze(struct sim_member *m)
{
	m->frozen = true;
	if (!m->joined)
		return;
	raise_flag(m);
	for (unsigned k = 0; k < SIM_KEYS; k++) {
		drop_key(m, k);
		if (m->view[k].duration != SIM_OWN_OPEN && m->view[k].duration != SIM_OWN_COMMITTED)
			continue;
		atomic_store(&shared_key(m, k)->turn[m->slot.index], SIM_TURN_GONE);
		atomic_store(&shared_key(m, k)->passed[m->slot.index],
			     atomic_load(&shared_key(m, k)->epoch));
		if (m->view[k].duration == SIM_OWN_OPEN)
			m->view[k].duration = m->view[k].committed ? SIM_OWN_COMMITTED
								   : SIM_OWN_GONE;
	}
}

/* Whether some plan may be in force, or come into force, for this rank. */
static bool any_plan(struct sim_member *m)
{
	for (unsigned k = 0; k < SIM_KEYS; k++) {
		const struct sim_view *view = &m->view[k];
		struct nt_shm_key *key;

		if (view->duration != SIM_OWN_OPEN)
			continue;
		key = shared_key(m, k);
		if (atomic_load(&key->hold_at) != 0 || view->turn.next.epoch != 0 ||
		    atomic_load(&key->epoch) != view->turn.plan.epoch)
			return true;
		if (view->turn.plan.epoch != 0 && view->turn.plan.until != NT_NEVER &&
		    atomic_load(&key->turn[m->slot.index]) <= view->turn.plan.until)
			return true;
	}
	return false;
}

static void note_sample(struct sim *s, struct sim_member *m, const struct nt_plan *plan)
{
	struct nt_shm_run *run;

	if (plan->run == NT_NO_RUN)
		return;
	run = &m->slot.shm->run[plan->run];
	atomic_fetch_add(&run->issued[m->slot.index], 1);
	if (sim_below(s, 200) != 0) /* else its GPU time never comes */
		atomic_fetch_add(&run->done[m->slot.index], 1);
}

/* As tuner/apply-plan.c does. */
static void tell_pace(struct sim_member *m, unsigned k, uint64_t turn)
{
	struct nt_shm_key *key = shared_key(m, k);
	struct sim_view *view = &m->view[k];

	if (view->told_turn == 0) {
		atomic_store(&key->gap, 0);
	} else if (turn >= view->told_turn) {
		atomic_fetch_add(&key->tasks,
				 nt_task_log_count(view->turn.task_log, view->told_turn - 1, turn,
						   view->turn.band));
		if (turn - view->told_turn + 1 > atomic_load(&key->gap))
			atomic_store(&key->gap, (uint32_t)(turn - view->told_turn + 1));
	}
	view->told_turn = turn + 1;
}

/* The Coll event of a collective: of the group in which events were switched on, some are there. */
static void report(struct sim *s, struct sim_member *m, const struct sim_call *call)
{
	if (m->open_keys == 0 || (call->group == m->open_group && sim_below(s, 2) == 0))
		return;
	nt_task_log_note(&m->task_log[call->key % SIM_FUNCS], call->seq,
			 nt_key_band(sim_key_id(call->key)));
}

/* What an open key says at a turn; 0: wait. */
static uint32_t take_turn(struct sim *s, struct sim_member *m, unsigned k, uint64_t turn, bool real)
{
	struct nt_shm_key *key = shared_key(m, k);
	uint32_t state = atomic_load_explicit(&key->state, memory_order_acquire);
	struct sim_view *view = &m->view[k];
	const struct nt_plan *plan;
	int64_t position;

	if (m->slot.index == 0)
		tell_pace(m, k, turn);
	if (nt_turn_take(key, m->slot.index, turn, &view->turn) == NT_TURN_WAIT)
		return 0;
	plan = nt_turn_plan(&view->turn, turn, &position);
	if (!plan)
		return AUTO;
	s->t.counted += plan->cell > 1 && plan->until != NT_NEVER;
	view->followed_epoch = plan->epoch;
	if (plan->until == NT_NEVER)
		commit(view, plan);
	if (view->committed && state != NT_KEY_RECHECK &&
	    nt_turn_commit(key, m->slot.index, turn, &view->turn)) {
		view->duration = SIM_OWN_COMMITTED;
		drop_key(m, k);
	}
	if (real)
		note_sample(s, m, plan);
	return followed(plan, position);
}

/* What is in force where nothing else is known. */
static uint32_t stay(struct sim_view *view)
{
	if (!view->committed)
		return AUTO;
	view->followed_epoch = view->committed_epoch;
	return view->committed_choice;
}

/* What the tuner's helper does: a key that shared memory has open for a recheck is looked at
 * again. */
static void open_recheck(struct sim *s, struct sim_member *m, unsigned k)
{
	struct sim_view *view = &m->view[k];

	if (atomic_load_explicit(&shared_key(m, k)->state, memory_order_acquire) !=
	    NT_KEY_RECHECK) {
		view->rechecked = false;
	} else if (!view->rechecked && !m->frozen && sim_below(s, 4) == 0) {
		view->rechecked = true;
		view->duration = SIM_OWN_OPEN;
	}
}

/* A decision of a key that this rank has not left behind. */
static uint32_t consider(struct sim *s, struct sim_member *m, unsigned k, bool real)
{
	const struct sim_call *call = &m->comm->call[m->next];
	struct nt_shm_key *key = shared_key(m, k);
	uint32_t state = atomic_load_explicit(&key->state, memory_order_acquire);
	struct sim_view *view = &m->view[k];

	if (m->waiting)
		return take_turn(s, m, k, call->turn[k % SIM_FUNCS], real);
	if (state == NT_KEY_IDLE || m->frozen)
		return stay(view);
	if (state == NT_KEY_CLOSED) {
		drop_key(m, k);
		view->duration = SIM_OWN_CLOSED;
		return AUTO;
	}
	view->duration = SIM_OWN_OPEN;
	open_key(m, k);
	if (call->last[k % SIM_FUNCS] <= m->open_group + 1) {
		atomic_store(&key->turn[m->slot.index], NT_TURN_UNKNOWN);
		return stay(view);
	}
	return take_turn(s, m, k, call->turn[k % SIM_FUNCS], real);
}

static uint32_t choose(struct sim *s, struct sim_member *m, unsigned k, bool real)
{
	struct sim_view *view = &m->view[k];
	float cost[NT_PAIRS] = { 0 };
	uint32_t choice;

	if (!m->joined)
		return AUTO;
	if (view->slot == -1 && !m->frozen) {
		view->slot = nt_shm_key(&m->slot, sim_key_id(k), 1, cost, NT_SHM_KEYS);
		if (view->slot < 0)
			view->slot = -2;
	}
	view->calls += !m->waiting;
	if (view->duration == SIM_OWN_COMMITTED && !m->waiting)
		open_recheck(s, m, k);
	if (view->duration == SIM_OWN_COMMITTED) {
		atomic_store_explicit(&shared_key(m, k)->calls[m->slot.index], view->calls,
				      memory_order_relaxed);
		return stay(view);
	}
	if (view->slot < 0 || view->duration > SIM_OWN_OPEN)
		return AUTO;
	choice = consider(s, m, k, real);
	atomic_store_explicit(&shared_key(m, k)->calls[m->slot.index], view->calls,
			      memory_order_relaxed);
	return choice;
}

/* The plan that the coordinator's log has in force at a turn: the newest, or the one of this
 * epoch. */
static const struct sim_committed *in_force(const struct sim_comm *c, unsigned k, uint64_t turn,
					    uint32_t epoch)
{
	const struct sim_committed *newest = NULL;

	for (uint32_t i = 0; i < SIM_PLANS && i < c->commits[k]; i++) {
		const struct sim_committed *plan = &c->committed[k][i];

		if (turn >= plan->at && turn < plan->until &&
		    (epoch == 0 || plan->epoch == epoch) &&
		    (!newest || plan->epoch > newest->epoch))
			newest = plan;
	}
	return newest;
}

/* A plan that is followed was committed in the coordinator's log, and one that was committed is
 * followed. */
static void check_log(struct sim *s, const struct sim_member *m, unsigned k, uint32_t choice)
{
	const struct sim_comm *c = m->comm;
	/* At a capture windows end, and plans for good that have not come never do. */
	const struct sim_committed *plan = in_force(c, k, c->call[m->next].turn[k % SIM_FUNCS],
						    m->frozen ? m->view[k].committed_epoch : 0);

	if (!c->spanning)
		return;
	if (choice != AUTO && (!plan || plan->epoch != m->view[k].followed_epoch))
		s->t.unlogged++;
	if (choice == AUTO && plan && m->joined && !m->frozen)
		s->t.idle++;
}

static void end_rank(struct sim_member *m)
{
	m->life = SIM_ENDED;
	m->waiting = false;
	m->comm->gone++;
}

static void end_wait(struct sim *s, struct sim_member *m)
{
	if (m->waiting)
		tally_note(s->t.wait_ms, s->now_ms - m->waiting_ms);
	m->waiting = false;
}

static void stop_others(struct sim *s, struct sim_member *m)
{
	if (m->next + s->ahead < m->comm->limit)
		m->comm->limit = m->next + s->ahead;
}

static void check_wait(struct sim *s, struct sim_member *m)
{
	if (s->now_ms - m->waiting_ms < SIM_AGREE_MS + 1000 * (uint64_t)s->nodes)
		return;
	if (network_speaks(s, m->comm->coordinator) && network_speaks(s, m->node))
		s->t.stuck++;
	else
		s->t.excused++;
	stop_others(s, m); /* the collective fails here */
	end_rank(m);
	m->dead = true;
}

/* One decision; with `real` its collective follows. */
static void decide(struct sim *s, struct sim_member *m)
{
	struct sim_comm *c = m->comm;
	bool real = m->waiting ? m->wait_real : !sim_chance(s, SIM_FAULT_probe, 10);
	unsigned k = m->waiting ? m->wait_key : real ? c->call[m->next].key : sim_below(s, s->keys);
	uint32_t choice = choose(s, m, k, real);

	if (choice == 0) {
		if (!m->waiting)
			m->waiting_ms = s->now_ms;
		s->t.waits += !m->waiting;
		m->waiting = true;
		m->wait_real = real;
		m->wait_key = (uint8_t)k;
		check_wait(s, m);
		return;
	}
	end_wait(s, m);
	s->t.probes += !real;
	check_log(s, m, k, choice);
	if (!real)
		return;
	if (c->choice[m->next] == 0)
		c->choice[m->next] = choice;
	else if (c->choice[m->next] != choice)
		s->t.mismatches++;
	s->t.collectives++;
	s->t.planned += choice != AUTO;
	s->t.raced += m->next > c->least + 16;
	report(s, m, &c->call[m->next]);
	m->next++;
}

static void join(struct sim *s, struct sim_member *m)
{
	struct sim_comm *c = m->comm;
	struct nt_capabilities caps = { .fingerprint = 7,
					.build = 1 + m->odd,
					.nccl = 22809,
					.api = 6 * 256 + 6,
					.active = 1,
					.rank = (int32_t)m->rank,
					.task = s->task_of[m->proc] };

	m->life = SIM_HERE;
	if (m->bare)
		return;
	m->joined = nt_shm_join(s->node[m->node].shm, c->id, c->ranks, c->nodes_used, &caps,
				&m->slot, NULL) == 0;
	s->t.refused_seats += !m->joined;
	if (m->joined) /* all are this one process, and are not */
		m->slot.shm->comm[m->slot.comm].slot[m->slot.index].pid = 1 + m->proc;
}

/* Where a node leader dies first, its log does not tell that the communicator is over. */
void rank_retire(struct sim *s, struct sim_member *m)
{
	struct sim_node *node = &s->node[m->node];

	if (m->comm->ends_silently && !node->dead) {
		node->dead = true;
		s->t.deaths++;
	}
	for (unsigned k = 0; k < SIM_KEYS; k++)
		drop_key(m, k);
	if (m->joined)
		nt_shm_leave(&m->slot);
	end_rank(m);
}

/* A process ends and leaves its slots as they are; with the first of a node its node leader ends.
 * */
static void kill_process(struct sim *s, uint32_t proc)
{
	struct sim_node *node = &s->node[s->node_of[proc]];

	for (uint32_t i = 0; i < node->member_count; i++) {
		struct sim_member *m = node->slot[i];

		if (m->proc != proc || m->life == SIM_ENDED || m->dead)
			continue;
		stop_others(s, m);
		m->dead = true;
		end_rank(m);
		s->t.killed_ranks++;
	}
	if (proc == node->first_proc)
		node->dead = true;
}

/* True where the rank is no more, or has done something else than deciding. */
static bool misfortune(struct sim *s, struct sim_member *m)
{
	if (sim_chance(s, SIM_FAULT_kill, 4000)) {
		if (sim_below(s, 2) == 0) {
			kill_process(s, m->proc);
		} else if (!m->waiting) {
			stop_others(s, m);
			rank_retire(s, m);
			s->t.left_ranks++;
		}
		return true;
	}
	if (m->joined && !m->waiting && !m->frozen && m->flagged_ms == 0 &&
	    sim_chance(s, SIM_FAULT_graph, 1500)) {
		raise_flag(m);
		m->flagged_ms = s->now_ms;
		s->t.flags++;
	}
	if (m->flagged_ms != 0 && !m->waiting && !m->frozen &&
	    s->now_ms - m->flagged_ms > FLAG_MS && !any_plan(m))
		freeze(m);
	return false;
}

static void act(struct sim *s, struct sim_member *m)
{
	const struct sim_comm *c = m->comm;

	if (m->life == SIM_COMING && c->opened && s->now_ms >= c->open_ms + m->join_ms)
		join(s, m);
	if (m->life != SIM_HERE || misfortune(s, m))
		return;
	if (m->next >= c->calls || m->next >= c->limit) {
		if (sim_below(s, 3) == 0)
			rank_retire(s, m);
		return;
	}
	if (m->next >= c->least + s->ahead)
		return;
	if (m->next == c->capture_at && !m->frozen && !m->waiting) {
		if (!commit_reached(m)) {
			if (!m->capturing)
				m->waiting_ms = s->now_ms;
			m->capturing = true;
			check_wait(s, m);
			return;
		}
		freeze(m);
		s->t.captures++;
	}
	decide(s, m);
}

void rank_act(struct sim *s, struct sim_member *m)
{
	enum sim_side before = s->inside;
	struct sim_node *node = s->inside_node;

	s->inside = before == SIM_NOBODY ? SIM_RANK : SIM_BOTH;
	if (before == SIM_NOBODY)
		s->inside_node = &s->node[m->node];
	act(s, m);
	s->inside = before;
	s->inside_node = node;
}
