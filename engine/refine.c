/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The refinement round, and the round that tries variants.
 *
 * After all pairs, a first round of the best two, their variants and the baseline: only times of
 * one round are compared. It must leave enough budget for a second round; otherwise the pairs alone
 * go on. */
#include "engine/refine.h"

#include "engine/budget.h"
#include "engine/confirm.h"

/* No duplicates, nor the pair itself. */
static unsigned add_arm(uint16_t *arm, unsigned count, unsigned most, int new)
{
	if (new < NT_PAIRS || count >= most)
		return count;
	for (unsigned i = 0; i < count; i++) {
		if (arm[i] == new)
			return count;
	}
	arm[count] = (uint16_t) new;
	return count + 1;
}

unsigned nt_refine_pair(const struct nt_channels *seen, int pair, uint16_t *arm, unsigned most)
{
	const unsigned given = seen->given[pair];
	const unsigned wish[] = { given / 2, 2 * given, given / 4 };
	unsigned count = 0;

	if (given == 0 || seen->ranks == 0 || !nt_pair_takes_channels(pair))
		return 0;
	for (unsigned i = 0; i < 3; i++) {
		const unsigned channels = wish[i] < seen->most ? wish[i] : seen->most;
		const int capped = nt_arm_make(pair, channels);

		if (channels != 0 && nt_arm_channels(capped) != given)
			count = add_arm(arm, count, most, capped);
	}
	return count;
}

/* A screened arm and variants of its pair. */
struct variants {
	uint16_t arm[NT_SCHEDULE_ARMS - 1];
	unsigned count, made;
};

static void add_variants(const struct nt_key_info *info, unsigned arm, struct variants *w)
{
	const unsigned most = sizeof(w->arm) / sizeof(w->arm[0]);
	const unsigned pair = arm == NT_ARM_BASELINE ? info->baseline_arm : arm;
	unsigned made;

	if (arm != NT_ARM_BASELINE && w->count < most)
		w->arm[w->count++] = (uint16_t)arm;
	if (pair >= NT_PAIRS || info->forbidden >> pair & 1)
		return;
	made = nt_refine_pair(&info->channels, (int)pair, w->arm + w->count, most - w->count);
	w->count += made;
	w->made += made;
}

/* Indices of the best two arms, the baseline perhaps among them. */
static void best_two(const struct nt_evaluation *seen, unsigned index[2])
{
	const struct nt_evidence *e = &seen->screen;
	const unsigned first = nt_evaluation_next_best(seen, e, 0);
	const unsigned second = nt_evaluation_next_best(seen, e, 1u << first);
	const double baseline_us = nt_evidence_p25_us(e, 0);

	index[0] = 0;
	index[1] = first;
	if (nt_evidence_p25_us(e, first) < baseline_us) {
		index[0] = first;
		index[1] = second != 0 && nt_evidence_p25_us(e, second) < baseline_us ? second : 0;
	}
}

/* This round, and a second one. */
static bool allows_both(const struct nt_evaluation *seen, const struct nt_schedule *schedule)
{
	const uint32_t blocks = (uint32_t)seen->policy->confirm_blocks + NT_SCHEDULE_WARM_UP;

	return nt_budget_allows(seen, schedule, (1 + NT_CONFIRM_ARMS) * blocks);
}

void nt_refine(const struct nt_evaluation *seen, struct nt_next *next)
{
	struct variants w = { .count = 0 };
	struct nt_schedule schedule;
	unsigned index[2];

	if (seen->refined || seen->policy->channels != NT_SWITCH_ON)
		return;
	best_two(seen, index);
	for (unsigned i = 0; i < 2; i++)
		add_variants(&seen->info, seen->screen.arm[index[i]], &w);
	schedule = nt_evaluation_explore(seen, NT_SCHEDULE_SCREEN, w.arm, w.count,
					 seen->first_blocks);
	if (w.made == 0 || !allows_both(seen, &schedule))
		return;
	next->what = NT_NEXT_EXPLORE;
	next->schedule = schedule;
	next->refined = w.made;
}
