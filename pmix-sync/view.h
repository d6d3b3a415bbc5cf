/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - what the speaker sees of its ranks on the board; only looks, changes nothing
 *
 * "All our ranks" are those that are seated: joined and not left.
 *
 * Threads:  the speaker's. Turns, states and flags are read sequentially consistent: what is
 *           looked at after a hold was set decides whether it holds (docs/agreement.md).
 * Units:    turns on the board are published plus one; 0 is a turn that is not known.
 */
#ifndef NT_SYNC_VIEW_H
#define NT_SYNC_VIEW_H

#include "pmix-sync/state.h"

struct nt_board_comm *nt_view_comm(struct nt_agree *a, const struct nt_agree_comm *comm);
/* The key must have a slot. */
struct nt_board_key *nt_view_key(struct nt_agree *a, const struct nt_agree_comm *comm,
				 const struct nt_agree_key *key);

/* The key was not called for so long that it has nothing to tell; or for half as long. */
bool nt_view_silent(const struct nt_agree *a, const struct nt_agree_key *key);
bool nt_view_pauses(const struct nt_agree *a, const struct nt_agree_key *key);

/* A rank of ours has come to a turn of which the outcome is not known here. */
bool nt_view_waits(struct nt_agree *a, const struct nt_agree_comm *comm,
		   const struct nt_agree_key *key);

uint32_t nt_view_seats(const struct nt_board_comm *board);
bool nt_view_seated(const struct nt_board_comm *board, uint32_t member);
/* The highest turn of all our ranks, plus one; 0: none known. */
uint64_t nt_view_top_turn(struct nt_board_key *key, const struct nt_board_comm *board);
/* All our ranks know their turn of this key. */
bool nt_view_turns_known(struct nt_board_key *key, const struct nt_board_comm *board);
/* All our ranks have reached this plan, the newest here, and, where it ends, its end. */
bool nt_view_passed(struct nt_board_key *key, const struct nt_board_comm *board,
		    const struct nt_plan *plan);
/* None of our ranks has decided this key at turn `at` or later. Read after the hold was set. */
bool nt_view_none_reached(struct nt_board_key *key, const struct nt_board_comm *board, uint64_t at);
/* All times of the plan's run have come, or were given up. */
bool nt_view_measured(struct nt_agree *a, const struct nt_plan *plan,
		      const struct nt_board_comm *board);
/* What ranks have raised (NT_MEMBER_*), in words. NULL: nothing against plans. */
const char *nt_view_barred(uint32_t flags);
/* Why no new plan may be taken: a rank has left or raised a flag. NULL: none. */
const char *nt_view_objection(const struct nt_board_comm *board);

#endif
