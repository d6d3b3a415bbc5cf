/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* case.c - see case.h */
#include "engine/case.h"

#include "contract/key.h"
#include "engine/figures.h"

#define ENOUGH_PERCENT 60 /* of a round's samples */
#define RING 1 /* NCCL's number of the algorithm */
#define LEAST_SHARE 0.05 /* of the time to the next call that a collective is taken for */

/* NCCL stamps ends too early where a block's threads part, as in trees: a ring's do not. */
static bool end_trusted(const struct nt_case *seen, unsigned arm)
{
	const unsigned pair = arm == NT_ARM_AUTO ? seen->known.auto_arm
						 : (unsigned)nt_arm_pair((int)arm);

	return pair < NT_PAIRS && pair / NT_PROTOS == RING;
}

/* From the end of a call to the start of the next one; < 0: not known. */
static double rest_us(const struct nt_case *seen, const struct nt_evidence *e)
{
	for (unsigned i = 0; i < e->count; i++) {
		const double us = nt_evidence_median_us(e, i), own_us = (double)e->own_us[i];

		if (us > 0 && own_us > 0 && end_trusted(seen, e->arm[i]))
			return us > own_us ? us - own_us : 0;
	}
	return -1;
}

double nt_case_own_us(const struct nt_case *seen, const struct nt_evidence *evidence,
		      unsigned index)
{
	const double us = nt_evidence_median_us(evidence, index);
	const double own_us = (double)evidence->own_us[index];
	double between_us = rest_us(seen, evidence);

	if (own_us > 0 && end_trusted(seen, evidence->arm[index]))
		return own_us < us ? own_us : us;
	if (between_us < 0)
		between_us = rest_us(seen, &seen->screen);
	return between_us >= 0 && us > between_us ? us - between_us : 0;
}

double nt_case_min_gain(const struct nt_case *seen, const struct nt_evidence *evidence)
{
	/* Percent, in millionths. */
	const double min_gain = (double)seen->policy->min_gain_micro / 1e8;
	/* Gains are those of the lower quartiles. */
	const double us = evidence->count ? nt_evidence_p25_us(evidence, 0) : 0;
	const double own_us = us > 0 ? nt_case_own_us(seen, evidence, 0) : 0;

	if (own_us <= 0 || own_us >= us)
		return min_gain;
	return min_gain * (own_us > LEAST_SHARE * us ? own_us / us : LEAST_SHARE);
}

size_t nt_case_bytes(const struct nt_case *seen)
{
	return nt_band_floor(nt_key_band(seen->known.key));
}

struct nt_schedule nt_case_explore(const struct nt_case *seen, enum nt_schedule_kind kind,
				   const uint16_t *others, unsigned count, unsigned blocks)
{
	struct nt_schedule s = nt_schedule_explore(kind, others, count, blocks);

	s.twice = nt_known_carries_over(&seen->known) &&
		  2 * nt_schedule_positions(&s) <= NT_RUN_POSITIONS;
	return s;
}

unsigned nt_case_warm_up(const struct nt_case *seen)
{
	return seen->schedule.kind == NT_SCHEDULE_SCREEN ? seen->first_warm_up
							 : NT_SCHEDULE_WARM_UP;
}

bool nt_case_enough(const struct nt_case *seen, unsigned samples)
{
	unsigned blocks = seen->schedule.blocks - nt_case_warm_up(seen);

	return samples * 100 >= blocks * ENOUGH_PERCENT;
}

/* What an arm takes at best. Not its lower quartile: of eight times, where four of ten are slow
 * ones, that is a slow one once in forty. */
static double hoped_us(const struct nt_evidence *evidence, unsigned index)
{
	return nt_figures_quantile(evidence->us[index], evidence->blocks, 0.125);
}

unsigned nt_case_next_best(const struct nt_case *seen, const struct nt_evidence *evidence,
			   uint32_t taken)
{
	unsigned best = 0;

	for (unsigned i = 1; i < evidence->count; i++) {
		if ((taken & (1u << i)) || !nt_case_enough(seen, nt_evidence_samples(evidence, i)))
			continue;
		if (best == 0 || hoped_us(evidence, i) < hoped_us(evidence, best))
			best = i;
	}
	return best;
}
