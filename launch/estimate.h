/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* estimate.h - a ratio of times of steps, and how sure it is
 *
 * Two steps with the same settings differ by more than their samples say: by 0.09 to 0.15 of the
 * logarithm, as measured. So a step, or a lap of a calibration, is one sample, and the deviation
 * between steps is estimated from those that repeat each other. To that an assumed deviation is
 * added, as if from a few steps: it decides if nothing was repeated, and fades with more repeats.
 * The distribution is Student's: with few repeats only large differences are significant.
 *
 * Threads:  pure functions.
 * Memory:   values.
 * Errors:   none.
 * Units:    natural logarithms of times and of ratios; p as fractions of 1.
 */
#ifndef NT_ESTIMATE_H
#define NT_ESTIMATE_H

#define NT_DEVIATION_ASSUMED 0.10 /* between two steps; with few degrees it counts like 0.15 */
#define NT_DEVIATION_DEGREES 3.0 /* that the assumption is worth */

/* Steps with the same settings. */
struct nt_log_times {
	double count;
	double mean; /* of the logarithms */
	double squares; /* sum of squared differences from the mean */
};

void nt_log_times_add(struct nt_log_times *sum, double log_time);

/* Between two steps, from a sum of squares with so many degrees of freedom. */
double nt_estimate_deviation(double squares, double degrees);

struct nt_estimate {
	double log_ratio; /* below 0: faster */
	double error; /* standard error of it */
	double degrees; /* of freedom of the error */
};

/* Both have steps. */
struct nt_estimate nt_estimate_of(const struct nt_log_times *base, const struct nt_log_times *arm);

/* One-sided p of "below 0" and "above 0": how likely such an estimate is if the true value is 0. */
double nt_estimate_p_below(const struct nt_estimate *estimate);
double nt_estimate_p_above(const struct nt_estimate *estimate);

/* The one rule by which a launch profile is used, in a calibration and later: at least 3 % faster,
 * beyond chance, and where the program's calls are unknown not 10 % slower at any size. */
#define NT_GAIN_LEAST 0.03
#define NT_WORST_MOST 1.10

enum nt_worth { NT_WORTH_IT, NT_WORTH_WORST, NT_WORTH_SLOWER, NT_WORTH_SMALL, NT_WORTH_NOISE };

/* Of an estimate with this p; worst: the largest ratio of a size, 0 where the calls are known. */
enum nt_worth nt_estimate_worth(double log_ratio, double p, double p_most, double worst);

/* P(T > t) of Student's distribution, to three digits for three degrees and more. */
double nt_student_tail(double t, double degrees);

#endif
