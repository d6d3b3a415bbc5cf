/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* drive.h - one key through the real engine, with times that a function makes up; no agreement, no
 *           board, no clock
 *
 * Threads:  one thread.
 * Memory:   a drive is a value; a key in the engine is on the heap.
 * Errors:   as the functions say.
 * Units:    microseconds.
 */
#ifndef NT_REPLAY_DRIVE_H
#define NT_REPLAY_DRIVE_H

#include <stdbool.h>
#include "engine/engine.h"

struct nt_drive {
	struct nt_engine engine;
	double miss; /* share of the positions that no call falls on */
	uint64_t seed;
};

/* What a key is, and how long its call number `call` takes with this arm. */
struct nt_drive_key {
	uint64_t size_bytes; /* of the collective */
	uint32_t mask;
	uint32_t auto_arm;
	float cost_us[NT_PAIRS];
	struct nt_channels channels; /* 0 ranks: nothing is known of them */
	bool remembers; /* an arm is remembered */
	uint16_t remembered;
	double (*time_us)(void *arg, unsigned arm, unsigned call);
	/* ... until the next one; NULL: no time */
	double (*rest_us)(void *arg, unsigned arm, unsigned call);
	void *arg;
	double own_share; /* of these times, that is the call's own; 0: not known */
	double left_us; /* of the job's time; 0: not known */
};

struct nt_driven {
	struct nt_outcome outcome;
	unsigned calls; /* while exploring, missing positions included */
	unsigned samples; /* of them measured */
	unsigned of_auto; /* calls of AUTO: no arm has more */
	double us; /* all calls that were made up took */
	unsigned rounds;
};

void nt_drive_init(struct nt_drive *drive, const struct nt_policy *policy);

/* Data of the rounds of a job, as nt_times_write() made them, in their order; the engine's own
 * schedules say what they are of. */
struct nt_drive_rounds {
	unsigned count;
	const uint8_t *bytes[NT_HISTORY_ROUNDS];
	size_t length[NT_HISTORY_ROUNDS];
	unsigned blocks[NT_HISTORY_ROUNDS]; /* 0: as the rule has it */
};

/* From the first schedule to the last with these times. False where they are not of such an
 * exploration: rounds are missing or left over, or have more times than calls. */
bool nt_drive_repeat(struct nt_drive *drive, const struct nt_drive_key *key,
		     const struct nt_drive_rounds *rounds, struct nt_driven *out);

/* The first schedule alone: what would be tried, in which order. False: nothing would be
 * explored. */
bool nt_drive_first(struct nt_drive *drive, const struct nt_drive_key *key,
		    struct nt_schedule *first);

/* From the first schedule to the last. False if the engine did what it must not: a schedule that
 * cannot be read, or no end. */
bool nt_drive_run(struct nt_drive *drive, const struct nt_drive_key *key, struct nt_driven *out);

/* The same of a recheck of an arm that is in force; outcome.chosen_arm is what is afterwards. */
bool nt_drive_recheck(struct nt_drive *drive, const struct nt_drive_key *key, unsigned arm,
		      struct nt_driven *out);

#endif
