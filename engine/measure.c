/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/measure.h"

#include <math.h>
#include <stdbool.h>
#include "engine/quantiles.h"

#define LEAST_SAMPLES 3
#define CLEARLY 0.7 /* of the mean's spread, which few samples tell badly */

enum nt_measure nt_measure_wanted(uint32_t decide)
{
	const bool mean = decide & 1u << NT_MEASURE_MEAN;
	const bool fastest = decide & 1u << NT_MEASURE_FASTEST;

	if (mean && fastest)
		return NT_MEASURE_ALL;
	return mean ? NT_MEASURE_MEAN : fastest ? NT_MEASURE_FASTEST : NT_MEASURE_SLOWEST;
}

/* Mean distance from the median, in microseconds: all measures show an arm's gain alike. -1: too
 * few samples. */
static double spread(const float *us, unsigned count)
{
	const struct nt_sample_quantiles quantiles = nt_sample_quantiles_of(us, count);
	double sum = 0;

	if (quantiles.samples < LEAST_SAMPLES)
		return -1;
	for (unsigned i = 0; i < count; i++)
		sum += us[i] > 0 ? fabs((double)us[i] - quantiles.median_us) : 0;
	return sum / quantiles.samples;
}

enum nt_measure nt_measure_choose(const struct nt_evidence *evidence, uint32_t decide)
{
	const uint32_t allowed = decide | 1u << NT_MEASURE_SLOWEST;
	const bool by_mean = allowed & 1u << NT_MEASURE_MEAN;
	enum nt_measure best = by_mean ? NT_MEASURE_MEAN : NT_MEASURE_SLOWEST;
	double least = CLEARLY * spread(evidence->measured_us[best][0], evidence->blocks);

	if (least < 0)
		return NT_MEASURE_SLOWEST;
	for (int m = 0; m < NT_MEASURES; m++) {
		const double of = spread(evidence->measured_us[m][0], evidence->blocks);

		if (!(allowed & 1u << m) || of < 0 || of >= least)
			continue;
		least = of;
		best = (enum nt_measure)m;
	}
	return best;
}
