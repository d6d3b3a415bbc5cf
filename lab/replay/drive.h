/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* drive.h - one key through the real engine, with times that a function makes up; no agreement, no
 *           shared memory, no clock
 *
 * Threads:  one thread.
 * Memory:   a drive is a value; a key in the engine is on the heap.
 * Errors:   as described at each function.
 * Units:    microseconds.
 */
#ifndef NT_REPLAY_DRIVE_H
#define NT_REPLAY_DRIVE_H

#include <stdbool.h>
#include "engine/engine.h"

struct nt_drive {
	struct nt_engine engine;
	double miss; /* share of positions without a call */
	double apart_us; /* from call to call; 0: unknown */
	/* calls for which there is time from each round on, where apart_us is known; 0: no limit */
	double left_calls;
	uint64_t seed;
};

/* A key, and the time of its call number `call` with an arm. */
struct nt_drive_key {
	uint64_t size_bytes; /* of the collective */
	uint32_t mask;
	uint32_t auto_arm;
	float cost_us[NT_PAIRS];
	struct nt_channels channels; /* 0 ranks: unknown */
	bool remembers; /* an arm is remembered */
	uint16_t remembered;
	double (*time_us)(void *arg, unsigned arm, unsigned call);
	/* ... until the next one; NULL: no time */
	double (*rest_us)(void *arg, unsigned arm, unsigned call);
	void *arg;
	double own_share; /* duration of the call, a part of that time; 0: unknown */
	double left_us; /* remaining time of the job; 0: unknown */
};

struct nt_driven {
	struct nt_outcome outcome;
	unsigned calls; /* while exploring, with missing positions */
	unsigned samples; /* measured calls */
	unsigned of_auto; /* calls of AUTO: no arm has more */
	double us; /* sum of all times */
	unsigned rounds;
};

void nt_drive_init(struct nt_drive *drive, const struct nt_policy *policy);

/* Data of a job's rounds in order, as nt_times_write() wrote them; the engine's own schedules say
 * which calls they are. */
struct nt_drive_rounds {
	unsigned count;
	const uint8_t *bytes[NT_HISTORY_ROUNDS];
	size_t length[NT_HISTORY_ROUNDS];
	unsigned blocks[NT_HISTORY_ROUNDS]; /* 0: as many as usual */
};

/* Run from the first schedule to the last with these times. False if they do not fit: rounds are
 * missing or left over, or have more times than calls. */
bool nt_drive_repeat(struct nt_drive *drive, const struct nt_drive_key *key,
		     const struct nt_drive_rounds *rounds, struct nt_driven *out);

/* Run from the first schedule to the last. False if the engine is wrong: a schedule that cannot be
 * read, or no end. */
bool nt_drive_run(struct nt_drive *drive, const struct nt_drive_key *key, struct nt_driven *out);

/* The same for a recheck of an arm in force; outcome.chosen_arm is the arm in force afterwards. */
bool nt_drive_recheck(struct nt_drive *drive, const struct nt_drive_key *key, unsigned arm,
		      struct nt_driven *out);

#endif
