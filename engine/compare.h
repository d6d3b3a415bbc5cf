/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - is this arm faster than AUTO? Tests and gates on plain arrays of times
 *
 * Sample i of two arrays comes from block i of a schedule; 0 stands for a missing sample. Times
 * over a network have modes and tails (one sample in three 2.3 times the others is common), so
 * that means, medians and trimmed means of a few dozen samples call identical arms different. What
 * is compared here:
 *
 *   gain   of the lower quartiles;
 *   p      of two exact tests (engine/matched.h): of the lower half, and of the times within the
 *          modes that both arms share;
 *   means  only to say no: a faster fast mode with more stalls is no gain.
 *
 * Threads:  pure functions.
 * Memory:   p takes heap memory while it counts; without it p is 1.
 * Errors:   none; too few samples give no evidence.
 * Units:    microseconds; gains and p as fractions of 1.
 */
#ifndef NT_COMPARE_H
#define NT_COMPARE_H

#include <stdbool.h>
#include "engine/figures.h"
#include "engine/schedule.h"

/* Small if arm is faster than base. Blocks with a sample missing are left out. */
double nt_compare_p(const float *base, const float *arm, unsigned count);

/* What an arm must pass. */
struct nt_gates {
	double min_gain;
	double alpha; /* below 0.5 */
	unsigned tests; /* that one decision makes: arms times looks; p is multiplied by it */
	bool last; /* no further look at more samples follows */
	bool anytime; /* p counts at any look (engine/martingale.h); else, of the exact tests */
};

struct nt_comparison {
	struct nt_figures base, arm; /* of complete pairs; samples is the number of pairs */
	double gain; /* of the lower quartiles */
	double p; /* corrected, at most 1 */
	double exact_p; /* of the exact tests, not corrected */
	enum nt_verdict verdict; /* FASTER, SMALL, CHANCE, MEAN or SAMPLES (no pair) */
};

void nt_compare(const struct nt_gates *gates, const float *base, const float *arm, unsigned count,
		struct nt_comparison *out);

/* Not FASTER, but with more samples it may well be. */
bool nt_compare_promising(const struct nt_gates *gates, const struct nt_comparison *comparison);

/* Of few samples, which are no evidence: could a closer look find this arm FASTER? */
bool nt_compare_could_win(double min_gain, const float *base, const float *arm, unsigned count);
/* ... and how much less could its call take? */
double nt_compare_hoped_us(const float *base, const float *arm, unsigned count);

/* Is the arm of these times slower than AUTO, beyond chance: at best, on average, or more often
 * slow? p: what counts as evidence. Missing times give none. */
bool nt_compare_behind(const float *base, const float *arm, unsigned count, double p);

#endif
