/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/evidence.h"

#include <math.h>
#include <string.h>
#include "engine/quantiles.h"
#include "engine/times.h"

#define LEAST_SAMPLES 3 /* that tell a spread */
#define CLEARLY 0.7 /* of the mean's spread, which few samples tell badly */

_Static_assert(NT_SAMPLES_MAX >= NT_EVIDENCE_BLOCKS, "all evidence is looked at");

/* Index of an arm; count: none. */
static unsigned find_arm(const struct nt_evidence *evidence, unsigned arm)
{
	unsigned i = 0;

	while (i < evidence->count && evidence->arm[i] != arm)
		i++;
	return i;
}

const float *nt_evidence_of(const struct nt_evidence *evidence, unsigned arm)
{
	unsigned i = find_arm(evidence, arm);

	return i < evidence->count ? evidence->us[i] : NULL;
}

/* A block's times of arm i, at index p of the schedule. */
static void take_times(struct nt_evidence *evidence, const struct nt_schedule *schedule,
		       const uint16_t *packed, unsigned p, unsigned i, unsigned block)
{
	for (unsigned m = 0; m < NT_MEASURES; m++) {
		const int at = nt_times_measure_at(schedule, (enum nt_measure)m);

		if (at >= 0)
			evidence->measured_us[m][i][block] =
				(float)(nt_times_ns(packed[(unsigned)at + p]) / 1000);
	}
	evidence->us[i][block] = evidence->measured_us[evidence->measure][i][block];
	if (schedule->kind != NT_SCHEDULE_SCREEN)
		evidence->period_us[i][block] =
			(float)(nt_times_ns(packed[nt_schedule_samples(schedule) + p]) / 1000);
}

void nt_evidence_use(struct nt_evidence *evidence, enum nt_measure measure)
{
	evidence->measure = measure;
	memcpy(evidence->us, evidence->measured_us[measure], sizeof(evidence->us));
}

void nt_evidence_add(struct nt_evidence *evidence, const struct nt_schedule *schedule,
		     const uint16_t *packed)
{
	const unsigned samples = nt_schedule_samples(schedule);
	unsigned blocks = schedule->blocks - NT_SCHEDULE_WARM_UP;

	if (evidence->count == 0) {
		evidence->count = schedule->count;
		memcpy(evidence->arm, schedule->arm, sizeof(evidence->arm));
	}
	if (blocks > NT_EVIDENCE_BLOCKS - evidence->blocks)
		blocks = NT_EVIDENCE_BLOCKS - evidence->blocks;
	for (unsigned p = NT_SCHEDULE_WARM_UP * schedule->count; p < samples; p++) {
		const unsigned block = p / schedule->count - NT_SCHEDULE_WARM_UP;
		const unsigned i = find_arm(evidence, schedule->arm[p % schedule->count]);

		if (block < blocks && i < evidence->count)
			take_times(evidence, schedule, packed, p, i, evidence->blocks + block);
	}
	evidence->blocks += blocks;
	for (unsigned a = 0; a < schedule->count; a++) {
		const unsigned i = find_arm(evidence, schedule->arm[a]);
		const double ns = nt_times_ns(packed[nt_times_duration_at(schedule, a)]);

		if (i < evidence->count && ns > 0)
			evidence->duration_us[i] = (float)(ns / 1000);
	}
}

double nt_evidence_p25_us(const struct nt_evidence *evidence, unsigned index)
{
	return nt_sample_quantile(evidence->us[index], evidence->blocks, 0.25);
}

double nt_evidence_median_us(const struct nt_evidence *evidence, unsigned index)
{
	return nt_sample_quantile(evidence->us[index], evidence->blocks, 0.5);
}

unsigned nt_evidence_samples(const struct nt_evidence *evidence, unsigned index)
{
	return nt_sample_quantiles_of(evidence->us[index], evidence->blocks).samples;
}

/* Mean distance of the baseline's times from their median, in microseconds: all measures show an
 * arm's gain alike. -1: too few samples. */
static double spread_us(const struct nt_evidence *evidence, enum nt_measure measure)
{
	const float *us = evidence->measured_us[measure][0];
	const struct nt_sample_quantiles quantiles = nt_sample_quantiles_of(us, evidence->blocks);
	double sum = 0;

	if (quantiles.samples < LEAST_SAMPLES)
		return -1;
	for (unsigned i = 0; i < evidence->blocks; i++)
		sum += us[i] > 0 ? fabs((double)us[i] - quantiles.median_us) : 0;
	return sum / quantiles.samples;
}

enum nt_measure nt_evidence_steadiest(const struct nt_evidence *evidence)
{
	enum nt_measure best = NT_MEASURE_MEAN;
	double least = CLEARLY * spread_us(evidence, NT_MEASURE_MEAN);

	if (least < 0)
		return NT_MEASURE_SLOWEST;
	for (int m = 0; m < NT_MEASURES; m++) {
		const double of = spread_us(evidence, (enum nt_measure)m);

		if (of < 0 || of >= least)
			continue;
		least = of;
		best = (enum nt_measure)m;
	}
	return best;
}
