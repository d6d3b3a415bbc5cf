/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - what a judge is: it says what is next when a round of a key has ended
 *
 * Judges are asked in turn until one says something; each has a header of its own:
 *
 *   nt_recheck         is the arm in force still ahead of AUTO?
 *   nt_warm_open       is an arm remembered?
 *   nt_warm_confirm    is it faster than AUTO once more?
 *   nt_screen_open     which arms are worth a try?
 *   nt_screen_samples  is enough known of the first round?
 *   nt_refine          can more be made of the best pairs, with other channels and chunk sizes?
 *   nt_screen          which arms could be faster than AUTO?
 *   nt_confirm         is one of them faster?
 *   nt_screen_widen    in a race: are a few samples enough to say which arms could win?
 *   nt_confirm_race    in a race: is one of them faster, by evidence that counts at any time?
 *
 * engine/rule.c says which judges a rule has after its first round; another's rule has its own.
 *
 * Threads:  pure functions: a judge changes nothing but *next.
 * Memory:   the caller's.
 * Errors:   none.
 */
#ifndef NT_JUDGE_H
#define NT_JUDGE_H

#include <stddef.h>
#include "engine/case.h"
#include "engine/compare.h"

enum nt_next_what {
	NT_NEXT_PASS = 0, /* this judge has nothing to say */
	NT_NEXT_EXPLORE, /* the schedule */
	NT_NEXT_COMMIT, /* the arm is faster: it is used from now on */
	NT_NEXT_KEEP, /* AUTO, which was never left */
	NT_NEXT_ROLL_BACK, /* to AUTO from the arm in force */
	NT_NEXT_STAY, /* with the arm in force */
};

struct nt_next {
	enum nt_next_what what;
	/* EXPLORE: what. Else, the round for which there was no budget; count 0: none. */
	struct nt_schedule schedule;
	/* EXPLORE: so many of its arms were made of pairs that were screened; they are compared
	 *          with
	 * times of this round only. */
	unsigned refined;
	/* COMMIT, KEEP and ROLL_BACK: how the best arm compares with AUTO, by which evidence. */
	unsigned arm;
	struct nt_comparison comparison;
	const struct nt_evidence *evidence; /* the case's */
};

/* next->what is PASS before. */
typedef void nt_judge(const struct nt_case *seen, struct nt_next *next);

/* EXPLORE the schedule, if the budget allows it. */
bool nt_next_explore(const struct nt_case *seen, const struct nt_schedule *schedule,
		     struct nt_next *next);
/* COMMIT where the comparison's verdict is FASTER, else KEEP. */
void nt_next_conclude(struct nt_next *next, const struct nt_evidence *evidence, unsigned arm,
		      const struct nt_comparison *comparison);

#endif
