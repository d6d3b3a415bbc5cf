/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/rules/race.h"

#include <math.h>
#include <string.h>
#include "engine/confirm.h"
#include "engine/refine.h"
#include "engine/screen.h"
#include "lab/rules/martingale.h"

#define FIRST 3 /* blocks after which arms may be dropped if samples are close together */
/* Blocks between looks. Including the first ones, an arm that stalls in one call of seven is missed
 * in 2 % of cases. */
#define SECOND 20
#define MOST_PAIRS 200

/* An arm's times in first rounds, then in second ones. */
static unsigned join(const struct nt_evaluation *seen, unsigned arm, float us[NT_SAMPLES_MAX])
{
	const float *first = nt_evidence_of(&seen->screen, arm);
	const float *second = nt_evidence_of(&seen->confirm, arm);
	unsigned blocks = first ? seen->screen.blocks : 0;
	unsigned more = seen->confirm.blocks;

	if (more > NT_SAMPLES_MAX - blocks)
		more = NT_SAMPLES_MAX - blocks;
	memcpy(us, first, blocks * sizeof(us[0]));
	memcpy(us + blocks, second, more * sizeof(us[0]));
	return blocks + more;
}

/* The exact tests' p decides nothing here. One test per explored arm: each was seen before one was
 * selected. */
static void compare(const struct nt_evaluation *seen, const struct nt_gates *gates, unsigned i,
		    struct nt_comparison *out)
{
	struct nt_gates whatever_p = *gates;
	float baseline_us[NT_SAMPLES_MAX], arm_us[NT_SAMPLES_MAX];
	unsigned blocks;

	whatever_p.alpha = 2;
	(void)join(seen, NT_ARM_BASELINE, baseline_us);
	blocks = join(seen, seen->confirm.arm[i], arm_us);
	nt_compare(&whatever_p, baseline_us, arm_us, blocks, out);
	if (out->verdict == NT_VERDICT_SAMPLES)
		return;
	out->p = fmin(nt_martingale_p(baseline_us, arm_us, blocks) * (seen->arms - 1), 1);
	if (out->verdict != NT_VERDICT_SMALL && !(out->p < gates->alpha))
		out->verdict = NT_VERDICT_CHANCE;
}

static unsigned further_blocks(const struct nt_evaluation *seen)
{
	return seen->second_blocks;
}

static void confirm(const struct nt_evaluation *seen, struct nt_next *next)
{
	static const struct nt_confirm_way way = { .compare = compare,
						   .further_blocks = further_blocks };
	const struct nt_gates gates = {
		.min_gain = nt_evaluation_min_gain(seen, &seen->confirm),
		.of_us = nt_evidence_p25_us(&seen->confirm, 0),
		.alpha = (double)seen->policy->alpha_micro / 1e6,
		.tests = 1,
		.last = seen->confirm.blocks >= MOST_PAIRS || !nt_confirm_affordable(seen),
	};

	nt_confirm_judge(seen, &way, &gates, next);
}

const struct nt_rule nt_race = {
	.blocks = FIRST + NT_SCHEDULE_WARM_UP,
	.warm_up = NT_SCHEDULE_WARM_UP,
	.second_blocks = SECOND,
	.after_first = { nt_screen_samples, nt_screen_widen, nt_refine, nt_screen },
	.after_second = confirm,
};
