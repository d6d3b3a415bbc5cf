/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - what a key's decisions were made from, kept for the record of the home's process
 *
 * Of each arm that was explored, what NCCL predicted and what was measured; and of the first
 * exploration all times, with which and with the policy the engine comes to its decision again
 * (nccl-tune replay).
 *
 * Threads:  the helper thread.
 * Memory:   a list on the heap, until nt_histories_clear(); some 1 KiB a key, and 2 bytes a call
 *           explored. At most NT_HISTORIES, the oldest go.
 * Errors:   without memory nothing is kept.
 * Units:    microseconds; times as engine/times.h packs them.
 */
#ifndef NT_HISTORY_H
#define NT_HISTORY_H

#include "engine/figures.h"
#include "engine/known.h"
#include "engine/schedule.h"

#define NT_HISTORIES 256
#define NT_HISTORY_ARMS 32 /* AUTO, all pairs, and those refined */
#define NT_HISTORY_ROUNDS 16

/* An arm that was explored. */
struct nt_tried {
	uint16_t arm, samples;
	float predicted_us; /* NCCL's; < 0: none, as of all arms with caps or chunk sizes */
	float us, p25_us, p75_us; /* median, quartiles of the newest round and those like it */
};

struct nt_history {
	struct nt_history *next;
	uint64_t comm, key; /* ids */
	uint32_t ranks, nodes;
	uint16_t auto_arm, chosen_arm;
	float cost_us[NT_PAIRS]; /* NCCL's */
	unsigned arms;
	struct nt_tried arm[NT_HISTORY_ARMS]; /* in the order of their trial, AUTO first */
	/* What it takes to repeat the first exploration. */
	bool repeatable; /* it is of one; else, of a recheck */
	bool remembers; /* the first round was of a remembered arm */
	uint16_t remembered;
	unsigned screened; /* arms of the first round beside AUTO, in their order */
	uint16_t screen[NT_SCHEDULE_ARMS];
	/* what a round with caps and chunk sizes was of; 0 ranks: there was none */
	struct nt_channels channels;
	unsigned rounds;
	unsigned end[NT_HISTORY_ROUNDS]; /* of each round in sample[] */
	uint8_t blocks[NT_HISTORY_ROUNDS]; /* that it had */
	uint16_t *sample; /* of all rounds, by block and place in the schedule's arm[] */
};

struct nt_histories {
	struct nt_history *first; /* the newest */
	unsigned count;
};

/* What is known by now of a key whose first exploration goes on, kept in case it never ends; it
 * gives way to the history itself. */
void nt_histories_keep_so_far(struct nt_histories *histories, const struct nt_history *history);

/* The caller's until nt_histories_keep_take(). NULL without memory. */
struct nt_history *nt_history_create(const struct nt_known *known, bool repeatable);
void nt_history_destroy(struct nt_history *history); /* NULL is fine */

/* The schedule of the first round. */
void nt_history_screen(struct nt_history *history, const struct nt_schedule *schedule);

/* The first round is of this arm, which is remembered. */
void nt_history_remember(struct nt_history *history, unsigned arm);

/* The times of a round that has ended. What does not fit any more makes the history one that cannot
 * be repeated: its rounds become 0. */
void nt_history_round(struct nt_history *history, const struct nt_schedule *schedule,
		      const uint16_t *sample);

/* What is known of an arm by now. */
void nt_history_figures(struct nt_history *history, unsigned arm, const struct nt_figures *figures);

/* In place of an older one of the same key; a recheck leaves the times of the first exploration as
 * they were. Takes the history. */
void nt_histories_keep_take(struct nt_histories *histories, struct nt_history *history);

/* NULL: there is none; histories may be. */
const struct nt_history *nt_histories_find(const struct nt_histories *histories, uint64_t comm,
					   uint64_t key);
/* The newest at or behind this one of which something was measured; NULL: none. */
const struct nt_history *nt_history_measured(const struct nt_history *history);

void nt_histories_clear(struct nt_histories *histories);

#endif
