/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* known.h - what the engine is told of a key, as plain values
 *
 * Who asks the engine fills it in anew each time: of a job's key tuner/home.c does, from the node's
 * board, of a trace's or a record's replay/.
 *
 * Threads:  values and pure functions.
 * Units:    microseconds.
 */
#ifndef NT_KNOWN_H
#define NT_KNOWN_H

#include <stdbool.h>
#include <stdint.h>
#include "contract/coll.h"
#include "engine/worth.h"

/* What was seen of a key's channels, and what can be made of them. */
struct nt_channels {
	unsigned ranks; /* of the communicator; 0: nothing is known */
	unsigned most; /* that NCCL gave any pair of the communicator */
	bool chunks; /* NCCL asks for chunk sizes */
	uint8_t own[NT_PAIRS]; /* that NCCL gave the pair; 0: not known, no arm */
};

struct nt_known {
	/* These stay as they are. */
	uint64_t comm, key; /* ids */
	uint32_t ranks, nodes; /* of the communicator */
	uint32_t auto_arm; /* NCCL's own pick; NT_ARM_AUTO: not known */
	uint32_t forbidden; /* legal pairs that the policy does not let try: bits by pair */
	float cost_us[NT_PAIRS]; /* NCCL's predictions; < 0: none */
	/* These change while the key is explored. */
	uint64_t calls; /* so far, of the rank that has most */
	struct nt_worth worth; /* so far; zeros: not known */
	bool remembered; /* an earlier step's arm is known: remembered_arm, which may be AUTO */
	uint16_t remembered_arm;
	double left_us; /* of the job's time; 0: not known */
	double age_us; /* since the program's first communicator; 0: not known */
	double step_us; /* of the program; 0: not known */
	bool captured; /* a CUDA graph capture was, or may have been, seen */
	struct nt_channels channels; /* read when a round has ended, and only then */
	unsigned blocks; /* that a record has of the next round; 0: as the rule has it */
};

/* What NCCL predicts for an arm's pair, and for AUTO's own pick; < 0: none. */
float nt_known_predicted_us(const struct nt_known *known, unsigned arm);
float nt_known_predicted_auto_us(const struct nt_known *known);

/* Arms that are legal and not forbidden, but for AUTO's own pick, which runs the same kernel as
 * AUTO does: bits by pair. */
uint32_t nt_known_other_arms(const struct nt_known *known);

/* Does a call that follows another arm's take longer for that, by as much as arms may differ, and
 * are calls frequent enough to leave every first one unmeasured? */
bool nt_known_carries_over(const struct nt_known *known);

/* What the remembered arm is worth here. */
enum nt_remembered {
	NT_REMEMBERED_NOTHING, /* none, or one not to be used here: as if unknown */
	NT_REMEMBERED_AUTO, /* nothing better is known than what AUTO picks */
	NT_REMEMBERED_ARM,
};

enum nt_remembered nt_known_remembers(const struct nt_known *known);

#endif
