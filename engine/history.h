/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - the measurements behind a key's decisions, for the record of the coordinator's
 * process
 *
 * Of each explored arm: NCCL's prediction and what was measured. Of the first exploration: all
 * times, with which nt-replay repeats the engine's decision.
 *
 * Threads:  the helper thread.
 * Memory:   a list on the heap until nt_histories_clear(): about 1 KiB a key, and 2 bytes an
 *           explored call. At most NT_HISTORIES; the oldest are dropped.
 * Errors:   without memory nothing is kept.
 * Units:    microseconds; times as packed by engine/times.h.
 */
#ifndef NT_HISTORY_H
#define NT_HISTORY_H

#include "engine/quantiles.h"
#include "engine/key-info.h"
#include "engine/schedule.h"

#define NT_HISTORIES 256
#define NT_HISTORY_ARMS 32 /* the baseline, all pairs, and refined arms */
#define NT_HISTORY_ROUNDS 16

/* An explored arm. */
struct nt_tried {
	uint16_t arm, samples;
	float predicted_us; /* NCCL's; < 0: none, as with channel caps */
	/* of the newest round, and of those like it */
	float us, p25_us, p75_us, min_us, max_us;
};

struct nt_history {
	struct nt_history *next;
	uint64_t comm, key; /* ids */
	uint32_t ranks, nodes;
	uint16_t baseline_arm, chosen_arm;
	float cost_us[NT_PAIRS]; /* NCCL's */
	/* Cost of exploring until its last round (engine/cost-account.h). */
	uint32_t spent_calls;
	float spent_ms;
	unsigned arms;
	/* in the order tried, baseline first */
	struct nt_tried arm[NT_HISTORY_ARMS];
	/* To repeat the first exploration. */
	bool repeatable; /* of a first exploration; false: of a recheck */
	bool remembers; /* the first round was of a remembered arm */
	uint16_t remembered;
	unsigned screened; /* arms of the first round, without the baseline */
	uint16_t screen[NT_SCHEDULE_ARMS];
	/* of a round with channel caps; 0 ranks: there was none */
	struct nt_channels channels;
	unsigned rounds;
	unsigned end[NT_HISTORY_ROUNDS]; /* end of each round in sample[] */
	/* of each round */
	struct {
		uint8_t count, blocks;
		uint16_t arm[NT_SCHEDULE_ARMS];
	} plan[NT_HISTORY_ROUNDS];
	uint16_t *sample; /* of all rounds, by block and arm */
};

struct nt_histories {
	struct nt_history *first; /* newest first */
	unsigned count;
};

/* Keep a copy of a first exploration that may never end; the final history replaces it. */
void nt_histories_keep_so_far(struct nt_histories *histories, const struct nt_history *history);

/* The caller's until nt_histories_keep_take(). NULL without memory. */
struct nt_history *nt_history_create(const struct nt_key_info *info, bool repeatable);
void nt_history_destroy(struct nt_history *history); /* NULL is fine */

/* The first round. */
void nt_history_screen(struct nt_history *history, const struct nt_schedule *schedule);

/* The first round is of this remembered arm. */
void nt_history_remember(struct nt_history *history, unsigned arm);

/* A completed round. If it does not fit, the exploration cannot be repeated, and rounds becomes
 * 0. */
void nt_history_round(struct nt_history *history, const struct nt_schedule *schedule,
		      const uint16_t *sample);

/* Replace an arm's quantiles. */
void nt_history_quantiles(struct nt_history *history, unsigned arm,
			  const struct nt_sample_quantiles *quantiles);

/* Takes ownership. Replaces an older one of the same key; after a recheck the first exploration's
 * times stay. */
void nt_histories_keep_take(struct nt_histories *histories, struct nt_history *history);

/* NULL: none. histories may be NULL. */
const struct nt_history *nt_histories_find(const struct nt_histories *histories, uint64_t comm,
					   uint64_t key);
/* The first in the list, from here on, with a measurement; NULL: none. */
const struct nt_history *nt_history_measured(const struct nt_history *history);

void nt_histories_clear(struct nt_histories *histories);

#endif
