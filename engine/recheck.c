/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A short window measures the baseline and the arm. If the arm is no longer ahead, a second window
 * must confirm that; then all arms are explored anew, while the arm stays in force between windows.
 * The same judges decide: for an arm that is faster than the baseline, the same or
 * another. Without one, the arm is dropped if the baseline is significantly faster. Mode policy
 * explores nothing, and only memory supports the arm: it is dropped after the second window. */
#include "engine/recheck.h"

#include "engine/matched.h"

#define BLOCKS 16u /* of the first window; the second has twice as many */
#define WINDOWS 2
#define DOUBT_P 0.05 /* of being slow more often, or slower on average */
#define BEHIND_P 0.05 /* the same, or slower at best, in the end */

/* Is the arm no longer ahead, or slow more often? */
static bool doubtful(const float *baseline, const float *arm, unsigned count)
{
	struct nt_matched pairs, other;

	nt_matched_take(&pairs, baseline, arm, count);
	nt_matched_take(&other, arm, baseline, count);
	return nt_matched_gain_us(&pairs) <= 0 || nt_matched_slow_p(&pairs) < DOUBT_P ||
	       nt_matched_mean_p(&other) < DOUBT_P;
}

/* Is the newest window evidence against the arm? */
static bool speaks_against(const struct nt_evaluation *seen)
{
	const struct nt_evidence *e = &seen->recheck;
	const unsigned from = seen->rounds[NT_SCHEDULE_RECHECK] < WINDOWS ? 0 : BLOCKS;
	const unsigned count = e->blocks - from;
	const float *baseline = e->us[0] + from, *arm = e->us[1] + from;

	return nt_evaluation_enough(seen, nt_sample_quantiles_of(baseline, count).samples) &&
	       nt_evaluation_enough(seen, nt_sample_quantiles_of(arm, count).samples) &&
	       (doubtful(baseline, arm, count) ||
		nt_compare_behind(e->period_us[0] + from, e->period_us[1] + from, count, DOUBT_P));
}

/* Two windows were against the arm. */
static void give_up(const struct nt_evaluation *seen, struct nt_next *next)
{
	const struct nt_gates gates = { .alpha = BEHIND_P, .tests = 1, .last = true };
	const struct nt_evidence *e = &seen->recheck;
	struct nt_comparison now;

	nt_compare(&gates, e->us[0], e->us[1], e->blocks, &now);
	if (nt_compare_behind(e->period_us[0], e->period_us[1], e->blocks, DOUBT_P))
		now.verdict = NT_VERDICT_PERIOD;
	else if (now.verdict == NT_VERDICT_FASTER) /* at best; on the whole it is behind */
		now.verdict = NT_VERDICT_MEAN;
	nt_next_conclude(next, e, seen->current, &now);
	next->what = NT_NEXT_ROLL_BACK;
}

/* Windows do not count towards the budget. */
void nt_recheck(const struct nt_evaluation *seen, struct nt_next *next)
{
	const unsigned windows = seen->rounds[NT_SCHEDULE_RECHECK];

	if (!seen->rechecks)
		return;
	if (windows > 0 && !speaks_against(seen)) {
		next->what = NT_NEXT_STAY;
	} else if (windows < WINDOWS) {
		next->what = NT_NEXT_EXPLORE;
		next->schedule = nt_evaluation_explore(seen, NT_SCHEDULE_RECHECK, &seen->current, 1,
						       (BLOCKS << windows) + NT_SCHEDULE_WARM_UP);
	} else if (seen->policy->mode == NT_MODE_POLICY) {
		give_up(seen, next);
	}
}

/* Is the baseline faster than the committed arm, by the evidence of this exploration? */
static bool fell_behind(const struct nt_evaluation *seen, const struct nt_evidence *e,
			struct nt_comparison *now)
{
	const struct nt_gates gates = { .alpha = BEHIND_P, .tests = 1, .last = true };
	const float *current = nt_evidence_of(e, seen->current);

	if (!current)
		return false;
	nt_compare(&gates, e->us[0], current, e->blocks, now);
	return nt_evaluation_enough(seen, now->baseline.samples) &&
	       nt_compare_behind(e->us[0], current, e->blocks, BEHIND_P);
}

void nt_recheck_review(const struct nt_evaluation *seen, struct nt_next *next)
{
	const bool of_current = next->arm == seen->current;
	struct nt_comparison now;

	if (next->what == NT_NEXT_COMMIT) {
		if (of_current)
			next->what = NT_NEXT_STAY;
		return;
	}
	if (next->comparison.verdict == NT_VERDICT_PERIOD && of_current) {
		next->what = NT_NEXT_ROLL_BACK;
		return;
	}
	next->what = NT_NEXT_STAY;
	if (!fell_behind(seen, next->evidence, &now))
		return;
	if (now.verdict == NT_VERDICT_FASTER) /* at best; on the whole it is behind */
		now.verdict = NT_VERDICT_MEAN;
	nt_next_conclude(next, next->evidence, seen->current, &now);
	next->what = NT_NEXT_ROLL_BACK;
}
