/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/view.h"

#include "pmix-sync/shm.h"

/* A key is idle after so many of its pauses, and at least so long. */
#define NT_ACTIVE_PAUSES 4
#define NT_ACTIVE_MS 10000

struct nt_shm_comm *nt_view_comm(struct nt_agree *a, const struct nt_agree_comm *comm)
{
	return &a->config.shm->comm[comm->slot];
}

struct nt_shm_key *nt_view_key(struct nt_agree *a, const struct nt_agree_comm *comm,
			       const struct nt_agree_key *key)
{
	return &nt_view_comm(a, comm)->key[key->slot];
}

static uint64_t silent_ms(const struct nt_agree_key *key)
{
	return nt_call_interval_ms(&key->interval, NT_ACTIVE_PAUSES, NT_ACTIVE_MS);
}

bool nt_view_silent(const struct nt_agree *a, const struct nt_agree_key *key)
{
	return a->now_ms - key->interval.called_ms >= silent_ms(key);
}

bool nt_view_pauses(const struct nt_agree *a, const struct nt_agree_key *key)
{
	return a->now_ms - key->interval.called_ms >= silent_ms(key) / 2;
}

bool nt_view_waits(struct nt_agree *a, const struct nt_agree_comm *comm,
		   const struct nt_agree_key *key)
{
	return key->in_doubt &&
	       nt_view_top_turn(nt_view_key(a, comm, key), nt_view_comm(a, comm)) > key->pending.at;
}

uint32_t nt_view_slots(const struct nt_shm_comm *shm)
{
	uint32_t slots = 0;

	while (nt_shm_taken(shm, slots))
		slots++;
	return slots;
}

bool nt_view_joined(const struct nt_shm_comm *shm, uint32_t slot)
{
	return atomic_load(&shm->slot[slot].state) == NT_PARTICIPANT_JOINED;
}

uint64_t nt_view_top_turn(struct nt_shm_key *key, const struct nt_shm_comm *shm)
{
	uint64_t top = 0;

	for (uint32_t m = 0; nt_shm_taken(shm, m); m++) {
		uint64_t turn = nt_view_joined(shm, m) ? atomic_load(&key->turn[m]) : 0;

		if (turn > top)
			top = turn;
	}
	return top;
}

bool nt_view_turns_known(struct nt_shm_key *key, const struct nt_shm_comm *shm)
{
	for (uint32_t m = 0; nt_shm_taken(shm, m); m++) {
		if (nt_view_joined(shm, m) && atomic_load(&key->turn[m]) == 0)
			return false;
	}
	return true;
}

bool nt_view_passed(struct nt_shm_key *key, const struct nt_shm_comm *shm,
		    const struct nt_plan *plan)
{
	for (uint32_t m = 0; plan->epoch != 0 && nt_shm_taken(shm, m); m++) {
		if (!nt_view_joined(shm, m))
			continue;
		if (atomic_load(&key->passed[m]) < plan->epoch)
			return false;
		/* Turns are published plus one. */
		if (plan->until != NT_NEVER && atomic_load(&key->turn[m]) <= plan->until)
			return false;
	}
	return true;
}

bool nt_view_none_reached(struct nt_shm_key *key, const struct nt_shm_comm *shm, uint64_t at)
{
	for (uint32_t m = 0; nt_shm_taken(shm, m); m++) {
		uint64_t turn;

		if (!nt_view_joined(shm, m))
			continue;
		turn = atomic_load_explicit(&key->turn[m], memory_order_seq_cst);
		if (turn == 0 || turn > at)
			return false;
	}
	return true;
}

bool nt_view_measured(struct nt_agree *a, const struct nt_plan *plan, const struct nt_shm_comm *shm)
{
	struct nt_shm_run *run = &a->config.shm->run[plan->run];

	for (uint32_t m = 0; nt_shm_taken(shm, m); m++) {
		if (nt_view_joined(shm, m) &&
		    atomic_load(&run->done[m]) < atomic_load(&run->issued[m]))
			return false;
	}
	return true;
}

int nt_view_barred(uint32_t flags)
{
	if (flags & NT_PARTICIPANT_GRAPHS)
		return NT_REASON_GRAPHS;
	if (flags & NT_PARTICIPANT_ASYNC)
		return NT_REASON_ASYNCHRONOUS;
	if (flags & NT_PARTICIPANT_ODD)
		return NT_REASON_TWINS;
	if (flags & NT_PARTICIPANT_PROBES)
		return NT_REASON_SYMMETRIC;
	if (flags & NT_PARTICIPANT_MASKED)
		return NT_REASON_RAS;
	if (flags & NT_PARTICIPANT_ROOM)
		return NT_REASON_SHM_SMALL;
	if (flags & NT_PARTICIPANT_LIMITS)
		return NT_REASON_LIMITS;
	return NT_REASON_NONE;
}

int nt_view_objection(const struct nt_shm_comm *shm)
{
	for (uint32_t m = 0; nt_shm_taken(shm, m); m++) {
		int barred = nt_view_barred(atomic_load(&shm->slot[m].flags));

		if (atomic_load(&shm->slot[m].state) == NT_PARTICIPANT_LEFT)
			return NT_REASON_LEFT;
		if (barred)
			return barred;
	}
	return NT_REASON_NONE;
}
