/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/evaluation.h"

#include "contract/key-id.h"
#include "engine/matched.h"

#define ENOUGH_PERCENT 60 /* share of a round's samples */
#define RING 1 /* NCCL's number of the algorithm */
#define LEAST_SHARE 0.05 /* least share of the collective in the time to the next call */
#define SHORT_Q 0.0625 /* quantile of short times */

/* NCCL stamps ends too early where threads of a block diverge: in trees, but not in rings. */
static bool end_trusted(const struct nt_evaluation *seen, unsigned arm)
{
	const unsigned pair = arm == NT_ARM_BASELINE ? seen->info.baseline_arm
						     : (unsigned)nt_arm_pair((int)arm);

	return pair < NT_PAIRS && pair / NT_PROTOS == RING;
}

/* Durations are the slowest rank's. */
static double median_us(const struct nt_evidence *e, unsigned index)
{
	return nt_sample_quantile(e->measured_us[NT_MEASURE_SLOWEST][index], e->blocks, 0.5);
}

/* From the end of a call to the next start; < 0: unknown. */
static double rest_us(const struct nt_evaluation *seen, const struct nt_evidence *e)
{
	for (unsigned i = 0; i < e->count; i++) {
		const double us = median_us(e, i), duration_us = (double)e->duration_us[i];

		if (us > 0 && duration_us > 0 && end_trusted(seen, e->arm[i]))
			return us > duration_us ? us - duration_us : 0;
	}
	return -1;
}

double nt_evaluation_duration_us(const struct nt_evaluation *seen,
				 const struct nt_evidence *evidence, unsigned index)
{
	const double us = median_us(evidence, index);
	const double duration_us = (double)evidence->duration_us[index];
	double between_us = rest_us(seen, evidence);

	if (duration_us > 0 && end_trusted(seen, evidence->arm[index]))
		return duration_us < us ? duration_us : us;
	if (between_us < 0)
		between_us = rest_us(seen, &seen->screen);
	return between_us >= 0 && us > between_us ? us - between_us : 0;
}

/* No collective takes longer than the shortest times to the next one. 0: no time is much shorter
 * than us. */
static double at_most_us(const struct nt_evidence *e, double us)
{
	const double short_us = nt_sample_quantile(e->us[0], e->blocks, SHORT_Q);

	return short_us * NT_MATCHED_GAP < us ? short_us : 0;
}

double nt_evaluation_own_share(const struct nt_evaluation *seen, const struct nt_evidence *evidence)
{
	/* Gains are those of the lower quartiles. */
	const double us = evidence->count ? nt_evidence_p25_us(evidence, 0) : 0;
	double duration_us = us > 0 ? nt_evaluation_duration_us(seen, evidence, 0) : 0;

	if (duration_us <= 0)
		duration_us = at_most_us(evidence, us);
	if (duration_us <= 0 || duration_us >= us)
		return 1;
	return duration_us > LEAST_SHARE * us ? duration_us / us : LEAST_SHARE;
}

double nt_evaluation_min_gain(const struct nt_evaluation *seen, const struct nt_evidence *evidence)
{
	/* Percent, in millionths. */
	return (double)seen->policy->min_gain_micro / 1e8 * nt_evaluation_own_share(seen, evidence);
}

size_t nt_evaluation_bytes(const struct nt_evaluation *seen)
{
	return nt_band_floor(nt_key_band(seen->info.key));
}

struct nt_schedule nt_evaluation_explore(const struct nt_evaluation *seen,
					 enum nt_schedule_kind kind, const uint16_t *others,
					 unsigned count, unsigned blocks)
{
	struct nt_schedule s = nt_schedule_explore(kind, others, count, blocks);

	s.measure = kind == NT_SCHEDULE_SCREEN ? seen->wanted : seen->measure;
	s.twice = nt_key_info_carries_over(&seen->info) &&
		  2 * nt_schedule_positions(&s) <= NT_RUN_POSITIONS;
	return s;
}

bool nt_evaluation_enough(const struct nt_evaluation *seen, unsigned samples)
{
	unsigned blocks = seen->schedule.blocks - NT_SCHEDULE_WARM_UP;

	return samples * 100 >= blocks * ENOUGH_PERCENT;
}

/* An arm's best time. The lower quartile of eight samples would be slow once in forty if four of
 * ten times are slow. */
static double hoped_us(const struct nt_evidence *evidence, unsigned index)
{
	return nt_sample_quantile(evidence->us[index], evidence->blocks, 0.125);
}

unsigned nt_evaluation_next_best(const struct nt_evaluation *seen,
				 const struct nt_evidence *evidence, uint32_t taken)
{
	unsigned best = 0;

	for (unsigned i = 1; i < evidence->count; i++) {
		if ((taken & (1u << i)) ||
		    !nt_evaluation_enough(seen, nt_evidence_samples(evidence, i)))
			continue;
		if (best == 0 || hoped_us(evidence, i) < hoped_us(evidence, best))
			best = i;
	}
	return best;
}
