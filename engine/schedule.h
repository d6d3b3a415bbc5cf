/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h - what a plan tells every rank: which arm at which position, or an arm for good and
 *              why
 *
 * A schedule is the payload of a plan (contract/board.h) and the result of a closed key. An
 * exploration is a number of blocks; each arm is used once in a block, in an order that (salt,
 * epoch, block) alone decides, so that drift hits all arms alike and all ranks agree without
 * talking. The salt is the key's and the shape's: keys are often explored at the same time, call by
 * call, and if their orders were alike, an arm of one would be measured with the same arm of the
 * other beside it each time. The first block warms up: NCCL connects an algorithm at its first use.
 * In a schedule that goes by twos each arm has two calls in a row, of which the second is measured:
 * the first one follows another arm's call, and may take longer for that.
 *
 * Threads:  pure functions, any thread; nothing is allocated, nt_schedule_arm() is for every call
 *           of a rank.
 * Memory:   value types. The layout is the format that travels between nodes (of one build and
 *           architecture: cards differ otherwise).
 * Errors:   read: -1 where the bytes are no schedule. Everything else is total: AUTO where nothing
 *           else is said.
 * Units:    in the names; arms are contract/coll.h's numbers, NT_ARM_AUTO among them.
 */
#ifndef NT_SCHEDULE_H
#define NT_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>
#include "contract/coll.h"
#include "contract/key.h"

#define NT_SCHEDULE_ARMS 12 /* of one exploration, AUTO included */
#define NT_SCHEDULE_WARM_UP 1 /* blocks at the start that are not evidence */

enum nt_schedule_kind {
	NT_SCHEDULE_SCREEN = 1, /* explore: every promising arm, a few blocks */
	NT_SCHEDULE_CONFIRM, /* explore: AUTO and the arms that looked better, more blocks */
	NT_SCHEDULE_COMMITTED, /* arm[0] for good; the outcome says why */
	NT_SCHEDULE_KEPT, /* AUTO for good: the result of a closed key; the outcome says why */
	NT_SCHEDULE_RECHECK, /* a window over a committed arm: AUTO and that arm, few blocks */
	NT_SCHEDULE_KINDS,
};

/* Why the decision is as it is. */
enum nt_verdict {
	NT_VERDICT_NONE = 0, /* none yet */
	NT_VERDICT_FASTER, /* the arm is faster: it is used */
	NT_VERDICT_ALONE, /* no other arm was worth a try */
	NT_VERDICT_SCREENED, /* no arm looked better than AUTO in the first round */
	NT_VERDICT_SMALL, /* the best arm's gain is below min_gain */
	NT_VERDICT_CHANCE, /* its p value is not below alpha */
	NT_VERDICT_MEAN, /* its mean is above AUTO's */
	NT_VERDICT_PERIOD, /* faster, but from call to call the program was slower */
	NT_VERDICT_SAMPLES, /* not enough samples */
	NT_VERDICT_BUDGET, /* no more may be spent on exploring */
	NT_VERDICT_REMEMBERED, /* an earlier step found the arm faster: it is used */
	NT_VERDICTS,
};

/* Where a decision comes from. */
enum nt_from {
	NT_FROM_STEP = 0, /* explored in this step */
	NT_FROM_WARM, /* a remembered arm, found faster in this step once more */
	NT_FROM_POLICY, /* a remembered arm, taken as it is */
	NT_FROMS,
};

/* What every rank writes into its record. Zeros where nothing was measured. */
struct nt_outcome {
	uint8_t verdict; /* enum nt_verdict */
	uint8_t from; /* enum nt_from */
	uint16_t auto_arm; /* NCCL's own pick at the home */
	uint16_t best_arm; /* the arm that the figures are of, chosen or not; NT_ARM_AUTO: none */
	uint16_t chosen_arm; /* NT_ARM_AUTO: AUTO stays */
	uint16_t samples; /* pairs of AUTO and best_arm behind the figures */
	uint16_t arms; /* explored, AUTO included */
	float p; /* after correction for the arms tested; 1 where no test was made */
	float auto_us, best_us; /* medians */
	float auto_p25_us, best_p25_us;
	float auto_p75_us, best_p75_us;
	float predicted_auto_us, predicted_best_us; /* NCCL's own costs; < 0: none */
	float spent_ms; /* engine/ledger.h; below 0: exploring saved time */
	uint32_t spent_calls; /* positions explored */
	/* A call's own time, from the slowest rank's start to its end; 0: not known. */
	float own_auto_us, own_best_us;
	float period_auto_us,
		period_best_us; /* medians of the time from call to call; 0 likewise */
};

struct nt_schedule {
	uint8_t kind; /* enum nt_schedule_kind */
	uint8_t count; /* of arms, 1..NT_SCHEDULE_ARMS */
	uint8_t blocks; /* warm-up included; 0 in COMMITTED and KEPT */
	uint8_t round : 7; /* explorations of this key before this one */
	uint8_t twice : 1; /* it goes by twos */
	uint32_t salt; /* nt_schedule_salt() */
	uint16_t arm[NT_SCHEDULE_ARMS];
	struct nt_outcome outcome; /* COMMITTED and KEPT */
};

_Static_assert(sizeof(struct nt_outcome) == 72, "nt_outcome travels between nodes");
_Static_assert(offsetof(struct nt_schedule, outcome) == 32, "nt_schedule travels between nodes");
_Static_assert(sizeof(struct nt_schedule) == 104, "nt_schedule travels between nodes");

/* An exploration of AUTO and these arms, in so many blocks (the first one warms up), or as many as
 * there is room for. others: at most NT_SCHEDULE_ARMS - 1; what is more is left out. */
struct nt_schedule nt_schedule_explore(enum nt_schedule_kind kind, const uint16_t *others,
				       unsigned count, unsigned blocks);

/* A plan's payload, or a closed key's result, as a schedule; checked. A key that was closed
 * without a result (nothing was tried) has 0 bytes, which is -1 too. */
int nt_schedule_read(struct nt_schedule *schedule, const uint8_t *bytes, size_t count);

/* Of a key of communicators with so many ranks and nodes: those of one shape that are explored
 * together run the same arms beside each other. */
uint32_t nt_schedule_salt(uint32_t ranks, uint32_t nodes, uint64_t key);

/* The payload of a schedule. Returns its bytes. */
size_t nt_schedule_write(const struct nt_schedule *schedule, uint8_t *out, size_t cap);

/* How many positions an exploration has, at most NT_RUN_POSITIONS; 1 for COMMITTED, 0 for KEPT. */
uint32_t nt_schedule_positions(const struct nt_schedule *schedule);

/* How many of them are measured. */
uint32_t nt_schedule_samples(const struct nt_schedule *schedule);

/* Which of these a position is, block by block in the order of their calls; -1: it is not
 * measured. */
int64_t nt_schedule_sample(const struct nt_schedule *schedule, uint32_t position);

/* The arm at a position (nt_turn_position()) of the plan `epoch`; NT_ARM_AUTO outside of it. */
int nt_schedule_arm(const struct nt_schedule *schedule, uint32_t epoch, int64_t position);

/* Its place in arm[] instead; -1 outside of the plan. */
int nt_schedule_index(const struct nt_schedule *schedule, uint32_t epoch, int64_t position);

/* A few words, a constant; "?" if unknown. */
const char *nt_schedule_verdict_name(unsigned verdict);

#endif
