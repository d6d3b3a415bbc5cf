/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/rest.h"

#include "tuner/apply-plan.h"

#define SILENT_MS 500u
#define SILENT_PAUSES 4u
/* What a call with GPU times takes longer, at most: nccl-tests on NVLink, 8 bytes to 128 KiB */
#define EVENTS_US 20.0
#define GRACE_US 50000.0
#define SHARE 0.0025

bool nt_observe_budget_see(struct nt_observe_budget *budget, uint64_t calls, double all_us, bool on)
{
	/* Those of communicators that have ended are not counted any more. */
	if (calls > budget->calls && (on || budget->on))
		budget->spent_us += (double)(calls - budget->calls) * EVENTS_US;
	if (all_us > budget->all_us)
		budget->predicted_us += all_us - budget->all_us;
	budget->calls = calls;
	budget->all_us = all_us;
	budget->on = on;
	return budget->spent_us > GRACE_US + SHARE * budget->predicted_us;
}

static bool is_silent(const struct nt_local_key *key, uint64_t ms, uint64_t least_ms)
{
	const struct nt_call_interval *interval = &key->helper.interval;

	return ms - interval->called_ms >= nt_call_interval_ms(interval, SILENT_PAUSES, least_ms);
}

/* What was committed must be known here before the turn is forgotten. */
static bool knows_commit(struct nt_local_key *key)
{
	const struct nt_plan *plan = &key->decision.turn.plan;
	struct nt_schedule schedule;

	if (plan->epoch == 0 || plan->until != NT_NEVER ||
	    key->decision.commit_epoch == plan->epoch)
		return true;
	if (nt_schedule_read(&schedule, plan->payload, plan->payload_bytes) < 0)
		return false;
	nt_commit(key, plan, &schedule, (uint32_t)nt_schedule_arm(&schedule, plan->epoch, 0));
	return true;
}

/* Does the key need no events until its next call? Its turn is published a pass before it is
 * withdrawn, so that the leader sees a window that is over. */
static bool may_rest(struct nt_comm *comm, struct nt_local_key *key, int coll, bool published)
{
	struct nt_shm_key *shared = key->fixed.shared;
	struct nt_turn *mine = &key->decision.turn;
	const uint32_t state = nt_key_state(key);
	const unsigned slot = comm->fixed.slot.index;
	uint64_t turn;

	if (!shared || (state != NT_LOCAL_OPEN && state != NT_LOCAL_COUNTED) ||
	    atomic_load_explicit(&shared->state, memory_order_acquire) == NT_KEY_CLOSED)
		return true;
	/* No plan is agreed on while this rank's turn is unknown to the others, too. */
	if (!nt_comm_turn(comm, coll, &turn))
		return mine->plan.epoch == 0 && mine->next.epoch == 0 &&
		       atomic_load(&shared->turn[slot]) == NT_TURN_UNKNOWN &&
		       atomic_load(&shared->hold_at) == 0 && atomic_load(&shared->epoch) == 0;
	if (nt_turn_take(shared, slot, turn, mine) == NT_TURN_WAIT || !published)
		return false;
	return knows_commit(key) && nt_turn_commit(shared, slot, turn, mine);
}

static void look_at_key(struct nt_comm *comm, struct nt_local_key *key, int coll, uint64_t ms,
			bool spent)
{
	const bool observed = key->fixed.observed && !key->fixed.shared;

	if (!(observed && spent) && !is_silent(key, ms, SILENT_MS))
		return;
	nt_comm_measure_key(comm, key, false);
	if (key->decision.open &&
	    (observed || may_rest(comm, key, coll, is_silent(key, ms, 2 * SILENT_MS))))
		nt_comm_drop_key(comm, key);
}

void nt_rest_look(struct nt_comm *comm, uint64_t ms, bool spent)
{
	for (unsigned k = 0; k < nt_comm_keys(comm); k++)
		nt_call_interval_see(&comm->key[k].helper.interval, nt_key_calls(&comm->key[k]),
				     ms);
	if (nt_comm_open_keys(comm) == 0 || !nt_comm_try_take(comm))
		return;
	for (unsigned k = 0; k < nt_comm_keys(comm); k++)
		look_at_key(comm, &comm->key[k], (int)nt_key_coll(nt_comm_key_id(comm, k)), ms,
			    spent);
	nt_comm_untake(comm);
}
