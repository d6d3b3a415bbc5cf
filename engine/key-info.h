/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* key-info.h - input of the engine for a key, as plain values
 *
 * Filled in anew for each request: in a job by tuner/explorer.c from shared memory, in a replay by
 * replay/ from a trace or record.
 *
 * Threads:  values and pure functions.
 * Units:    microseconds.
 */
#ifndef NT_KEY_INFO_H
#define NT_KEY_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include "contract/coll.h"
#include "engine/min-share.h"

/* Observed channels of a key's pairs. */
struct nt_channels {
	unsigned ranks; /* of the communicator; 0: nothing known */
	unsigned most; /* most channels that NCCL gave any pair of the communicator */
	bool chunks; /* NCCL asks for chunk sizes */
	uint8_t given[NT_PAIRS]; /* channels that NCCL gave the pair; 0: not known */
};

struct nt_key_info {
	/* Constant. */
	uint64_t comm, key; /* ids */
	uint32_t ranks, nodes; /* of the communicator */
	uint32_t baseline_arm; /* NCCL's choice; NT_ARM_BASELINE: not known */
	uint32_t forbidden; /* legal pairs that the policy forbids: bits by pair */
	float cost_us[NT_PAIRS]; /* NCCL's predictions; < 0: none */
	/* Variable. */
	uint64_t calls; /* so far, of the rank with the most */
	struct nt_share share; /* so far; zeros: unknown */
	bool remembered; /* remembered_arm, which may be the baseline, is valid */
	uint16_t remembered_arm;
	double left_us; /* of the job's time; 0: not known */
	double age_us; /* since the program's first communicator; 0: not known */
	double step_us; /* of the program; 0: not known */
	uint64_t steps; /* so far, where step_us is known; 0: not known */
	bool captured; /* a CUDA graph capture was, or may have been, seen */
	struct nt_channels channels; /* read only when a round has ended */
	unsigned blocks; /* replay: blocks of the next round; 0: by the rule */
};

/* NCCL's prediction for an arm's pair, and for the baseline pair; < 0: none. */
float nt_key_info_predicted_us(const struct nt_key_info *info, unsigned arm);
float nt_key_info_predicted_baseline_us(const struct nt_key_info *info);

/* Pairs that are legal and not forbidden, except the baseline pair, which runs the same kernel:
 * bits by pair. */
uint32_t nt_key_info_other_arms(const struct nt_key_info *info);

/* Is a call slowed down by a preceding call of another arm, as much as arms may differ, and are
 * calls frequent enough to leave each first one unmeasured? */
bool nt_key_info_carries_over(const struct nt_key_info *info);

/* How a remembered arm is used. */
enum nt_remembered {
	NT_REMEMBERED_NOTHING, /* none, or not usable here */
	NT_REMEMBERED_BASELINE, /* nothing better than NCCL's choice is known */
	NT_REMEMBERED_ARM,
};

enum nt_remembered nt_key_info_remembers(const struct nt_key_info *info);

#endif
