/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* confirm.c - the second round: AUTO and the arms that looked better, and only this is evidence
 *
 * Where samples are missing or the answer is near, it is repeated, and the evidence pooled; the
 * test pays for all looks from the start. In a race the first rounds are evidence too.
 */
#include "engine/confirm.h"

#include <math.h>
#include <string.h>
#include "engine/budget.h"
#include "engine/patience.h"
#include "engine/savings.h"

#define CLEAR_LEAD 0.02 /* of an arm that may yet prove faster: worth another look */

#define LEAST_BLOCKS 16 /* of a round that there is little time for */

/* Blocks that there is time for, or was. */
static unsigned in_time(const struct nt_case *seen, unsigned blocks, unsigned arms)
{
	const unsigned fit = nt_patience_blocks(seen, arms);

	if (seen->known.blocks > NT_SCHEDULE_WARM_UP)
		return seen->known.blocks - NT_SCHEDULE_WARM_UP;
	if (fit >= blocks + NT_SCHEDULE_WARM_UP)
		return blocks;
	return fit > NT_SCHEDULE_WARM_UP ? fit - NT_SCHEDULE_WARM_UP : 0;
}

static unsigned least_blocks(const struct nt_case *seen)
{
	return seen->second_blocks < LEAST_BLOCKS ? seen->second_blocks : LEAST_BLOCKS;
}

struct nt_schedule nt_confirm_round(const struct nt_case *seen, const uint16_t *arm, unsigned count)
{
	unsigned blocks = in_time(seen, seen->second_blocks, 1 + count);

	if (blocks < least_blocks(seen))
		blocks = least_blocks(seen);
	return nt_case_explore(seen, NT_SCHEDULE_CONFIRM, arm, count, blocks + NT_SCHEDULE_WARM_UP);
}

/* All the evidence that is gathered. */
static unsigned most_blocks(const struct nt_case *seen)
{
	const unsigned blocks = (unsigned)seen->second_blocks << (NT_CONFIRM_LOOKS - 1);

	return blocks < NT_EVIDENCE_BLOCKS ? blocks : NT_EVIDENCE_BLOCKS;
}

/* As many blocks as all before: what one look leaves open, a little more evidence does not close,
 * and for each look the nodes take some calls to agree. In a race, as many as in the first. */
static unsigned further_blocks(const struct nt_case *seen, bool race)
{
	const unsigned have = seen->confirm.blocks, most = most_blocks(seen);
	unsigned blocks = have < most - have ? have : most - have;

	if (race)
		return seen->second_blocks;
	return blocks < UINT8_MAX - NT_SCHEDULE_WARM_UP ? blocks : UINT8_MAX - NT_SCHEDULE_WARM_UP;
}

/* Can a further look be paid for? Two arms are the least that one takes. */
static bool affordable(const struct nt_case *seen)
{
	const struct nt_schedule least = nt_confirm_round(seen, &seen->schedule.arm[1], 1);

	return nt_budget_allows(seen, &least, 0);
}

static bool last_look(const struct nt_case *seen)
{
	return seen->rounds[NT_SCHEDULE_CONFIRM] >= NT_CONFIRM_LOOKS ||
	       seen->confirm.blocks >= most_blocks(seen) || !affordable(seen);
}

/* The times of an arm in first rounds, then in second ones. */
static unsigned join(const struct nt_case *seen, unsigned arm, float us[NT_SAMPLES_MAX])
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

/* By the evidence that the gates want. */
static void compare(const struct nt_case *seen, const struct nt_gates *gates, unsigned i,
		    struct nt_comparison *out)
{
	const struct nt_evidence *e = &seen->confirm;
	float base_us[NT_SAMPLES_MAX], arm_us[NT_SAMPLES_MAX];

	if (!gates->anytime) {
		nt_compare(gates, e->us[0], e->us[i], e->blocks, out);
		return;
	}
	(void)join(seen, NT_ARM_AUTO, base_us);
	nt_compare(gates, base_us, arm_us, join(seen, e->arm[i], arm_us), out);
}

void nt_confirm_look(const struct nt_case *seen, const struct nt_gates *gates, unsigned i,
		     struct nt_comparison *out)
{
	const struct nt_evidence *e = &seen->confirm;

	compare(seen, gates, i, out);
	if (!nt_case_enough(seen, out->base.samples))
		out->verdict = NT_VERDICT_SAMPLES;
	else if (out->verdict == NT_VERDICT_FASTER &&
		 nt_compare_behind(e->period_us[0], e->period_us[i], e->blocks, gates->alpha))
		out->verdict = NT_VERDICT_PERIOD;
}

/* Could the arm be found faster at a further look? */
static bool open_still(const struct nt_gates *gates, const struct nt_comparison *comparison)
{
	return comparison->verdict == NT_VERDICT_SAMPLES ||
	       (comparison->verdict != NT_VERDICT_PERIOD &&
		nt_compare_promising(gates, comparison));
}

/* A faster arm before any other, then one that was measured, then the larger gain. */
static bool better(const struct nt_comparison *a, const struct nt_comparison *b)
{
	if ((a->verdict == NT_VERDICT_FASTER) != (b->verdict == NT_VERDICT_FASTER))
		return a->verdict == NT_VERDICT_FASTER;
	if ((a->verdict == NT_VERDICT_SAMPLES) != (b->verdict == NT_VERDICT_SAMPLES))
		return b->verdict == NT_VERDICT_SAMPLES;
	return a->gain > b->gain;
}

/* What a further look could bring a call, by the best of the arms that are open still. An arm with
 * too few samples may bring anything. */
static double open_us(const struct nt_evidence *e, const struct nt_gates *gates,
		      const struct nt_comparison *of)
{
	double us = 0;

	for (unsigned i = 1; i < e->count; i++) {
		if (open_still(gates, &of[i]))
			us = fmax(us, of[i].verdict == NT_VERDICT_SAMPLES
					      ? INFINITY
					      : of[i].gain * of[i].base.p25_us);
	}
	return us;
}

/* The arms of a further look; 0: there is nothing to look at. */
static unsigned further_arms(const struct nt_evidence *e, const struct nt_gates *gates,
			     const struct nt_comparison *of, unsigned best, uint16_t *arm)
{
	double rival_gain = -1;
	unsigned count = 0;

	for (unsigned i = 1; i < e->count; i++) {
		if (!open_still(gates, &of[i]))
			continue;
		arm[count++] = e->arm[i];
		rival_gain = of[i].gain > rival_gain ? of[i].gain : rival_gain;
	}
	if (of[best].verdict != NT_VERDICT_FASTER)
		return count;
	if (rival_gain <= of[best].gain + CLEAR_LEAD)
		return 0; /* nothing else is in sight */
	arm[count++] = e->arm[best];
	return count;
}

/* One more look at these arms, where there is time for it, it could pay, and the budget allows
 * it. */
static bool look_further(const struct nt_case *seen, const struct nt_gates *gates,
			 const struct nt_comparison *of, const uint16_t *arm, unsigned count,
			 struct nt_next *next)
{
	const unsigned blocks = in_time(seen, further_blocks(seen, gates->anytime), 1 + count);
	const struct nt_schedule further = nt_case_explore(seen, NT_SCHEDULE_CONFIRM, arm, count,
							   blocks + NT_SCHEDULE_WARM_UP);

	return blocks >= least_blocks(seen) &&
	       nt_savings_pay(seen, &seen->confirm, &further, open_us(&seen->confirm, gates, of)) &&
	       nt_next_explore(seen, &further, next);
}

static void judge(const struct nt_case *seen, const struct nt_gates *gates, struct nt_next *next)
{
	const struct nt_evidence *e = &seen->confirm;
	struct nt_comparison of[1 + NT_CONFIRM_ARMS];
	struct nt_gates last = *gates;
	uint16_t arm[NT_CONFIRM_ARMS];
	unsigned best = 1, count;

	for (unsigned i = 1; i < e->count; i++) {
		nt_confirm_look(seen, gates, i, &of[i]);
		if (better(&of[i], &of[best]))
			best = i;
	}
	count = gates->last ? 0 : further_arms(e, gates, of, best, arm);
	if (count == 0) {
		nt_next_conclude(next, e, e->arm[best], &of[best]);
		return;
	}
	if (look_further(seen, gates, of, arm, count, next))
		return;
	last.last = true;
	judge(seen, &last, next);
}

void nt_confirm(const struct nt_case *seen, struct nt_next *next)
{
	const struct nt_gates gates = {
		.min_gain = nt_case_min_gain(seen, &seen->confirm),
		.alpha = (double)seen->policy->alpha_micro / 1e6,
		.tests = (seen->confirm.count - 1) * NT_CONFIRM_PAID,
		.last = last_look(seen),
	};

	judge(seen, &gates, next);
}

/* As many tests as arms were explored: whichever went on, it was seen before. */
void nt_confirm_race(const struct nt_case *seen, struct nt_next *next)
{
	const struct nt_gates gates = {
		.min_gain = nt_case_min_gain(seen, &seen->confirm),
		.alpha = (double)seen->policy->alpha_micro / 1e6,
		.tests = seen->arms - 1,
		.last = seen->confirm.blocks >= NT_CONFIRM_RACE_PAIRS || !affordable(seen),
		.anytime = true,
	};

	judge(seen, &gates, next);
}
