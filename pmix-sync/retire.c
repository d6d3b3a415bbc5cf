/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* retire.c - see retire.h */
#include "pmix-sync/retire.h"

#include "pmix-sync/board.h"
#include "pmix-sync/view.h"

#define NT_LEFT_MS 100 /* a communicator's place is kept this long after its last rank has left */

/* Somebody may still wait for an outcome from us. What others owe us none of our ranks needs any
 * more. */
static bool outcome_owed(const struct nt_agree_comm *comm)
{
	for (uint32_t k = 0; k < comm->key_count; k++) {
		if (comm->keys[k].home == NT_HOME_PROPOSED)
			return true;
	}
	return false;
}

static void free_runs(struct nt_agree *a, uint32_t slot)
{
	for (uint32_t r = 0; r < NT_BOARD_RUNS; r++) {
		uint32_t owner = atomic_load(&a->config.board->run[r].owner);

		if (owner != 0 && (owner - 1) / NT_BOARD_KEYS == slot)
			nt_board_run_free(a->config.board, r);
	}
}

bool nt_retire_comm(struct nt_agree *a, struct nt_agree_comm *comm)
{
	struct nt_board_comm *board = nt_view_comm(a, comm);

	if (!nt_board_left(board)) {
		comm->left_ms = 0;
		return false;
	}
	if (comm->left_ms == 0)
		comm->left_ms = a->now_ms;
	/* Time for the last words: a refusal and an outcome still have to be said. */
	if (outcome_owed(comm) || a->now_ms - comm->left_ms < NT_LEFT_MS)
		return false;
	free_runs(a, comm->slot);
	return nt_board_retire(a->config.board, comm->slot);
}
