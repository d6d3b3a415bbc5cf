/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* quantiles.h - quantiles of one arm's times
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none; 0 where there are no samples.
 * Units:    microseconds; 0 is a missing sample.
 */
#ifndef NT_QUANTILES_H
#define NT_QUANTILES_H

#define NT_SAMPLES_MAX 512 /* samples of one arm; more are ignored */

/* Missing samples are skipped. */
struct nt_sample_quantiles {
	unsigned samples;
	double p25_us, median_us, p75_us, mean_us, min_us, max_us;
};

struct nt_sample_quantiles nt_sample_quantiles_of(const float *us, unsigned count);

/* Interpolated between samples. */
double nt_sample_quantile(const float *us, unsigned count, double quantile);

#endif
