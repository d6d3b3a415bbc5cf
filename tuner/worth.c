/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* worth.c - see worth.h */
#include "tuner/worth.h"

#include <math.h>
#include <stdlib.h>
#include "engine/engine.h"
#include "pmix-sync/board.h"

#define PIDS 1024u /* of a node that are told apart; times of more are not known */

/* What the ranks of one process spend. */
struct spender {
	uint32_t pid;
	uint32_t here, ranks; /* in the communicator that is looked at; in the one with most */
	double us;
};

struct spenders {
	uint32_t count;
	struct spender of[PIDS];
};

/* Of one call; 0: not known. */
static double call_us(const float *cost_us, unsigned pair)
{
	double us = pair < NT_PAIRS ? (double)cost_us[pair] : 0;

	return isfinite(us) && us > 0 ? us : 0;
}

static double board_call_us(const struct nt_board_key *key)
{
	return atomic_load(&key->described) ? call_us(key->cost_us, key->auto_arm) : 0;
}

static uint64_t calls_of(const struct nt_board_key *key, unsigned member)
{
	/* A number alone. */
	return atomic_load_explicit(&key->calls[member], memory_order_relaxed);
}

static bool seated(const struct nt_board_comm *comm, unsigned member)
{
	return atomic_load_explicit(&comm->member[member].state, memory_order_acquire) ==
	       NT_MEMBER_JOINED;
}

static struct spender *find(struct spenders *s, const struct nt_board_comm *comm, unsigned member)
{
	const uint32_t pid = atomic_load_explicit(&comm->member[member].pid, memory_order_relaxed);
	uint32_t i = 0;

	while (i < s->count && s->of[i].pid != pid)
		i++;
	if (i == PIDS)
		return NULL;
	if (i == s->count)
		s->of[s->count++] = (struct spender){ .pid = pid };
	return &s->of[i];
}

static double spent_us(const struct nt_board_comm *comm, unsigned member)
{
	double us = 0;

	for (unsigned k = 0; nt_board_claimed(comm, k); k++)
		us += (double)calls_of(&comm->key[k], member) * board_call_us(&comm->key[k]);
	return us;
}

static void add_comm(struct spenders *s, const struct nt_board_comm *comm)
{
	for (uint32_t i = 0; i < s->count; i++)
		s->of[i].here = 0;
	for (unsigned m = 0; m < NT_BOARD_MEMBERS; m++) {
		struct spender *spender = seated(comm, m) ? find(s, comm, m) : NULL;

		if (!spender)
			continue;
		spender->us += spent_us(comm, m);
		if (++spender->here > spender->ranks)
			spender->ranks = spender->here;
	}
}

static double of_comm(struct spenders *s, const struct nt_board_comm *comm)
{
	double us = 0;

	for (unsigned m = 0; m < NT_BOARD_MEMBERS; m++) {
		const struct spender *spender = seated(comm, m) ? find(s, comm, m) : NULL;

		if (spender && spender->ranks > 0)
			us += spender->us / spender->ranks;
	}
	return us;
}

void nt_worths_look(struct nt_worths *worths, const struct nt_board *board, uint64_t now_ms)
{
	struct spenders *s = calloc(1, sizeof(*s));

	if (!s)
		return; /* what was seen before stands */
	for (unsigned c = 0; c < NT_BOARD_COMMS; c++) {
		if (atomic_load(&board->comm[c].id) != 0)
			add_comm(s, &board->comm[c]);
	}
	for (unsigned c = 0; c < NT_BOARD_COMMS; c++)
		worths->of_us[c] = atomic_load(&board->comm[c].id) != 0
					   ? of_comm(s, &board->comm[c])
					   : 0;
	worths->looked_ms = now_ms;
	free(s);
}

struct nt_worth nt_worths_of(const struct nt_worths *worths, const struct nt_board *board,
			     unsigned comm, const struct nt_board_key *key)
{
	struct nt_worth worth = { .of_us = worths->of_us[comm] };
	uint64_t calls = 0;

	for (unsigned m = 0; m < NT_BOARD_MEMBERS; m++) {
		if (seated(&board->comm[comm], m))
			calls += calls_of(key, m);
	}
	worth.us = (double)calls * board_call_us(key);
	return worth;
}

double nt_worth_rank_us(const struct nt_board_key *key)
{
	uint64_t most = 0;

	for (unsigned m = 0; m < NT_BOARD_MEMBERS; m++)
		most = calls_of(key, m) > most ? calls_of(key, m) : most;
	return (double)most * board_call_us(key);
}

double nt_worth_key_us(const struct nt_own_key *key)
{
	return (double)nt_key_calls(key) * call_us(key->fixed.cost_us, key->fixed.auto_arm);
}

double nt_worth_comm_us(const struct nt_comm *comm)
{
	double us = 0;

	for (unsigned k = 0; k < nt_comm_keys(comm); k++)
		us += nt_worth_key_us(&comm->key[k]);
	return us;
}

static uint32_t ranks_of(const struct nt_process *process, uint64_t comm)
{
	uint32_t ranks = 0;

	for (uint32_t i = 0; i < process->comms; i++)
		ranks += process->comm[i]->fixed.id == comm && !process->comm[i]->kept.left;
	return ranks;
}

double nt_worth_process_us(const struct nt_process *process)
{
	uint32_t most = 1;
	double us = 0;

	for (uint32_t i = 0; i < process->comms; i++) {
		uint32_t ranks = ranks_of(process, process->comm[i]->fixed.id);

		us += nt_worth_comm_us(process->comm[i]);
		most = ranks > most ? ranks : most;
	}
	return us / most;
}

bool nt_worth_lacks(const struct nt_process *process, const struct nt_own_key *key, double of_us)
{
	const struct nt_policy policy = nt_engine_policy(&process->policy);
	const struct nt_worth worth = { nt_worth_key_us(key), of_us };

	return policy.mode == NT_MODE_BANDIT && key->fixed.shared &&
	       nt_key_calls(key) >= (uint64_t)policy.min_calls && !nt_worth_it(&policy, &worth);
}
