/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* figures.h - what sums up the times of one arm
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none; 0 where there are no samples.
 * Units:    microseconds; a time of 0 stands for a missing sample.
 */
#ifndef NT_FIGURES_H
#define NT_FIGURES_H

#define NT_SAMPLES_MAX 512 /* of one arm; more are not looked at */

/* Of the samples that are there. */
struct nt_figures {
	unsigned samples;
	double p25_us, median_us, p75_us, mean_us, min_us, max_us;
};

struct nt_figures nt_figures_of(const float *us, unsigned count);

/* Quantile with linear interpolation between order statistics. */
double nt_figures_quantile(const float *us, unsigned count, double quantile);

/* In place, the smallest first. */
void nt_figures_sort(float *us, unsigned count);

#endif
