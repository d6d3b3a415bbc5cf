/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* matched.h - exact tests on pairs of times: the baseline's and an arm's of one block
 *
 * All p are of one-sided permutation tests that exchange the two times of a block, whose order is
 * random if the arms are alike: the share of all 2^count exchanges with a sum of rank differences
 * of at least the observed one. It is computed, not sampled: equal samples give the same p
 * everywhere. What depends on the pooled times alone (ranks, modes) leaves it valid.
 *
 * Modes are separated by gaps in the sorted pooled times: stalls of a network, or pauses of the
 * program after a call.
 *
 * Threads:  pure functions.
 * Memory:   the caller's, about 9 KiB; p needs heap memory; without it p is 1.
 * Errors:   none.
 * Units:    microseconds; p as fractions of 1.
 */
#ifndef NT_MATCHED_H
#define NT_MATCHED_H

#include "engine/quantiles.h"

#define NT_MATCHED_MODES 16
#define NT_MATCHED_GAP 1.4 /* least ratio between modes */

struct nt_matched {
	unsigned count;
	float baseline[NT_SAMPLES_MAX], arm[NT_SAMPLES_MAX];
	float pooled[2 * NT_SAMPLES_MAX]; /* sorted */
	unsigned modes;
	float top_us[NT_MATCHED_MODES]; /* slowest of each mode */
};

/* Take the complete pairs; 0 is a missing time. */
void nt_matched_take(struct nt_matched *pairs, const float *baseline, const float *arm,
		     unsigned count);

/* Is the arm faster in the lower half? Ranks in the lower half of the pooled times. */
double nt_matched_lower_p(const struct nt_matched *pairs);

/* Is the arm faster within modes? Ranks of times in their modes. */
double nt_matched_within_p(const struct nt_matched *pairs);

/* Is the arm more often outside of the fastest mode? */
double nt_matched_slow_p(const struct nt_matched *pairs);

/* Is the arm's mean lower? Differences, rounded to 1/5000 of their sum. */
double nt_matched_mean_p(const struct nt_matched *pairs);

/* How much faster the arm is: the difference of the lower quartiles. With several modes these may
 * lie in different ones by chance. Then it is the difference of the medians in the mode where the
 * baseline's is most certain, unless the arm is in a faster mode too often for chance. */
double nt_matched_gain_us(const struct nt_matched *pairs);

/* The means if both arms were in each mode equally often. */
void nt_matched_even_means(const struct nt_matched *pairs, double *baseline_us, double *arm_us);

#endif
