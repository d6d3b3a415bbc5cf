/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* retire.c - communicators that all local ranks have left: their place on the board is free
 * again, their id is not
 *
 * Logs are never forgotten, so that an id that comes again could be taken for the communicator
 * that had it before. A node therefore remembers every id that it has spoken of, and takes no
 * plan for it a second time.
 */
#include <stdlib.h>
#include <string.h>
#include "pmix-sync/state.h"

#define NT_PAST_MAX 65536u /* ids; a power of two. Half of the places stay free */

static uint32_t place_of(const struct agree_past *past, uint64_t id)
{
	uint32_t at = (uint32_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (past->cap - 1);

	while (past->id[at] != 0 && past->id[at] != id)
		at = (at + 1) & (past->cap - 1);
	return at;
}

static bool grow(struct agree_past *past)
{
	struct agree_past more = { .cap = past->cap ? 2 * past->cap : 64 };

	if (more.cap > 2 * NT_PAST_MAX)
		return false;
	more.id = calloc(more.cap, sizeof(*more.id));
	if (!more.id)
		return false;
	for (uint32_t i = 0; i < past->cap; i++) {
		if (past->id[i] != 0)
			more.id[place_of(&more, past->id[i])] = past->id[i];
	}
	more.count = past->count;
	free(past->id);
	*past = more;
	return true;
}

bool past_knows(const struct agree_past *past, uint64_t id)
{
	return past->cap > 0 && past->id[place_of(past, id)] == id;
}

bool past_add(struct agree_past *past, uint64_t id)
{
	if (2 * past->count >= past->cap && !grow(past))
		return false;
	past->count += past->id[place_of(past, id)] == 0;
	past->id[place_of(past, id)] = id;
	return true;
}

/* Somebody may still wait for an outcome from us. What is owed to us no rank of ours needs any
 * more. */
static bool busy(const struct agree_comm *comm)
{
	for (uint32_t k = 0; k < comm->key_count; k++) {
		if (comm->keys[k].home == HOME_PROPOSED)
			return true;
	}
	return false;
}

static bool everyone_left(const struct nt_board_comm *board)
{
	bool any = false;

	for (uint32_t m = 0; m < NT_BOARD_MEMBERS; m++) {
		uint32_t state = atomic_load(&board->member[m].state);

		if (state != NT_MEMBER_FREE && state != NT_MEMBER_LEFT)
			return false;
		any |= state == NT_MEMBER_LEFT;
	}
	return any;
}

static void free_runs(struct nt_agree *a, uint32_t slot)
{
	for (uint32_t r = 0; r < NT_BOARD_RUNS; r++) {
		uint32_t owner = atomic_load(&a->config.board->run[r].owner);

		if (owner != 0 && (owner - 1) / NT_BOARD_KEYS == slot)
			nt_board_run_free(a->config.board, r);
	}
}

bool retire_comm(struct nt_agree *a, struct agree_comm *comm)
{
	struct nt_board_comm *board = agree_board(a, comm);

	if (!everyone_left(board)) {
		comm->left_ms = 0;
		return false;
	}
	if (comm->left_ms == 0)
		comm->left_ms = a->now_ms;
	/* Time for the last words: a refusal and an outcome still have to be said. */
	if (busy(comm) || a->now_ms - comm->left_ms < NT_LEFT_MS)
		return false;
	free_runs(a, comm->slot);
	return nt_board_retire(a->config.board, comm->slot);
}
