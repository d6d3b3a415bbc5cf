/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/rules/ucb1.h"

#include <math.h>
#include <stdlib.h>

struct pulled {
	unsigned arm, count;
	double us[NT_UCB1_CALLS * (NT_PAIRS + 1)];
};

struct bandit {
	unsigned arms, calls;
	double fastest_us, total_us;
	struct pulled of[NT_PAIRS + 1]; /* AUTO first */
};

static double reward(const struct bandit *bandit, const struct pulled *pulled)
{
	double sum = 0;

	for (unsigned i = 0; i < pulled->count; i++)
		sum += bandit->fastest_us / pulled->us[i];
	return sum / pulled->count;
}

static struct pulled *next(struct bandit *bandit)
{
	struct pulled *best = NULL;
	double highest = 0;

	for (unsigned i = 0; i < bandit->arms; i++) {
		struct pulled *pulled = &bandit->of[i];
		double bound;

		if (pulled->count == 0)
			return pulled;
		bound = reward(bandit, pulled) + sqrt(2 * log(bandit->calls) / pulled->count);
		if (!best || bound > highest) {
			best = pulled;
			highest = bound;
		}
	}
	return best;
}

static void play(struct bandit *bandit, const struct nt_drive_key *key)
{
	while (bandit->calls < NT_UCB1_CALLS * bandit->arms) {
		struct pulled *pulled = next(bandit);
		double us = key->time_us(key->arg, pulled->arm, bandit->calls++);

		pulled->us[pulled->count++] = us;
		bandit->total_us += us;
		if (bandit->fastest_us == 0 || us < bandit->fastest_us)
			bandit->fastest_us = us;
	}
}

bool nt_ucb1_run(const struct nt_drive_key *key, struct nt_driven *out)
{
	struct bandit *bandit = calloc(1, sizeof(*bandit));
	const struct pulled *best;

	if (!bandit)
		return false;
	bandit->of[bandit->arms++].arm = NT_ARM_BASELINE;
	for (unsigned arm = 0; arm < NT_PAIRS; arm++) {
		if (key->mask & (1u << arm))
			bandit->of[bandit->arms++].arm = arm;
	}
	if (bandit->arms > 1)
		play(bandit, key);
	best = &bandit->of[0];
	for (unsigned i = 1; i < bandit->arms; i++) {
		if (bandit->of[i].count > best->count)
			best = &bandit->of[i];
	}
	*out = (struct nt_driven){ .calls = bandit->calls,
				   .samples = bandit->calls,
				   .of_auto = NT_UCB1_CALLS,
				   .us = bandit->total_us };
	out->outcome.best_arm = out->outcome.chosen_arm = (uint16_t)best->arm;
	out->outcome.p = 1;
	out->outcome.samples = (uint16_t)best->count;
	out->outcome.arms = (uint16_t)bandit->arms;
	out->outcome.verdict = best->arm != NT_ARM_BASELINE ? NT_VERDICT_FASTER
			       : bandit->arms > 1	    ? NT_VERDICT_SCREENED
							    : NT_VERDICT_ALONE;
	free(bandit);
	return true;
}
