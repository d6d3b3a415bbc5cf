/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c - every figure and p value of two rows of times, to be compared with another's
 * (figures-scipy) */
#include <stdio.h>
#include <stdlib.h>
#include "engine/matched.h"
#include "engine/quantiles.h"

/* A line: n, n times of AUTO, n times of an arm. */
static int read_line(unsigned *count, float *baseline, float *arm)
{
	if (scanf("%u", count) != 1 || *count == 0 || *count > NT_SAMPLES_MAX)
		return -1;
	for (unsigned i = 0; i < 2 * *count; i++) {
		if (scanf("%f", i < *count ? &baseline[i] : &arm[i - *count]) != 1)
			return -1;
	}
	return 0;
}

int main(void)
{
	static const double at[] = { 0, 0.125, 0.25, 0.5, 0.75, 1 };
	float baseline[NT_SAMPLES_MAX], arm[NT_SAMPLES_MAX];
	struct nt_matched pairs;
	unsigned count;

	while (read_line(&count, baseline, arm) == 0) {
		for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
			printf("%.9g ", nt_sample_quantile(baseline, count, at[i]));
		nt_matched_take(&pairs, baseline, arm, count);
		printf("%.9g %.9g\n", nt_matched_lower_p(&pairs), nt_matched_mean_p(&pairs));
	}
	return ferror(stdout) || !feof(stdin);
}
