/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* If samples are missing or the result is close, the round is repeated and the evidence pooled; the
 * test allows for all looks from the start. */
#include "engine/confirm.h"

#include <math.h>
#include "engine/budget.h"
#include "engine/time-budget.h"

#define CLEAR_LEAD 0.02 /* an arm with so much more gain may turn out faster: look again */

#define EARLY_GAIN 0.15 /* share of a call's own time */
#define LOOK_BLOCKS 4u /* cost of an early look */
#define LEAST_BLOCKS 16 /* of a round when time is short */

/* Evidence at the first look, if it is not an early one. */
static unsigned full_blocks(const struct nt_evaluation *seen)
{
	return (unsigned)seen->policy->confirm_blocks;
}

/* Blocks for which there is, or was, time. */
static unsigned in_time(const struct nt_evaluation *seen, unsigned blocks, unsigned arms)
{
	const unsigned fit = nt_time_budget_blocks(seen, arms);

	if (seen->info.blocks > NT_SCHEDULE_WARM_UP)
		return seen->info.blocks - NT_SCHEDULE_WARM_UP;
	if (fit >= blocks + NT_SCHEDULE_WARM_UP)
		return blocks;
	return fit > NT_SCHEDULE_WARM_UP ? fit - NT_SCHEDULE_WARM_UP : 0;
}

/* Least blocks of a round that should have `wanted`. */
static unsigned least_of(unsigned wanted)
{
	return wanted < LEAST_BLOCKS ? wanted : LEAST_BLOCKS;
}

/* Evidence at the early looks. */
static unsigned first_early(const struct nt_evaluation *seen)
{
	return full_blocks(seen) / 2;
}

static unsigned second_early(const struct nt_evaluation *seen)
{
	return full_blocks(seen) * 2 / 3;
}

/* A round of `wanted` blocks, or as many as there is time for. */
static struct nt_schedule round_of(const struct nt_evaluation *seen, const uint16_t *arm,
				   unsigned count, unsigned wanted)
{
	const unsigned least = least_of(wanted);
	unsigned blocks = in_time(seen, wanted, 1 + count);

	if (blocks < least)
		blocks = least;
	return nt_evaluation_explore(seen, NT_SCHEDULE_CONFIRM, arm, count,
				     blocks + NT_SCHEDULE_WARM_UP);
}

struct nt_schedule nt_confirm_round(const struct nt_evaluation *seen, const uint16_t *arm,
				    unsigned count)
{
	return round_of(seen, arm, count, full_blocks(seen));
}

static bool called_rarely(const struct nt_key_info *info)
{
	return info->age_us > 0 && (double)info->calls * NT_CONFIRM_RARE_US < info->age_us;
}

struct nt_schedule nt_confirm_first(const struct nt_evaluation *seen, const uint16_t *arm,
				    unsigned count)
{
	/* A look costs a warm-up, and some calls until nodes agree: none if these would be missing
	 * in the end. */
	const bool further = nt_time_budget_blocks(seen, 1 + count) >=
			     full_blocks(seen) + LOOK_BLOCKS;

	if (further && !called_rarely(&seen->info))
		return nt_confirm_round(seen, arm, count);
	return round_of(seen, arm, count, further ? first_early(seen) : full_blocks(seen) - 1);
}

bool nt_confirm_is_early(const struct nt_evaluation *seen, const struct nt_schedule *round)
{
	return round->blocks <= first_early(seen) + NT_SCHEDULE_WARM_UP;
}

bool nt_confirm_is_only(const struct nt_evaluation *seen, const struct nt_schedule *round)
{
	const struct nt_schedule usual = nt_evaluation_explore(
		seen, NT_SCHEDULE_CONFIRM, &round->arm[1], round->count - 1u,
		full_blocks(seen) + NT_SCHEDULE_WARM_UP);

	/* One of the least blocks is for a key whose time is over, or was not known yet. */
	return round->blocks < usual.blocks &&
	       round->blocks > least_of(full_blocks(seen)) + NT_SCHEDULE_WARM_UP;
}

/* All that can be gathered. */
static unsigned most_blocks(const struct nt_evaluation *seen)
{
	const unsigned blocks = full_blocks(seen) << (NT_CONFIRM_LOOKS - 1);

	return blocks < NT_EVIDENCE_BLOCKS ? blocks : NT_EVIDENCE_BLOCKS;
}

/* An early look, as only rarely called keys have. */
static bool early_look(const struct nt_evaluation *seen)
{
	return seen->early && seen->confirm.blocks < full_blocks(seen);
}

/* Each round costs some calls until nodes agree: is there time for no more rounds than needed? */
static bool time_presses(const struct nt_evaluation *seen)
{
	return nt_time_budget_blocks(seen, seen->confirm.count) < 2 * full_blocks(seen);
}

/* As many blocks as before: little more evidence does not settle what a look left open, and each
 * look costs some calls until nodes agree. */
static unsigned further_blocks(const struct nt_evaluation *seen)
{
	const unsigned have = seen->confirm.blocks, most = most_blocks(seen);
	const unsigned blocks = have < most - have ? have : most - have;

	if (early_look(seen) && have < second_early(seen) && !time_presses(seen))
		return second_early(seen) - have;
	if (early_look(seen))
		return full_blocks(seen) - have;
	return blocks < UINT8_MAX - NT_SCHEDULE_WARM_UP ? blocks : UINT8_MAX - NT_SCHEDULE_WARM_UP;
}

static bool is_affordable(const struct nt_evaluation *seen)
{
	const struct nt_schedule least = nt_confirm_round(seen, &seen->schedule.arm[1], 1);

	return nt_budget_allows(seen, &least, 0);
}

static bool last_look(const struct nt_evaluation *seen)
{
	const unsigned looks = NT_CONFIRM_LOOKS + (seen->early ? NT_CONFIRM_EARLY_LOOKS : 0);

	return seen->only || seen->rounds[NT_SCHEDULE_CONFIRM] >= looks ||
	       seen->confirm.blocks >= most_blocks(seen) || !is_affordable(seen);
}

/* Is the arm's slowest rank behind the baseline's? */
static bool slowest_behind(const struct nt_evidence *e, unsigned i, double alpha)
{
	const float(*us)[NT_EVIDENCE_BLOCKS] = e->measured_us[NT_MEASURE_SLOWEST];

	return e->measure != NT_MEASURE_SLOWEST &&
	       nt_compare_behind(us[0], us[i], e->blocks, alpha);
}

static bool is_vetoed(const struct nt_comparison *comparison)
{
	return comparison->verdict == NT_VERDICT_PERIOD ||
	       comparison->verdict == NT_VERDICT_SLOWEST;
}

void nt_confirm_look(const struct nt_evaluation *seen, const struct nt_gates *gates, unsigned i,
		     struct nt_comparison *out)
{
	const struct nt_evidence *e = &seen->confirm;

	nt_compare(gates, e->us[0], e->us[i], e->blocks, out);
	if (!nt_evaluation_enough(seen, out->baseline.samples))
		out->verdict = NT_VERDICT_SAMPLES;
	else if (out->verdict == NT_VERDICT_FASTER &&
		 nt_compare_behind(e->period_us[0], e->period_us[i], e->blocks, gates->alpha))
		out->verdict = NT_VERDICT_PERIOD;
	else if (out->verdict == NT_VERDICT_FASTER && slowest_behind(e, i, gates->alpha))
		out->verdict = NT_VERDICT_SLOWEST;
}

/* Could another look find the arm faster? */
static bool open_still(const struct nt_evaluation *seen, const struct nt_gates *gates,
		       const struct nt_comparison *comparison)
{
	if (early_look(seen) && comparison->verdict != NT_VERDICT_FASTER)
		return seen->confirm.blocks < second_early(seen) || comparison->exact_p < 1;
	return comparison->verdict == NT_VERDICT_SAMPLES ||
	       (!is_vetoed(comparison) && nt_compare_promising(gates, comparison));
}

/* FASTER first, then arms with samples, then the larger gain. */
static bool is_better(const struct nt_comparison *a, const struct nt_comparison *b)
{
	if ((a->verdict == NT_VERDICT_FASTER) != (b->verdict == NT_VERDICT_FASTER))
		return a->verdict == NT_VERDICT_FASTER;
	if ((a->verdict == NT_VERDICT_SAMPLES) != (b->verdict == NT_VERDICT_SAMPLES))
		return b->verdict == NT_VERDICT_SAMPLES;
	return a->gain > b->gain;
}

/* What another look could save per call, by the best undecided arm. Not limited where samples are
 * missing, nor at early looks, whose pairs were all found to pay. */
static double open_us(const struct nt_evaluation *seen, const struct nt_gates *gates,
		      const struct nt_comparison *of)
{
	const struct nt_evidence *e = &seen->confirm;
	double us = 0;

	for (unsigned i = 1; i < e->count; i++) {
		if (open_still(seen, gates, &of[i]))
			us = fmax(us, of[i].verdict == NT_VERDICT_SAMPLES || early_look(seen)
					      ? INFINITY
					      : of[i].gain * of[i].baseline.p25_us);
	}
	return us;
}

/* Arms for another look; 0: none. */
static unsigned further_arms(const struct nt_evaluation *seen, const struct nt_gates *gates,
			     const struct nt_comparison *of, unsigned best, uint16_t *arm)
{
	const struct nt_evidence *e = &seen->confirm;
	double rival_gain = -1;
	unsigned count = 0;

	for (unsigned i = 1; i < e->count; i++) {
		if (!open_still(seen, gates, &of[i]))
			continue;
		arm[count++] = e->arm[i];
		rival_gain = of[i].gain > rival_gain ? of[i].gain : rival_gain;
	}
	if (of[best].verdict != NT_VERDICT_FASTER)
		return count;
	if (rival_gain <= of[best].gain + CLEAR_LEAD)
		return 0; /* no other arm may win */
	arm[count++] = e->arm[best];
	return count;
}

/* Look again if there is time and budget, and it could pay. */
static bool look_further(const struct nt_evaluation *seen, const struct nt_gates *gates,
			 const struct nt_comparison *of, const uint16_t *arm, unsigned count,
			 struct nt_next *next)
{
	const unsigned blocks = in_time(seen, further_blocks(seen), 1 + count);
	const struct nt_schedule further = nt_evaluation_explore(
		seen, NT_SCHEDULE_CONFIRM, arm, count, blocks + NT_SCHEDULE_WARM_UP);

	return blocks >= (early_look(seen) ? 1 : least_of(full_blocks(seen))) &&
	       nt_budget_worth(seen, &seen->confirm, &further, open_us(seen, gates, of)) &&
	       nt_next_explore(seen, &further, next);
}

static void judge_arms(const struct nt_evaluation *seen, const struct nt_gates *gates,
		       struct nt_next *next)
{
	const struct nt_evidence *e = &seen->confirm;
	struct nt_comparison of[1 + NT_CONFIRM_ARMS];
	struct nt_gates last = *gates;
	uint16_t arm[NT_CONFIRM_ARMS];
	unsigned best = 1, count;

	for (unsigned i = 1; i < e->count; i++) {
		nt_confirm_look(seen, gates, i, &of[i]);
		if (is_better(&of[i], &of[best]))
			best = i;
	}
	count = gates->last ? 0 : further_arms(seen, gates, of, best, arm);
	if (count == 0) {
		nt_next_conclude(next, e, e->arm[best], &of[best]);
		return;
	}
	if (look_further(seen, gates, of, arm, count, next))
		return;
	last.last = true;
	last.early_us = 0;
	judge_arms(seen, &last, next);
}

/* Twelve pairs do not show that an arm stalls in one call of seven, in one case of six. They need
 * not if the arm is so much faster that it would hardly lose by that. */
static double early_gain_us(const struct nt_evaluation *seen)
{
	return EARLY_GAIN * nt_evaluation_own_share(seen, &seen->confirm) *
	       nt_evidence_p25_us(&seen->confirm, 0);
}

void nt_confirm(const struct nt_evaluation *seen, struct nt_next *next)
{
	const struct nt_gates gates = {
		.early_us = early_look(seen) && !last_look(seen) ? early_gain_us(seen) : 0,
		.min_gain = nt_evaluation_min_gain(seen, &seen->confirm),
		.of_us = nt_evidence_p25_us(&seen->confirm, 0),
		.alpha = (double)seen->policy->alpha_micro / 1e6,
		.tests = (seen->confirm.count - 1) *
			 (seen->only ? NT_CONFIRM_PAID_ONLY : NT_CONFIRM_PAID),
		.last = last_look(seen),
	};

	judge_arms(seen, &gates, next);
}
