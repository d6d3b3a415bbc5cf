/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.c - see evidence.h */
#include "engine/evidence.h"

#include <string.h>
#include "engine/figures.h"
#include "engine/times.h"

_Static_assert(NT_SAMPLES_MAX >= NT_EVIDENCE_BLOCKS, "all evidence is looked at");

/* Its index; count: it has none. */
static unsigned find(const struct nt_evidence *evidence, unsigned arm)
{
	unsigned i = 0;

	while (i < evidence->count && evidence->arm[i] != arm)
		i++;
	return i;
}

const float *nt_evidence_of(const struct nt_evidence *evidence, unsigned arm)
{
	unsigned i = find(evidence, arm);

	return i < evidence->count ? evidence->us[i] : NULL;
}

static void take_own(struct nt_evidence *evidence, const struct nt_schedule *schedule,
		     const uint16_t *packed)
{
	for (unsigned a = 0; a < schedule->count; a++) {
		const unsigned i = find(evidence, schedule->arm[a]);
		const double ns = nt_times_ns(packed[nt_times_own_at(schedule, a)]);

		if (i < evidence->count && ns > 0)
			evidence->own_us[i] = (float)(ns / 1000);
	}
}

void nt_evidence_add(struct nt_evidence *evidence, const struct nt_schedule *schedule,
		     unsigned warm_up, const uint16_t *packed)
{
	const unsigned samples = nt_schedule_samples(schedule);
	unsigned blocks = schedule->blocks - warm_up;

	if (evidence->count == 0) {
		evidence->count = schedule->count;
		memcpy(evidence->arm, schedule->arm, sizeof(evidence->arm));
	}
	if (blocks > NT_EVIDENCE_BLOCKS - evidence->blocks)
		blocks = NT_EVIDENCE_BLOCKS - evidence->blocks;
	for (unsigned p = warm_up * schedule->count; p < samples; p++) {
		unsigned block = p / schedule->count - warm_up;
		unsigned i = find(evidence, schedule->arm[p % schedule->count]);

		if (block >= blocks || i == evidence->count)
			continue;
		block += evidence->blocks;
		evidence->us[i][block] = (float)(nt_times_ns(packed[p]) / 1000);
		if (schedule->kind != NT_SCHEDULE_SCREEN)
			evidence->period_us[i][block] = (float)(nt_times_ns(packed[samples + p]) /
								1000);
	}
	evidence->blocks += blocks;
	take_own(evidence, schedule, packed);
}

double nt_evidence_p25_us(const struct nt_evidence *evidence, unsigned index)
{
	return nt_figures_quantile(evidence->us[index], evidence->blocks, 0.25);
}

double nt_evidence_median_us(const struct nt_evidence *evidence, unsigned index)
{
	return nt_figures_quantile(evidence->us[index], evidence->blocks, 0.5);
}

unsigned nt_evidence_samples(const struct nt_evidence *evidence, unsigned index)
{
	return nt_figures_of(evidence->us[index], evidence->blocks).samples;
}
