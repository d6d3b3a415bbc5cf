/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/screen.h"

#include <math.h>
#include "engine/budget.h"
#include "engine/confirm.h"
#include "engine/time-budget.h"
#include "engine/warmstart.h"

/* Spread of samples below which few samples tell which arms could win. Tuned with nt-engine-sim to
 * miss no more gains than more samples do. */
#define QUIET 0.1

#define RARE_BLOCKS 3u /* then arms may be dropped, if samples are close together */
#define ROUND_BLOCKS 4u /* time that one more round costs */
#define LEAST_FIT 18u /* blocks; with time for less, it is over, or not known yet */

/* The arm with NCCL's lowest prediction; arms without one come last. */
static unsigned cheapest_arm(const struct nt_key_info *info, uint32_t mask)
{
	unsigned best = NT_PAIRS;
	float best_us = -1;

	for (unsigned arm = 0; arm < NT_PAIRS; arm++) {
		float cost_us = nt_key_info_predicted_us(info, arm);

		if (!(mask & (1u << arm)))
			continue;
		if (best == NT_PAIRS || (cost_us >= 0 && (best_us < 0 || cost_us < best_us))) {
			best = arm;
			best_us = cost_us;
		}
	}
	return best;
}

/* Is LL not tried at this size, by NCCL's predictions for it and for its choice? < 0: none. */
static bool is_ll_hopeless(unsigned arm, size_t bytes, float cost_us, float baseline_us)
{
	return arm % NT_PROTOS == 0 && bytes >= NT_SCREEN_LL_BYTES && baseline_us > 0 &&
	       cost_us > baseline_us * NT_SCREEN_LL_FACTOR;
}

/* Arms with a chance by NCCL's predictions, lowest first; at least one if NCCL predicts any, except
 * LL at large sizes. */
static unsigned candidates(const struct nt_evaluation *seen, uint16_t arm[NT_PAIRS])
{
	const float baseline_us = nt_key_info_predicted_baseline_us(&seen->info);
	const float limit_us = baseline_us * NT_SCREEN_COST_FACTOR;
	const bool limited = seen->policy->mode != NT_MODE_PROFILE && limit_us > 0;
	uint32_t mask = nt_key_info_other_arms(&seen->info);
	unsigned count = 0;

	while (mask != 0) {
		const unsigned next = cheapest_arm(&seen->info, mask);
		const float cost_us = nt_key_info_predicted_us(&seen->info, next);

		mask &= ~(1u << next);
		if (limited && count > 0 && cost_us > limit_us)
			break;
		if (!is_ll_hopeless(next, nt_evaluation_bytes(seen), cost_us, baseline_us))
			arm[count++] = (uint16_t)next;
	}
	return count;
}

unsigned nt_screen_blocks(const struct nt_policy *policy, const struct nt_key_info *info)
{
	const unsigned most = (unsigned)policy->screen_blocks;

	return (nt_warm_rare(policy, info) && most > RARE_BLOCKS ? RARE_BLOCKS : most) +
	       NT_SCHEDULE_WARM_UP;
}

void nt_screen_open(const struct nt_evaluation *seen, struct nt_next *next)
{
	const struct nt_comparison nothing = { .p = 1, .verdict = NT_VERDICT_ALONE };
	const struct nt_comparison over_budget = { .p = 1, .verdict = NT_VERDICT_BUDGET };
	uint16_t arm[NT_PAIRS];
	const unsigned count = candidates(seen, arm);
	const struct nt_schedule schedule = nt_evaluation_explore(seen, NT_SCHEDULE_SCREEN, arm,
								  count, seen->first_blocks);

	next->schedule = schedule;
	if (schedule.count < 2)
		nt_next_conclude(next, &seen->screen, NT_ARM_BASELINE, &nothing);
	else if (!nt_next_explore(seen, &schedule, next))
		nt_next_conclude(next, seen->rechecks ? &seen->recheck : &seen->screen,
				 NT_ARM_BASELINE, &over_budget);
}

void nt_screen_samples(const struct nt_evaluation *seen, struct nt_next *next)
{
	const struct nt_comparison too_few = { .p = 1, .verdict = NT_VERDICT_SAMPLES };
	const unsigned most = NT_SCREEN_ROUNDS + (seen->refined ? 1 : 0);

	if (nt_evaluation_next_best(seen, &seen->screen, 0) != 0 &&
	    nt_evaluation_enough(seen, nt_evidence_samples(&seen->screen, 0)))
		return;
	if (seen->rounds[NT_SCHEDULE_SCREEN] >= most ||
	    !nt_next_explore(seen, &seen->schedule, next))
		nt_next_conclude(next, &seen->screen, NT_ARM_BASELINE, &too_few);
}

/* Mean of the arms' spreads, relative to their fastest samples. */
static double mean_spread(const struct nt_evidence *e)
{
	double sum = 0;

	for (unsigned i = 0; i < e->count; i++) {
		double low = nt_sample_quantile(e->us[i], e->blocks, 0);

		if (low > 0)
			sum += nt_sample_quantile(e->us[i], e->blocks, 1) / low - 1;
	}
	return sum / e->count;
}

/* A first round that should have been wider. */
static bool too_narrow(const struct nt_evaluation *seen)
{
	return seen->screen.blocks < (unsigned)seen->policy->screen_blocks &&
	       mean_spread(&seen->screen) >= QUIET;
}

/* Do all arms fit into a second round, for which so many more blocks would leave too little
 * time? A replay knows the length of the next round instead of the time. */
static bool better_confirmed(const struct nt_evaluation *seen, unsigned more)
{
	const unsigned fit = nt_time_budget_blocks(seen, seen->screen.count);

	if (seen->screen.count - 1 > NT_CONFIRM_ARMS)
		return false;
	if (seen->info.blocks > 0)
		return seen->info.blocks != more;
	return fit >= LEAST_FIT &&
	       fit < more + (unsigned)seen->policy->confirm_blocks + ROUND_BLOCKS;
}

void nt_screen_widen(const struct nt_evaluation *seen, struct nt_next *next)
{
	const struct nt_evidence *e = &seen->screen;
	const unsigned wanted = (unsigned)seen->policy->screen_blocks;
	struct nt_schedule schedule;
	unsigned more;

	if (!too_narrow(seen))
		return;
	more = wanted - e->blocks + NT_SCHEDULE_WARM_UP;
	if (better_confirmed(seen, more))
		return;
	schedule = nt_evaluation_explore(seen, NT_SCHEDULE_SCREEN, &e->arm[1], e->count - 1, more);
	(void)nt_next_explore(seen, &schedule, next);
}

/* Arms that more samples could find faster, best first, and always the committed arm. Returns their
 * number, and the saving per call that is possible. */
static unsigned finalists(const struct nt_evaluation *seen, uint16_t *arm, double *hoped_us)
{
	const struct nt_evidence *e = &seen->screen;
	const bool unclear = too_narrow(seen) && e->count - 1 <= NT_CONFIRM_ARMS;
	uint32_t taken = 0;
	unsigned count = 0;

	if (seen->rechecks)
		arm[count++] = seen->current;
	while (count < NT_CONFIRM_ARMS) {
		unsigned i = nt_evaluation_next_best(seen, e, taken);

		if (i == 0)
			break;
		taken |= 1u << i;
		if (seen->rechecks && e->arm[i] == seen->current)
			continue;
		if (!unclear && !nt_compare_could_win(nt_evaluation_min_gain(seen, e), e->us[0],
						      e->us[i], e->blocks))
			continue;
		arm[count++] = e->arm[i];
		*hoped_us = fmax(*hoped_us,
				 unclear ? INFINITY
					 : nt_compare_hoped_us(e->us[0], e->us[i], e->blocks));
	}
	return count;
}

/* The best arm, untested. */
static void conclude_untested(const struct nt_evaluation *seen, enum nt_verdict verdict,
			      struct nt_next *next)
{
	const struct nt_evidence *e = &seen->screen;
	const struct nt_gates gates = { .min_gain = nt_evaluation_min_gain(seen, e), .tests = 1 };
	const unsigned best = nt_evaluation_next_best(seen, e, 0);
	struct nt_comparison comparison;

	nt_compare(&gates, e->us[0], e->us[best], e->blocks, &comparison);
	comparison.p = 1;
	comparison.verdict = verdict;
	nt_next_conclude(next, e, e->arm[best], &comparison);
}

void nt_screen(const struct nt_evaluation *seen, struct nt_next *next)
{
	uint16_t arm[NT_CONFIRM_ARMS];
	double hoped_us = 0;
	const unsigned count = finalists(seen, arm, &hoped_us);
	struct nt_schedule schedule;

	if (count == 0) {
		conclude_untested(seen, NT_VERDICT_SCREENED, next);
		return;
	}
	schedule = nt_confirm_first(seen, arm, count);
	if (!nt_budget_worth(seen, &seen->screen, &schedule, hoped_us) ||
	    !nt_next_explore(seen, &schedule, next))
		conclude_untested(seen, NT_VERDICT_BUDGET, next);
}
