/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* key-info.h - the engine's input for a key, as plain values
 *
 * Filled in for each request: in a job by tuner/explorer.c from shared memory, in a replay by
 * lab/replay/ from a trace or record.
 *
 * Threads:  values and pure functions.
 * Units:    microseconds.
 */
#ifndef NT_KEY_INFO_H
#define NT_KEY_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include "contract/coll.h"
#include "contract/policy.h"

/* Channels that a key's pairs were seen to use. */
struct nt_channels {
	unsigned ranks; /* of the communicator; 0: nothing known */
	unsigned most; /* most that NCCL gave any pair of the communicator */
	uint8_t given[NT_PAIRS]; /* by NCCL; 0: not known */
};

struct nt_share {
	double us; /* calls of the key times the time of one, since the communicator was opened */
	double of_us; /* of all calls of these ranks; 0: not known */
};

struct nt_key_info {
	/* Constant. */
	uint64_t comm, key; /* ids */
	uint32_t ranks, nodes; /* of the communicator */
	uint32_t baseline_arm; /* NCCL's choice; NT_ARM_BASELINE: not known */
	uint32_t forbidden; /* legal pairs that the policy forbids: bits by pair */
	float cost_us[NT_PAIRS]; /* NCCL's predictions; < 0: none */
	/* Variable. */
	uint64_t calls; /* of the rank with the most */
	struct nt_share share; /* so far; zeros: unknown */
	bool remembered; /* remembered_arm is valid; it may be the baseline */
	uint16_t remembered_arm;
	double left_us; /* of the job's time; 0: not known */
	double age_us; /* since the program's first communicator; 0: not known */
	double step_us; /* of the program; 0: not known */
	uint64_t steps; /* so far; 0: unknown */
	bool captured; /* a CUDA graph was, or may have been, captured */
	struct nt_channels channels; /* only after a round */
	unsigned blocks; /* replay: blocks of the next round; 0: as many as usual */
};

/* Does a key take enough of the communication time to be explored? Yes if unknown. The answer may
 * change. A key that takes next to nothing gains nothing, and its exploration delays others. Calls
 * that are only counted are not measured, so NCCL's prediction is used. Small calls over sockets
 * take several times as long, so a key is left out only if ten times its prediction is below
 * min_share. */
bool nt_min_share_met(const struct nt_policy *policy, const struct nt_share *share);

/* NCCL's prediction for the arm's pair, and for the baseline's; < 0: none. */
float nt_key_info_predicted_us(const struct nt_key_info *info, unsigned arm);
float nt_key_info_predicted_baseline_us(const struct nt_key_info *info);

/* Legal pairs that are not forbidden, without the baseline's, which runs the same kernel: bits by
 * pair. */
uint32_t nt_key_info_other_arms(const struct nt_key_info *info);

/* Does a call take longer after another arm's, by as much as arms may differ, and are calls
 * frequent enough to leave every first one unmeasured? */
bool nt_key_info_carries_over(const struct nt_key_info *info);

enum nt_remembered {
	NT_REMEMBERED_NOTHING, /* none, or not usable here */
	NT_REMEMBERED_BASELINE, /* nothing better than NCCL's choice is known */
	NT_REMEMBERED_ARM,
};

enum nt_remembered nt_key_info_remembers(const struct nt_key_info *info);

#endif
