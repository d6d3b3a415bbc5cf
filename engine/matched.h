/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* matched.h - exact tests on pairs of times: the baseline's and an arm's of one block
 *
 * All p values are one-sided permutation tests that exchange the two times of a block, whose order
 * is random if the arms are alike: p is the share of all 2^count exchanges whose sum of rank
 * differences is at least the observed one. It is computed exactly, not sampled: equal samples give
 * the same p everywhere, and anything computed from the pooled times alone (ranks, modes) leaves it
 * valid.
 *
 * Modes are separated by gaps in the sorted pooled times: stalls of a network, or calls followed by
 * a pause of the program.
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
	float top_us[NT_MATCHED_MODES]; /* slowest time of each mode */
};

/* Take the complete pairs of count blocks; 0 is a missing time. */
void nt_matched_take(struct nt_matched *pairs, const float *baseline, const float *arm,
		     unsigned count);

/* Is the arm faster in its lower half? Ranks of the lower half of the pooled times. */
double nt_matched_lower_p(const struct nt_matched *pairs);

/* Is the arm faster within modes? Ranks of all times in their modes. */
double nt_matched_within_p(const struct nt_matched *pairs);

/* Is the arm more often outside of the fastest mode? */
double nt_matched_slow_p(const struct nt_matched *pairs);

/* Is the arm's mean lower? Differences of the times, rounded to 1/5000 of their sum. */
double nt_matched_mean_p(const struct nt_matched *pairs);

/* By how much the arm is faster: difference of the lower quartiles. If there are several modes, a
 * quartile may be in one for the baseline and in another for the arm by chance. Then it is that of
 * the medians of one mode, the one in which the baseline's times tell it best, unless the arm is in
 * a faster mode too often for chance. */
double nt_matched_gain_us(const struct nt_matched *pairs);

/* The means if both arms were in each mode equally often. */
void nt_matched_even_means(const struct nt_matched *pairs, double *baseline_us, double *arm_us);

/* The lower quartiles, likewise: where a quarter of the calls, or nearly so, are in the fastest
 * mode, those of the two arms are in different modes by chance. */
void nt_matched_even_p25(const struct nt_matched *pairs, double *baseline_us, double *arm_us);

#endif
