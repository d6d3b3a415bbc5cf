/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/quantiles.h"
#include "lib/quantile.h"

static unsigned sort_present(const float *us, unsigned count, float *sorted)
{
	unsigned present = 0;

	for (unsigned i = 0; i < count && i < NT_SAMPLES_MAX; i++) {
		if (us[i] > 0)
			sorted[present++] = us[i];
	}
	nt_sort_floats(sorted, present);
	return present;
}

double nt_sample_quantile(const float *us, unsigned count, double quantile)
{
	float sorted[NT_SAMPLES_MAX];
	unsigned present = sort_present(us, count, sorted);

	return nt_quantile_floats(sorted, present, quantile);
}

struct nt_sample_quantiles nt_sample_quantiles_of(const float *us, unsigned count)
{
	struct nt_sample_quantiles quantiles = { .samples = 0 };
	float sorted[NT_SAMPLES_MAX];
	double sum = 0;

	quantiles.samples = sort_present(us, count, sorted);
	if (quantiles.samples == 0)
		return quantiles;
	for (unsigned i = 0; i < quantiles.samples; i++)
		sum += sorted[i];
	quantiles.min_us = (double)sorted[0];
	quantiles.max_us = (double)sorted[quantiles.samples - 1];
	quantiles.mean_us = sum / quantiles.samples;
	quantiles.median_us = nt_quantile_floats(sorted, quantiles.samples, 0.5);
	quantiles.p25_us = nt_quantile_floats(sorted, quantiles.samples, 0.25);
	quantiles.p75_us = nt_quantile_floats(sorted, quantiles.samples, 0.75);
	return quantiles;
}
