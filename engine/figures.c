/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c - see figures.h */
#include "engine/figures.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a;
	float y = *(const float *)b;

	return (x > y) - (x < y);
}

void nt_figures_sort(float *us, unsigned count)
{
	qsort(us, count, sizeof(us[0]), by_value);
}

/* The samples that are there, in order. */
static unsigned sort_present(const float *us, unsigned count, float *sorted)
{
	unsigned present = 0;

	for (unsigned i = 0; i < count && i < NT_SAMPLES_MAX; i++) {
		if (us[i] > 0)
			sorted[present++] = us[i];
	}
	nt_figures_sort(sorted, present);
	return present;
}

static double quantile_of(const float *sorted, unsigned count, double quantile)
{
	double at = quantile * (count - 1);
	unsigned below = (unsigned)at;

	if (below + 1 >= count)
		return sorted[count - 1];
	return sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]);
}

double nt_figures_quantile(const float *us, unsigned count, double quantile)
{
	float sorted[NT_SAMPLES_MAX];
	unsigned present = sort_present(us, count, sorted);

	return present == 0 ? 0 : quantile_of(sorted, present, quantile);
}

struct nt_figures nt_figures_of(const float *us, unsigned count)
{
	struct nt_figures figures = { .samples = 0 };
	float sorted[NT_SAMPLES_MAX];
	double sum = 0;

	figures.samples = sort_present(us, count, sorted);
	if (figures.samples == 0)
		return figures;
	for (unsigned i = 0; i < figures.samples; i++)
		sum += sorted[i];
	figures.min_us = (double)sorted[0];
	figures.max_us = (double)sorted[figures.samples - 1];
	figures.mean_us = sum / figures.samples;
	figures.median_us = quantile_of(sorted, figures.samples, 0.5);
	figures.p25_us = quantile_of(sorted, figures.samples, 0.25);
	figures.p75_us = quantile_of(sorted, figures.samples, 0.75);
	return figures;
}
