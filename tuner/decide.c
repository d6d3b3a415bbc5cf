/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/decide.h"

#include "engine/engine.h"
#include "tuner/costs.h"
#include "tuner/apply-plan.h"
#include "tuner/key-shares.h"

#define HALF (NT_SHM_KEYS / 2)
#define MOST (NT_SHM_KEYS * 3 / 4)
/* a key below this part of min_share is certainly not explored (engine/key-info.h) */
#define LITTLE 10
/* Mode observe first measures so many calls of a key that takes less than this, as NCCL predicts */
#define SHORT_CALLS 16u
#define SHORT_US 100.0f

/* How many of the keys' slots in shared memory this key may use. A slot is never freed, since
 * other ranks may be about to read it. So half of them are for keys that are called often and have
 * a share of their communicator's time, and the last quarter for keys of at least min_share, of
 * which there are 100 at most. All ranks find the same, because they issue a communicator's calls
 * in one order. */
static unsigned slots_for(const struct nt_comm *comm, const struct nt_local_key *key)
{
	const struct nt_policy policy = nt_engine_policy(&comm->fixed.process->policy);
	const double share = (double)policy.min_share_micro / 1e8;
	const double us = nt_key_shares_key_us(key), of_us = nt_key_shares_comm_us(comm);
	const uint64_t calls = nt_key_calls(key);

	if (calls < 16 || (us > 0 && us * LITTLE < of_us * share))
		return HALF;
	return calls < 64 || (us > 0 && us < of_us * share) ? MOST : NT_SHM_KEYS;
}

/* Without a slot, retry at a later call. */
static __attribute__((noinline, cold)) void claim_slot(struct nt_comm *comm,
						       struct nt_local_key *key, uint64_t id)
{
	const struct nt_comm_fixed *fixed = &comm->fixed;
	const uint64_t calls = nt_key_calls(key);
	int slot;

	key->decision.slot_calls = 0;
	if (!fixed->joined || nt_comm_frozen(comm) || nt_key_mask(id) == 0 ||
	    (fixed->mute_broadcast && nt_key_coll(id) == NT_BROADCAST))
		return;
	slot = nt_shm_key(&fixed->slot, id, key->fixed.baseline_arm, key->fixed.cost_us,
			  slots_for(comm, key));
	if (slot >= 0)
		key->fixed.shared = &fixed->shm->key[slot];
	else
		key->decision.slot_calls = calls < 4 ? 4 : calls < 16 ? 16 : 2 * calls;
}

/* Measuring costs a short call as much as a long one: of short ones fewer. */
static void describe_observed(struct nt_comm *comm, unsigned at)
{
	struct nt_key_fixed *key = &comm->key[at].fixed;
	const uint32_t calls = 4 * (uint32_t)comm->fixed.process->policy.min_calls;
	uint32_t most;

	key->observed_us = key->baseline_arm < NT_PAIRS ? key->cost_us[key->baseline_arm] : 0;
	most = key->observed_us < SHORT_US ? SHORT_CALLS : NT_OBSERVED_MAX;
	key->observed = comm->fixed.observed + (size_t)at * NT_OBSERVED_MAX;
	key->observed_first = calls < most ? calls : most;
	comm->key[at].decision.observe_until = key->observed_first + 1;
}

/* Its constants, its slot in shared memory, and last its id */
static void describe_key(struct nt_comm *comm, unsigned at, uint64_t id, const struct nt_call *call)
{
	const struct nt_comm_fixed *fixed = &comm->fixed;
	struct nt_key_fixed *key = &comm->key[at].fixed;
	const float *model = call->model ? call->model : call->cost;
	int pairs = call->algos * NT_PROTOS, pick;

	for (int i = 0; i < NT_PAIRS; i++)
		key->cost_us[i] = i < pairs ? model[i] : -1.0f;
	pick = nt_costs_baseline(call->cost, pairs, fixed->last_wins);
	key->baseline_arm = pick < NT_PAIRS ? (uint8_t)pick : NT_ARM_BASELINE;
	if (fixed->observed)
		describe_observed(comm, at);
	claim_slot(comm, &comm->key[at], id);
	comm->key[at].decision.turn.task_log = &comm->events.task_log[nt_key_coll(id)];
	comm->key[at].decision.turn.band = nt_key_band(id);
	/* Pairs with the acquire in nt_comm_key_id(): an id that is there is described. */
	atomic_store_explicit(&comm->decision.key_id[at], id, memory_order_release);
}

/* NULL: no room. */
static __attribute__((noinline, cold)) struct nt_local_key *add_key(struct nt_comm *comm,
								    uint64_t id,
								    const struct nt_call *call,
								    unsigned entry)
{
	const unsigned at = nt_comm_keys(comm);

	if (at == NT_LOCAL_KEYS)
		return NULL;
	describe_key(comm, at, id, call);
	comm->decision.table[entry].id = id;
	comm->decision.table[entry].key = at;
	/* Pairs with the acquire in nt_comm_keys(): an id that is there is described. */
	atomic_store_explicit(&comm->decision.keys, at + 1, memory_order_release);
	return &comm->key[at];
}

struct nt_local_key *nt_comm_key(struct nt_comm *comm, uint64_t id, const struct nt_call *call)
{
	struct nt_comm_decision *d = &comm->decision;
	unsigned at = (unsigned)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 54);

	_Static_assert(NT_LOCAL_TABLE == 1024 && NT_LOCAL_TABLE > NT_LOCAL_KEYS,
		       "ten bits, some free");
	while (d->table[at].id != id) {
		if (d->table[at].id == 0)
			return add_key(comm, id, call, at);
		at = (at + 1) & (NT_LOCAL_TABLE - 1);
	}
	return &comm->key[d->table[at].key];
}

/* Registered buffers may mean a capture that no event tells of, because the mask was off or the
 * interface is too old; unless the user has promised that there are none. */
static void note_registered(const struct nt_comm *comm)
{
	const struct nt_comm_fixed *fixed = &comm->fixed;
	struct nt_mask *mask = &fixed->process->mask;

	if (fixed->process->policy.graphs == NT_GRAPHS_NEVER)
		return;
	if (fixed->profiler_api >= 5 && nt_mask_value(mask) != 0)
		return;
	nt_mask_forbid(mask);
	if (fixed->shm && !(atomic_load_explicit(&fixed->shm->slot[fixed->slot.index].flags,
						 memory_order_relaxed) &
			    NT_PARTICIPANT_GRAPHS))
		nt_comm_flag(comm, NT_PARTICIPANT_GRAPHS);
}

static void count_call(struct nt_comm *comm, struct nt_local_key *key, uint64_t id)
{
	const uint64_t calls = nt_key_calls(key) + 1;

	/* Single writer: no read-modify-write. */
	atomic_store_explicit(&key->decision.calls, calls, memory_order_relaxed);
	nt_stretch_note(&comm->fixed.process->stretch,
			&(struct nt_period_call){ .key = id,
						  .comm = comm->fixed.opened,
						  .ranks = comm->fixed.ranks,
						  .number = (uint32_t)calls });
}

static bool wants_slot(const struct nt_local_key *key)
{
	return key->decision.slot_calls != 0 && nt_key_calls(key) >= key->decision.slot_calls;
}

/* No key of the communicator is open, and this call can open none: *arm is in force if it is
 * legal. */
static bool is_steady(const struct nt_comm *comm, const struct nt_local_key *key, uint32_t legal,
		      int *arm)
{
	const struct nt_shm_key *shared = key->fixed.shared;
	uint32_t state;

	if (nt_comm_open_keys(comm) != 0)
		return false;
	state = nt_key_state(key);
	if (state == NT_LOCAL_COMMITTED) {
		*arm = nt_costs_allowed(legal, (int)key->decision.arm);
		return true;
	}
	if (key->fixed.observed && state != NT_LOCAL_CLOSED && nt_key_observed_now(key))
		return false;
	if (state > NT_LOCAL_COMMITTED || !shared)
		return !wants_slot(key);
	return state == NT_LOCAL_COUNTED && !comm->decision.lost &&
	       atomic_load_explicit(&shared->state, memory_order_acquire) == NT_KEY_IDLE;
}

/* The key may need its slot first. */
static int leave_steady(struct nt_comm *comm, struct nt_local_key *key, const struct nt_call *call,
			uint32_t legal, int *arm)
{
	if (key && wants_slot(key))
		claim_slot(comm, key, nt_key_id((unsigned)call->coll, nt_band(call->bytes), legal));
	return nt_apply_plan(comm, key, call, legal, arm);
}

/* NCCL takes the number as it is, up to the communicator's channels. */
static void limit_channels(int arm, int *channels)
{
	unsigned cap = nt_arm_channels(arm);

	if (cap != 0)
		*channels = (int)cap;
}

static void force_arm(const struct nt_call *call, int arm)
{
	if (arm != NT_ARM_BASELINE)
		nt_costs_force(call->cost, call->algos * NT_PROTOS, nt_arm_pair(arm));
	if (arm >= NT_PAIRS && arm != NT_ARM_BASELINE && call->channels)
		limit_channels(arm, call->channels);
}

/* The pairs that may be forced for this call: the same on all ranks, as NCCL's choice is. Where LL
 * is not allowed (tuner/open.c) but NCCL's own choice, NCCL may be asking in order to take a
 * symmetric kernel: leave it alone. The same for an algorithm that we do not know: none of its
 * events could be matched. */
static uint32_t may_be_forced(const struct nt_comm *comm, const struct nt_call *call,
			      uint32_t legal)
{
	const struct nt_comm_fixed *fixed = &comm->fixed;
	int pick;

	legal &= fixed->allowed;
	/* Pairs that only a chained tuner made legal are no arms. */
	if (call->model)
		legal &= nt_costs_legal(call->model, call->algos);
	if (fixed->allowed & NT_PAIRS_LL && call->algos <= NT_ALGOS)
		return legal;
	pick = nt_costs_baseline(call->cost, call->algos * NT_PROTOS, fixed->last_wins);
	if (pick >= NT_PAIRS)
		return 0;
	return NT_PAIRS_LL & ~fixed->allowed & UINT32_C(1) << pick ? 0 : legal;
}

int nt_comm_decide(struct nt_comm *comm, const struct nt_call *call)
{
	struct nt_local_key *key;
	int arm = NT_ARM_BASELINE;
	unsigned band;
	uint32_t legal;
	uint64_t id;

	if (!nt_costs_known(call->coll, call->cost, call->algos, call->protos)) {
		nt_process_count(comm->fixed.process, NT_COUNT_ODD_TABLE);
		return NT_NCCL_OK;
	}
	legal = nt_costs_legal(call->cost, call->algos);
	/* No collective uses this: from 2.31 on NCCL asks like this where it may use a symmetric
	 * kernel (tuner/abi.h). */
	if (legal == 0)
		return NT_NCCL_OK;
	legal = may_be_forced(comm, call, legal);
	band = nt_band(call->bytes);
	nt_calls_begin(comm->fixed.calls, nt_calls_kind((unsigned)call->coll, band));
	id = nt_key_id((unsigned)call->coll, band, legal);
	key = nt_comm_key(comm, id, call);
	if (call->registered)
		note_registered(comm);
	if (key)
		count_call(comm, key, id);
	else
		nt_process_count(comm->fixed.process, NT_COUNT_NO_KEY);
	if (!(key && is_steady(comm, key, legal, &arm)) &&
	    leave_steady(comm, key, call, legal, &arm) < 0)
		return NT_NCCL_SYSTEM_ERROR;
	force_arm(call, arm);
	return NT_NCCL_OK;
}
