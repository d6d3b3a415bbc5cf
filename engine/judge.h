/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - judges: what to do next after a round of a key
 *
 * They are asked in turn until one decides; each has its own header, but that of rechecks is in
 * engine/engine.c:
 *
 *   nt_warm_open       is there a remembered arm?
 *   nt_warm_confirm    is the remembered arm faster again?
 *   nt_screen_open     which arms should be tried?
 *   nt_screen_samples  has the first round enough samples?
 *   nt_screen_widen    do so few samples suffice to tell which arms could win?
 *   nt_refine          try channel caps of the best pairs?
 *   nt_screen          which arms could be faster than the baseline?
 *   nt_confirm         is one of them faster?
 *
 * engine/engine.c lists those of each round.
 *
 * Threads:  pure functions: a judge changes only *next.
 * Memory:   the caller's.
 * Errors:   none.
 */
#ifndef NT_JUDGE_H
#define NT_JUDGE_H

#include <stddef.h>
#include "engine/evaluation.h"
#include "engine/compare-arms.h"

enum nt_next_what {
	NT_NEXT_PASS = 0, /* ask the next judge */
	NT_NEXT_EXPLORE,
	NT_NEXT_COMMIT, /* the arm is faster */
	NT_NEXT_KEEP, /* the baseline stays */
	NT_NEXT_ROLL_BACK, /* from the committed arm to the baseline */
	NT_NEXT_STAY, /* the committed arm stays */
};

struct nt_next {
	enum nt_next_what what;
	/* EXPLORE: the round. Otherwise the one that was too expensive; count 0: none. */
	struct nt_schedule schedule;
	/* EXPLORE: arms derived from screened pairs, which only this round compares. */
	unsigned refined;
	/* COMMIT, KEEP, ROLL_BACK: the best arm, its comparison with the baseline, and the
	 * evidence. */
	unsigned arm;
	struct nt_comparison comparison;
	const struct nt_evidence *evidence; /* points into the evaluation */
};

/* next->what is PASS on entry. */
typedef void nt_judge(const struct nt_evaluation *seen, struct nt_next *next);

/* EXPLORE if the budget allows it. */
bool nt_next_explore(const struct nt_evaluation *seen, const struct nt_schedule *schedule,
		     struct nt_next *next);
/* COMMIT if the verdict is FASTER, else KEEP. */
void nt_next_conclude(struct nt_next *next, const struct nt_evidence *evidence, unsigned arm,
		      const struct nt_comparison *comparison);

#endif
