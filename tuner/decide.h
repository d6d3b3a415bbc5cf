/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* decide.h - is this arm faster than AUTO? figures, test and rule on plain arrays of times
 *
 * Sample i of two arrays comes from block i of a schedule; 0 stands for a missing sample. Times
 * over a network have modes and tails (one sample in three 2.3 times the others is common), so
 * that means, medians and trimmed means of a few dozen samples call identical arms different. What
 * is compared here:
 *
 *   gain   of the lower quartiles;
 *   p      of two exact tests (tuner/matched.h): of the lower half, and of the times within the
 *          modes that both arms share;
 *   means  only to say no: a faster fast mode with more stalls is no gain.
 *
 * Threads:  pure functions.
 * Memory:   p takes heap memory while it counts; without it p is 1.
 * Errors:   none; too few samples give no evidence.
 * Units:    microseconds; gains and p as fractions of 1.
 */
#ifndef NT_DECIDE_H
#define NT_DECIDE_H

#include <stdbool.h>
#include "tuner/schedule.h"

#define NT_DECIDE_SAMPLES 512 /* of one arm; more are not looked at */

/* Of the samples that are there. All 0 if there are none. */
struct nt_figures {
	unsigned samples;
	double p25_us, median_us, mean_us;
};

struct nt_figures nt_decide_figures(const float *us, unsigned count);

/* Quantile with linear interpolation between order statistics; 0 if there are no samples. */
double nt_decide_quantile(const float *us, unsigned count, double quantile);

/* Small if arm is faster than base. Blocks with a sample missing are left out. */
double nt_decide_p(const float *base, const float *arm, unsigned count);

struct nt_rule {
	double min_gain;
	double alpha; /* below 0.5 */
	unsigned tests; /* that one decision makes: arms times looks; p is multiplied by it */
	bool last; /* no further look at more samples follows */
};

struct nt_contest {
	struct nt_figures base, arm; /* of complete pairs; samples is the number of pairs */
	double gain; /* of the lower quartiles */
	double p; /* corrected, at most 1 */
	enum nt_verdict verdict; /* FASTER, SMALL, CHANCE, MEAN or SAMPLES (no pair) */
};

void nt_decide_contest(const struct nt_rule *rule, const float *base, const float *arm,
		       unsigned count, struct nt_contest *out);

/* Not decided, but more samples may well make it FASTER. */
bool nt_decide_promising(const struct nt_rule *rule, const struct nt_contest *contest);

/* A first look at few samples, no evidence: could a closer look find this arm FASTER? */
bool nt_decide_could_win(double min_gain, const float *base, const float *arm, unsigned count);

#endif
