/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* budget.c - what exploring a key has cost beyond AUTO, and whether one more round may be paid for
 *
 * Looked at between rounds, at home. What a round is going to cost is expected from what its arms
 * took so far or, where nothing is known yet, from NCCL's predictions. So one round whose arms are
 * far slower than expected can pass the limit, and no round follows it.
 */
#include "tuner/engine_state.h"

#define SHARE 100000000u /* millionths of a percent in 1 */

uint64_t budget_calls(const struct nt_board_key *key)
{
	uint64_t calls = 0;

	for (unsigned m = 0; m < NT_BOARD_MEMBERS; m++) {
		uint64_t of_member = atomic_load(&key->calls[m]);

		if (of_member > calls)
			calls = of_member;
	}
	return calls;
}

/* Begin only where the first two rounds fit; another's rule has one. */
bool budget_worth(const struct nt_policy *policy, const struct nt_board_key *key, uint32_t mask)
{
	uint64_t arms = 1 + (uint64_t)__builtin_popcount(mask);
	const struct nt_named *named = nt_rule_named(policy->rule);
	uint64_t calls;

	if (policy->budget_micro == 0)
		return true;
	if (arms > NT_SCHEDULE_ARMS)
		arms = NT_SCHEDULE_ARMS;
	calls = arms * ((uint64_t)policy->screen_blocks + NT_SCHEDULE_WARM_UP) +
		(1 + NT_ENGINE_FINALISTS) *
			((uint64_t)policy->confirm_blocks + NT_SCHEDULE_WARM_UP);
	if (named)
		calls = arms * named->blocks;
	return budget_calls(key) * (uint64_t)policy->budget_micro >= calls * SHARE;
}

/* Median of what was measured of an arm, the newest kind of round first; 0: nothing. */
static double median_of(const struct engine_key *key, unsigned arm)
{
	const struct evidence *const kinds[] = { &key->confirm, &key->screen, &key->recheck };
	double us = 0;

	for (unsigned k = 0; k < 3 && us <= 0; k++) {
		for (unsigned i = 0; i < kinds[k]->count && us <= 0; i++) {
			if (kinds[k]->arm[i] == arm)
				us = nt_decide_quantile(kinds[k]->us[i], kinds[k]->blocks, 0.5);
		}
	}
	return us;
}

/* What a call of this arm takes longer than one of AUTO. */
static double extra_us(const struct engine_key *key, unsigned arm)
{
	double us = median_of(key, arm), auto_us = median_of(key, NT_ARM_AUTO);

	if (us <= 0 || auto_us <= 0) {
		us = engine_predicted(key, arm);
		auto_us = engine_predicted(key, key->auto_arm);
	}
	return arm == NT_ARM_AUTO || us < 0 || auto_us < 0 || us < auto_us ? 0 : us - auto_us;
}

double budget_spent_us(const struct engine_key *key, const struct evidence *evidence)
{
	double auto_us = nt_decide_quantile(evidence->us[0], evidence->blocks, 0.5);

	return auto_us > 0 ? key->explored_us - key->explored * auto_us : 0;
}

bool budget_allows(const struct engine_key *key)
{
	const struct nt_policy *policy = &key->engine->policy;
	const struct nt_schedule *s = &key->schedule;
	uint32_t calls = key->spent_calls + nt_schedule_positions(s);
	double auto_us = median_of(key, NT_ARM_AUTO);
	double us = auto_us > 0 ? key->explored_us - key->explored * auto_us : 0;
	double share = (double)policy->budget_micro / SHARE;
	double past = (double)budget_calls(key->board_key);

	for (unsigned i = 0; i < s->count; i++)
		us += s->blocks * extra_us(key, s->arm[i]);
	if (policy->max_calls > 0 && calls > policy->max_calls)
		return false;
	if (policy->max_extra_ms > 0 && us > (double)policy->max_extra_ms * 1000)
		return false;
	if (share > 0 && (calls > share * past || (auto_us > 0 && us > share * past * auto_us)))
		return false;
	return true;
}
