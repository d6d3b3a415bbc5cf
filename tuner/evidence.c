/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.c - what was measured of a key's arms, round by round */
#include "tuner/engine_state.h"

#include <string.h>
#include "tuner/matched.h"

/* Blocks of the round that the key's schedule stands for. Another's rule has none in its own
 * round. */
static unsigned warm_up(const struct engine_key *key)
{
	return key->named && key->schedule.kind == NT_SCHEDULE_SCREEN ? 0 : NT_SCHEDULE_WARM_UP;
}

/* Its index; count: it has none. */
static unsigned find(const struct evidence *evidence, unsigned arm)
{
	unsigned i = 0;

	while (i < evidence->count && evidence->arm[i] != arm)
		i++;
	return i;
}

float *engine_evidence(struct evidence *evidence, unsigned arm)
{
	unsigned i = find(evidence, arm);

	return i < evidence->count ? evidence->us[i] : NULL;
}

/* What a position of the schedule says of its arm in a block of the evidence. */
static void take_times(const struct engine_key *key, struct evidence *evidence, unsigned position,
		       unsigned block)
{
	const struct nt_schedule *s = &key->schedule;
	unsigned i = find(evidence, s->arm[position % s->count]);
	uint16_t period = key->sample[nt_schedule_positions(s) + position];

	if (i == evidence->count)
		return;
	evidence->us[i][block] = (float)(nt_times_ns(key->sample[position]) / 1000);
	evidence->period_us[i][block] = (float)(nt_times_ns(period) / 1000);
}

void engine_close_round(struct engine_key *key, struct evidence *evidence)
{
	const struct nt_schedule *s = &key->schedule;
	unsigned warm = warm_up(key);
	unsigned blocks = s->blocks - warm;

	if (evidence->count == 0) {
		evidence->count = s->count;
		memcpy(evidence->arm, s->arm, sizeof(evidence->arm));
	}
	if (blocks > POOLED_BLOCKS - evidence->blocks)
		blocks = POOLED_BLOCKS - evidence->blocks;
	for (unsigned p = 0; p < nt_schedule_positions(s); p++) {
		unsigned block = p / s->count;
		double sample_us = nt_times_ns(key->sample[p]) / 1000;

		key->explored_us += sample_us;
		key->explored += key->sample[p] != 0;
		if (block >= warm && block - warm < blocks)
			take_times(key, evidence, p, evidence->blocks + block - warm);
	}
	evidence->blocks += blocks;
	key->spent_calls += nt_schedule_positions(s);
	key->rounds[s->kind]++;
	if (key->trial)
		nt_trial_round(key->trial, s, key->sample);
	memset(key->sample, 0, sizeof(key->sample));
	key->absorbed = 0;
	for (unsigned i = 0; i < evidence->count; i++) {
		struct nt_figures figures = nt_decide_figures(evidence->us[i], evidence->blocks);

		nt_finding_note(&key->finding, evidence->arm[i], &figures);
	}
}

bool engine_enough(const struct engine_key *key, unsigned samples)
{
	unsigned blocks = key->schedule.blocks - warm_up(key);

	return samples * 100 >= blocks * ENOUGH_PERCENT;
}

double engine_p25(const struct evidence *evidence, unsigned index)
{
	return nt_decide_quantile(evidence->us[index], evidence->blocks, 0.25);
}

unsigned engine_next_best(const struct engine_key *key, const struct evidence *evidence,
			  uint32_t taken)
{
	unsigned best = 0;

	for (unsigned i = 1; i < evidence->count; i++) {
		unsigned samples = nt_decide_figures(evidence->us[i], evidence->blocks).samples;

		if ((taken & (1u << i)) || !engine_enough(key, samples))
			continue;
		if (best == 0 || engine_p25(evidence, i) < engine_p25(evidence, best))
			best = i;
	}
	return best;
}

bool engine_behind(const float *base, const float *arm, unsigned count, double p)
{
	struct nt_figures of_base, of_arm;
	struct nt_matched pairs, other;

	nt_matched_take(&pairs, base, arm, count);
	nt_matched_take(&other, arm, base, count);
	of_base = nt_decide_figures(pairs.base, pairs.count);
	of_arm = nt_decide_figures(pairs.arm, pairs.count);
	/* Within its modes an arm may be behind that is ahead in all. */
	return (of_arm.p25_us > of_base.p25_us && nt_decide_p(arm, base, count) < p) ||
	       (of_arm.mean_us > of_base.mean_us &&
		(nt_matched_slow_p(&pairs) < p || nt_matched_mean_p(&other) < p));
}
