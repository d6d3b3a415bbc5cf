/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* compare-arms.h - is an arm faster than the baseline? Tests on arrays of times
 *
 * Sample i of both arrays is from block i of a schedule; 0 is a missing sample. Times over a
 * network have modes and tails (often one in three is 2.3 times as long as the others), so means,
 * medians and trimmed means of a few dozen samples differ between identical arms. Compared are:
 *
 *   gain   of the lower quartiles, or within a mode;
 *   p      of two exact tests (engine/matched.h): on the lower half, and on the times within the
 *          modes that both arms share;
 *   means  only to reject: a faster fast mode with more stalls is no gain.
 *
 * Threads:  pure functions.
 * Memory:   p needs heap memory; without it p is 1.
 * Errors:   none; too few samples give no evidence.
 * Units:    microseconds; gains and p as fractions of 1.
 */
#ifndef NT_COMPARE_ARMS_H
#define NT_COMPARE_ARMS_H

#include <stdbool.h>
#include "engine/quantiles.h"
#include "engine/schedule.h"

/* Small if arm is faster than the baseline. Blocks with a missing sample are skipped. */
double nt_compare_p(const float *baseline, const float *arm, unsigned count);

/* What an arm must show. */
struct nt_gates {
	double min_gain;
	double of_us; /* what min_gain is a share of; 0: the pairs' lower quartile */
	double early_us; /* least gain with so few pairs; 0: only min_gain */
	double alpha; /* below 0.5 */
	unsigned tests; /* arms times looks; p is multiplied by it */
	bool last; /* no look at more samples follows */
};

struct nt_comparison {
	struct nt_sample_quantiles baseline, arm; /* of complete pairs; samples: their number */
	double gain; /* nt_matched_gain_us() as a share of the baseline's lower quartile */
	double p; /* corrected, at most 1 */
	double exact_p; /* of the exact tests, uncorrected */
	enum nt_verdict verdict; /* FASTER, SMALL, CHANCE, MEAN or SAMPLES (no pair) */
};

void nt_compare(const struct nt_gates *gates, const float *baseline, const float *arm,
		unsigned count, struct nt_comparison *out);

/* Not FASTER, but probably FASTER with more samples. */
bool nt_compare_promising(const struct nt_gates *gates, const struct nt_comparison *comparison);

/* Could these few samples, which are no evidence, become FASTER with more? */
bool nt_compare_could_win(double min_gain, const float *baseline, const float *arm, unsigned count);
/* ... and how much shorter could a call be? */
double nt_compare_hoped_us(const float *baseline, const float *arm, unsigned count);

/* Is the arm significantly slower than the baseline: at its best, on average, or by being slow more
 * often? p: the significance level. */
bool nt_compare_behind(const float *baseline, const float *arm, unsigned count, double p);

#endif
