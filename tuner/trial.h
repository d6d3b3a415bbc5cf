/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - what a key's decision was made from, kept for the record of the home's process
 *
 * With these times and the policy the engine comes to its decision again (nccl-tune replay).
 *
 * Threads:  the helper thread.
 * Memory:   a list on the heap, until nt_trials_clear(); 2 bytes a call explored. At most
 *           NT_TRIALS, the oldest go.
 * Errors:   without memory nothing is kept.
 * Units:    times as tuner/times.h packs them.
 */
#ifndef NT_TRIAL_H
#define NT_TRIAL_H

#include "tuner/refine.h"
#include "tuner/schedule.h"

#define NT_TRIALS 256
#define NT_TRIAL_ROUNDS 8
/* Of its text: some 60 bytes an arm, 30 a pair, and 8 for each 3 times. */
#define NT_TRIAL_TEXT(positions) \
	(60 * NT_SCHEDULE_ARMS + 30 * NT_PAIRS + 8 * NT_TRIAL_ROUNDS + 6 * (positions) + 64)

struct nt_trial {
	struct nt_trial *next;
	uint64_t comm, key; /* ids */
	unsigned arms; /* screened beside AUTO, in their order */
	uint16_t arm[NT_SCHEDULE_ARMS];
	float cost_us[NT_SCHEDULE_ARMS]; /* NCCL's; < 0: none */
	/* what a round with caps and chunk sizes was of; 0 ranks: there was none */
	struct nt_channels channels;
	unsigned rounds;
	unsigned end[NT_TRIAL_ROUNDS]; /* of each round in sample[] */
	uint16_t *sample; /* of all rounds, by block and place in the schedule's arm[] */
};

struct nt_trials {
	struct nt_trial *first;
	unsigned count;
};

/* The first plan of a key, and NCCL's costs by arm. The caller's until nt_trials_keep_take().
 * NULL without memory. */
struct nt_trial *nt_trial_create(uint64_t comm, uint64_t key, const struct nt_schedule *screen,
				 const float *cost_us);
void nt_trial_destroy(struct nt_trial *trial); /* NULL is fine */

/* The times of a round that has ended. What does not fit any more makes the trial useless: its
 * rounds become 0. */
void nt_trial_round(struct nt_trial *trial, const struct nt_schedule *schedule,
		    const uint16_t *sample);

/* In place of an older one of the same key. Takes the trial. */
void nt_trials_keep_take(struct nt_trials *trials, struct nt_trial *trial);
const struct nt_trial *nt_trials_find(const struct nt_trials *trials, uint64_t comm, uint64_t key);
void nt_trials_clear(struct nt_trials *trials);

/* {"arms":["TREE/SIMPLE"],"cost":[44.1],"channels":{"ranks":8,"most":16,"chunks":false,"own":{"RING/LL":8}},
 * "rounds":["<base64>"]}; 0 where it does not fit or there is nothing to repeat. A round is the
 * data of nt_times_gather(), in base64 without padding. */
size_t nt_trial_text(const struct nt_trial *trial, char *out, size_t out_bytes);

/* Bytes of base64 without padding, at most cap; -1: none, or longer. */
int nt_trial_decode(const char *text, uint8_t *out, size_t cap);

#endif
