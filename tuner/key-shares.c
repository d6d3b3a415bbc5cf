/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/key-shares.h"

#include <math.h>
#include <stdlib.h>
#include "engine/engine.h"
#include "pmix-sync/shm.h"

#define PIDS 1024u /* pids of a node; others are not counted */

/* Predicted time of one process's ranks */
struct spender {
	uint32_t pid;
	uint32_t here, ranks; /* in the present communicator, and in the one that has the most */
	double us;
};

struct spenders {
	uint32_t count;
	struct spender of[PIDS];
};

/* Of one call, as predicted; 0: unknown */
static double call_us(const float *cost_us, unsigned pair)
{
	double us = pair < NT_PAIRS ? (double)cost_us[pair] : 0;

	return isfinite(us) && us > 0 ? us : 0;
}

static double shm_call_us(const struct nt_shm_key *key)
{
	return atomic_load(&key->described) ? call_us(key->cost_us, key->baseline_arm) : 0;
}

static uint64_t calls_of(const struct nt_shm_key *key, unsigned slot)
{
	/* A single number; nothing to pair with. */
	return atomic_load_explicit(&key->calls[slot], memory_order_relaxed);
}

static bool has_joined(const struct nt_shm_comm *comm, unsigned slot)
{
	return atomic_load_explicit(&comm->slot[slot].state, memory_order_acquire) ==
	       NT_PARTICIPANT_JOINED;
}

static struct spender *find_spender(struct spenders *s, const struct nt_shm_comm *comm,
				    unsigned slot)
{
	const uint32_t pid = atomic_load_explicit(&comm->slot[slot].pid, memory_order_relaxed);
	uint32_t i = 0;

	while (i < s->count && s->of[i].pid != pid)
		i++;
	if (i == PIDS)
		return NULL;
	if (i == s->count)
		s->of[s->count++] = (struct spender){ .pid = pid };
	return &s->of[i];
}

static double spent_us(const struct nt_shm_comm *comm, unsigned slot)
{
	double us = 0;

	for (unsigned k = 0; nt_shm_claimed(comm, k); k++)
		us += (double)calls_of(&comm->key[k], slot) * shm_call_us(&comm->key[k]);
	return us;
}

static void add_comm(struct spenders *s, const struct nt_shm_comm *comm)
{
	for (uint32_t i = 0; i < s->count; i++)
		s->of[i].here = 0;
	for (unsigned m = 0; m < NT_SHM_SLOTS; m++) {
		struct spender *spender = has_joined(comm, m) ? find_spender(s, comm, m) : NULL;

		if (!spender)
			continue;
		spender->us += spent_us(comm, m);
		if (++spender->here > spender->ranks)
			spender->ranks = spender->here;
	}
}

static double of_comm(struct spenders *s, const struct nt_shm_comm *comm)
{
	double us = 0;

	for (unsigned m = 0; m < NT_SHM_SLOTS; m++) {
		const struct spender *spender = has_joined(comm, m) ? find_spender(s, comm, m)
								    : NULL;

		if (spender && spender->ranks > 0)
			us += spender->us / spender->ranks;
	}
	return us;
}

void nt_key_shares_update(struct nt_key_shares *shares, const struct nt_shm *shm, uint64_t now_ms)
{
	struct spenders *s = calloc(1, sizeof(*s));

	if (!s)
		return; /* the last sums stay */
	for (unsigned c = 0; c < NT_SHM_COMMS; c++) {
		if (atomic_load(&shm->comm[c].id) != 0)
			add_comm(s, &shm->comm[c]);
	}
	for (unsigned c = 0; c < NT_SHM_COMMS; c++)
		shares->of_us[c] = atomic_load(&shm->comm[c].id) != 0 ? of_comm(s, &shm->comm[c])
								      : 0;
	shares->looked_ms = now_ms;
	free(s);
}

struct nt_share nt_key_shares_of(const struct nt_key_shares *shares, const struct nt_shm *shm,
				 unsigned comm, const struct nt_shm_key *key)
{
	struct nt_share share = { .of_us = shares->of_us[comm] };
	uint64_t calls = 0;

	for (unsigned m = 0; m < NT_SHM_SLOTS; m++) {
		if (has_joined(&shm->comm[comm], m))
			calls += calls_of(key, m);
	}
	share.us = (double)calls * shm_call_us(key);
	return share;
}

double nt_key_shares_rank_us(const struct nt_shm_key *key)
{
	uint64_t most = 0;

	for (unsigned m = 0; m < NT_SHM_SLOTS; m++)
		most = calls_of(key, m) > most ? calls_of(key, m) : most;
	return (double)most * shm_call_us(key);
}

double nt_key_shares_key_us(const struct nt_local_key *key)
{
	return (double)nt_key_calls(key) * call_us(key->fixed.cost_us, key->fixed.baseline_arm);
}

double nt_key_shares_comm_us(const struct nt_comm *comm)
{
	double us = 0;

	for (unsigned k = 0; k < nt_comm_keys(comm); k++)
		us += nt_key_shares_key_us(&comm->key[k]);
	return us;
}

static uint32_t ranks_of(const struct nt_process *process, uint64_t comm)
{
	uint32_t ranks = 0;

	for (uint32_t i = 0; i < process->comms; i++)
		ranks += process->comm[i]->fixed.id == comm && !process->comm[i]->kept.left;
	return ranks;
}

double nt_key_shares_process_us(const struct nt_process *process)
{
	uint32_t most = 1;
	double us = 0;

	for (uint32_t i = 0; i < process->comms; i++) {
		uint32_t ranks = ranks_of(process, process->comm[i]->fixed.id);

		us += nt_key_shares_comm_us(process->comm[i]);
		most = ranks > most ? ranks : most;
	}
	return us / most;
}

bool nt_key_shares_lacks(const struct nt_process *process, const struct nt_local_key *key,
			 double of_us)
{
	const struct nt_policy policy = nt_engine_policy(&process->policy);
	const struct nt_share share = { nt_key_shares_key_us(key), of_us };

	return policy.mode == NT_MODE_BANDIT && key->fixed.shared &&
	       nt_key_calls(key) >= (uint64_t)policy.min_calls &&
	       !nt_min_share_met(&policy, &share);
}
