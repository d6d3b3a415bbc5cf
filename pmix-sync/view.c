/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - see view.h */
#include "pmix-sync/view.h"

#include "pmix-sync/board.h"

/* How long a key may be without calls: so many of its pauses, and at least so long. */
#define NT_ACTIVE_PAUSES 4
#define NT_ACTIVE_MS 10000

struct nt_board_comm *nt_view_comm(struct nt_agree *a, const struct nt_agree_comm *comm)
{
	return &a->config.board->comm[comm->slot];
}

struct nt_board_key *nt_view_key(struct nt_agree *a, const struct nt_agree_comm *comm,
				 const struct nt_agree_key *key)
{
	return &nt_view_comm(a, comm)->key[key->slot];
}

static uint64_t silent_ms(const struct nt_agree_key *key)
{
	return nt_rhythm_ms(&key->rhythm, NT_ACTIVE_PAUSES, NT_ACTIVE_MS);
}

bool nt_view_silent(const struct nt_agree *a, const struct nt_agree_key *key)
{
	return a->now_ms - key->rhythm.called_ms >= silent_ms(key);
}

bool nt_view_pauses(const struct nt_agree *a, const struct nt_agree_key *key)
{
	return a->now_ms - key->rhythm.called_ms >= silent_ms(key) / 2;
}

bool nt_view_waits(struct nt_agree *a, const struct nt_agree_comm *comm,
		   const struct nt_agree_key *key)
{
	return key->in_doubt &&
	       nt_view_top_turn(nt_view_key(a, comm, key), nt_view_comm(a, comm)) > key->pending.at;
}

uint32_t nt_view_seats(const struct nt_board_comm *board)
{
	uint32_t seats = 0;

	while (nt_board_taken(board, seats))
		seats++;
	return seats;
}

bool nt_view_seated(const struct nt_board_comm *board, uint32_t member)
{
	return atomic_load(&board->member[member].state) == NT_MEMBER_JOINED;
}

uint64_t nt_view_top_turn(struct nt_board_key *key, const struct nt_board_comm *board)
{
	uint64_t top = 0;

	for (uint32_t m = 0; nt_board_taken(board, m); m++) {
		uint64_t turn = nt_view_seated(board, m) ? atomic_load(&key->turn[m]) : 0;

		if (turn > top)
			top = turn;
	}
	return top;
}

bool nt_view_turns_known(struct nt_board_key *key, const struct nt_board_comm *board)
{
	for (uint32_t m = 0; nt_board_taken(board, m); m++) {
		if (nt_view_seated(board, m) && atomic_load(&key->turn[m]) == 0)
			return false;
	}
	return true;
}

bool nt_view_passed(struct nt_board_key *key, const struct nt_board_comm *board,
		    const struct nt_plan *plan)
{
	for (uint32_t m = 0; plan->epoch != 0 && nt_board_taken(board, m); m++) {
		if (!nt_view_seated(board, m))
			continue;
		if (atomic_load(&key->passed[m]) < plan->epoch)
			return false;
		/* Turns are published plus one. */
		if (plan->until != NT_NEVER && atomic_load(&key->turn[m]) <= plan->until)
			return false;
	}
	return true;
}

bool nt_view_none_reached(struct nt_board_key *key, const struct nt_board_comm *board, uint64_t at)
{
	for (uint32_t m = 0; nt_board_taken(board, m); m++) {
		uint64_t turn;

		if (!nt_view_seated(board, m))
			continue;
		turn = atomic_load_explicit(&key->turn[m], memory_order_seq_cst);
		if (turn == 0 || turn > at)
			return false;
	}
	return true;
}

bool nt_view_measured(struct nt_agree *a, const struct nt_plan *plan,
		      const struct nt_board_comm *board)
{
	struct nt_board_run *run = &a->config.board->run[plan->run];

	for (uint32_t m = 0; nt_board_taken(board, m); m++) {
		if (nt_view_seated(board, m) &&
		    atomic_load(&run->done[m]) < atomic_load(&run->issued[m]))
			return false;
	}
	return true;
}

const char *nt_view_barred(uint32_t flags)
{
	if (flags & NT_MEMBER_GRAPHS)
		return "CUDA graphs are captured on this communicator";
	if (flags & NT_MEMBER_ASYNC)
		return "collectives are issued asynchronously to their calls";
	if (flags & NT_MEMBER_ODD)
		return "two communicators have one id";
	if (flags & NT_MEMBER_PROBES)
		return "symmetric kernels may take this communicator's collectives";
	if (flags & NT_MEMBER_MASKED)
		return "NCCL's RAS service has set the profiler's events";
	return NULL;
}

const char *nt_view_objection(const struct nt_board_comm *board)
{
	for (uint32_t m = 0; nt_board_taken(board, m); m++) {
		const char *barred = nt_view_barred(atomic_load(&board->member[m].flags));

		if (atomic_load(&board->member[m].state) == NT_MEMBER_LEFT)
			return "a rank has left";
		if (barred)
			return barred;
	}
	return NULL;
}
