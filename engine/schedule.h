/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h - what a plan tells every rank: the arm of each position, or a committed arm and why
 *
 * A schedule is the payload of a plan (contract/shm-layout.h) and the result of a closed key. An
 * exploration has blocks; each block has each arm once, in an order that depends only on (salt,
 * epoch, block), so drift affects all arms alike and ranks agree without communication. The salt
 * depends on the key and the communicator's shape: keys are often explored at the same time, and
 * with equal orders an arm of one would always run next to the same arm of the other. The first
 * block warms up: NCCL connects an algorithm at its first use. If calls are doubled, each arm has
 * two calls in a row, and only the second is measured: the first follows another arm's call and may
 * take longer.
 *
 * Threads:  pure functions, any thread; nothing is allocated; nt_schedule_arm() runs at every call.
 * Memory:   values. The layout is sent between nodes of one build and architecture; others have
 *           different capabilities.
 * Errors:   read: -1 if the bytes are no schedule. All else is total: the baseline by default.
 * Units:    in the names; arms are numbers of contract/coll.h, including NT_ARM_BASELINE.
 */
#ifndef NT_SCHEDULE_H
#define NT_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>
#include "contract/coll.h"
#include "contract/key-id.h"

#define NT_SCHEDULE_ARMS 12 /* arms of one exploration, including the baseline */
#define NT_SCHEDULE_WARM_UP 1 /* blocks at the start that are no evidence */

enum nt_schedule_kind {
	NT_SCHEDULE_SCREEN = 1, /* every promising arm, in a few blocks */
	NT_SCHEDULE_CONFIRM, /* the baseline and the candidates, in more blocks */
	NT_SCHEDULE_COMMITTED, /* arm[0] is committed */
	NT_SCHEDULE_KEPT, /* the baseline stays: result of a closed key */
	NT_SCHEDULE_RECHECK, /* the baseline and the committed arm, in few blocks */
	NT_SCHEDULE_KINDS,
};

/* Why a decision was made. */
enum nt_verdict {
	NT_VERDICT_NONE = 0, /* none yet */
	NT_VERDICT_FASTER, /* the arm is faster and is used */
	NT_VERDICT_ALONE, /* no other arm to try */
	NT_VERDICT_SCREENED, /* no arm looked better than the baseline in the first round */
	NT_VERDICT_SMALL, /* the best arm's gain is below min_gain */
	NT_VERDICT_CHANCE, /* its p value is not below alpha */
	NT_VERDICT_MEAN, /* its mean is above the baseline's */
	NT_VERDICT_PERIOD, /* faster, but the time from call to call is longer */
	NT_VERDICT_SLOWEST, /* faster by another measure, but the slowest rank's time is longer */
	NT_VERDICT_SAMPLES, /* not enough samples */
	NT_VERDICT_BUDGET, /* the budget for exploring is spent */
	NT_VERDICT_REMEMBERED, /* an earlier step found the arm faster; it is used */
	NT_VERDICTS,
};

/* Source of a decision. */
enum nt_from {
	NT_FROM_STEP = 0, /* explored in this step */
	NT_FROM_WARM, /* a remembered arm, found faster again in this step */
	NT_FROM_POLICY, /* a remembered arm, used without a test */
	NT_FROMS,
};

/* Which rank's time of a call counts (engine/evidence.h). */
enum nt_measure {
	NT_MEASURE_SLOWEST = 0,
	NT_MEASURE_MEAN, /* of all ranks */
	NT_MEASURE_FASTEST,
	NT_MEASURES,
	NT_MEASURE_ALL = NT_MEASURES, /* each, in a first round, which chooses one */
};

/* The result, for every rank's record. Zeros: not measured. */
struct nt_outcome {
	uint8_t verdict; /* enum nt_verdict */
	uint8_t from : 4; /* enum nt_from */
	uint8_t measure : 4; /* the deciding enum nt_measure */
	uint16_t baseline_arm; /* NCCL's choice at the coordinator */
	/* the arm of the times below, chosen or not; NT_ARM_BASELINE: none */
	uint16_t best_arm;
	uint16_t chosen_arm; /* NT_ARM_BASELINE: the baseline stays */
	uint16_t samples; /* pairs of baseline and best_arm times */
	uint16_t arms; /* explored, the baseline included */
	float p; /* corrected for the number of arms; 1 if not tested */
	float baseline_us, best_us; /* medians */
	float baseline_p25_us, best_p25_us;
	float baseline_p75_us, best_p75_us;
	float predicted_baseline_us, predicted_best_us; /* NCCL's predictions; < 0: none */
	float spent_ms; /* engine/cost-account.h; below 0: exploring saved time */
	uint32_t spent_calls; /* positions explored */
	/* From start to end, on the slowest rank; 0: not known. */
	float duration_baseline_us, duration_best_us;
	float period_baseline_us, period_best_us; /* medians, from call to call; 0: not known */
};

struct nt_schedule {
	uint8_t kind; /* enum nt_schedule_kind */
	uint8_t count; /* number of arms, 1..NT_SCHEDULE_ARMS */
	uint8_t blocks; /* including warm-up; 0 in COMMITTED and KEPT */
	uint8_t round : 5; /* earlier explorations of this key */
	uint8_t measure : 2; /* enum nt_measure: what is sent beside the slowest rank's times */
	uint8_t twice : 1; /* calls are doubled */
	uint32_t salt; /* nt_schedule_salt() */
	uint16_t arm[NT_SCHEDULE_ARMS];
	struct nt_outcome outcome; /* COMMITTED and KEPT */
};

_Static_assert(sizeof(struct nt_outcome) == 72, "nt_outcome travels between nodes");
_Static_assert(offsetof(struct nt_schedule, outcome) == 32, "nt_schedule travels between nodes");
_Static_assert(sizeof(struct nt_schedule) == 104, "nt_schedule travels between nodes");

/* Explore the baseline and these arms in `blocks` blocks, or as many as fit. Arms beyond
 * NT_SCHEDULE_ARMS - 1 are dropped. */
struct nt_schedule nt_schedule_explore(enum nt_schedule_kind kind, const uint16_t *others,
				       unsigned count, unsigned blocks);

/* Read and check a plan's payload or a closed key's result. -1 also for 0 bytes: the key was closed
 * without a try. */
int nt_schedule_read(struct nt_schedule *schedule, const uint8_t *bytes, size_t count);

/* Equal for equal keys of communicators of one shape: siblings that are explored together run the
 * same arms side by side. */
uint32_t nt_schedule_salt(uint32_t ranks, uint32_t nodes, uint64_t key);

/* Returns the bytes written. */
size_t nt_schedule_write(const struct nt_schedule *schedule, uint8_t *out, size_t cap);

/* Of an exploration, at most NT_RUN_POSITIONS; 1 for COMMITTED, 0 for KEPT. */
uint32_t nt_schedule_positions(const struct nt_schedule *schedule);

/* Measured positions. */
uint32_t nt_schedule_samples(const struct nt_schedule *schedule);

/* Index among the measured positions, by block in the order of calls; -1: not measured. */
int64_t nt_schedule_sample(const struct nt_schedule *schedule, uint32_t position);

/* The arm at a position (nt_turn_position()) of plan `epoch`; NT_ARM_BASELINE outside of it. */
int nt_schedule_arm(const struct nt_schedule *schedule, uint32_t epoch, int64_t position);

/* The same as an index into arm[]; -1 outside of the plan. */
int nt_schedule_index(const struct nt_schedule *schedule, uint32_t epoch, int64_t position);

/* Why NCCL's choice stays, or an arm is used unmeasured: an enum nt_reason_id. NT_REASON_NONE: the
 * arm was faster, or there is no such verdict. */
int nt_schedule_verdict_reason(unsigned verdict);

#endif
