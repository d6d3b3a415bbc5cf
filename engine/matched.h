/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* matched.h - exact tests on pairs of times: AUTO's and an arm's of one block each
 *
 * All p values are one-sided and come from exchanging the two times of a block, which chance has
 * ordered if the arms are alike: p is the share of all 2^count exchanges whose sum of rank
 * differences is at least the one seen. It is counted out, not sampled, so equal samples give the
 * same p everywhere, and whatever is computed from the pooled times alone (ranks, modes) leaves it
 * valid.
 *
 * Modes are what a gap in the sorted pooled times separates: stalls of a network, or calls that are
 * followed by a pause of the program.
 *
 * Threads:  pure functions.
 * Memory:   the caller's, some 9 KiB; heap memory while a p is counted; without it p is 1.
 * Errors:   none.
 * Units:    microseconds; p as fractions of 1.
 */
#ifndef NT_MATCHED_H
#define NT_MATCHED_H

#include "engine/figures.h"

#define NT_MATCHED_MODES 16

struct nt_matched {
	unsigned count;
	float base[NT_SAMPLES_MAX], arm[NT_SAMPLES_MAX];
	float pooled[2 * NT_SAMPLES_MAX]; /* sorted */
	unsigned modes;
	float top_us[NT_MATCHED_MODES]; /* of each mode, the slowest time */
};

/* The complete pairs of count blocks; 0 stands for a missing time. */
void nt_matched_take(struct nt_matched *pairs, const float *base, const float *arm, unsigned count);

/* One more pair; both times are above 0, and there is room. count is 0 before the first. */
void nt_matched_add(struct nt_matched *pairs, float base, float arm);

/* Is the arm faster in its lower half? By the ranks of the lower half of the pooled times. */
double nt_matched_lower_p(const struct nt_matched *pairs);

/* Is the arm faster within modes? By the ranks of all times relative to the median of their
 * mode. */
double nt_matched_within_p(const struct nt_matched *pairs);

/* Is the arm outside of the fastest mode more often? */
double nt_matched_slow_p(const struct nt_matched *pairs);

/* Is the arm's mean lower? By the differences of the times, rounded to 1/5000 of their sum. */
double nt_matched_mean_p(const struct nt_matched *pairs);

/* The median of all times of the mode that this one, which is among them, is in. */
double nt_matched_mode_median(const struct nt_matched *pairs, double us);

/* The means if both arms were in each mode equally often. */
void nt_matched_even_means(const struct nt_matched *pairs, double *base_us, double *arm_us);

#endif
