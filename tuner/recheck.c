/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* recheck.c - is the arm that was chosen still the one to have?
 *
 * A short window measures AUTO and the arm in turn. Where the arm is no longer ahead, a second one
 * must say so too; then all arms are explored anew, while the arm stays in force between windows.
 * What comes of that is by the rule that chose the arm: an arm that is faster than AUTO, the same
 * or another. If there is none, the arm is given up where AUTO is ahead of it beyond chance.
 */
#include "tuner/engine_state.h"

#include "tuner/matched.h"

#define RECHECK_BLOCKS 16 /* of the first window; the second has twice as many */
#define RECHECKS 2
#define DOUBT_P 0.05 /* of the arm's being slow more often, or slower on average */
#define BEHIND_P 0.05 /* of the same, or of its being slower at best, in the end */

bool recheck_worth(void *arg, const struct nt_board_comm *comm, const struct nt_plan *base)
{
	struct nt_schedule s;

	(void)arg;
	return !engine_flagged(comm, UINT32_MAX) &&
	       nt_schedule_read(&s, base->payload, base->payload_bytes) == 0 &&
	       s.kind == NT_SCHEDULE_FINAL && s.arm[0] != NT_ARM_AUTO;
}

static void plan_recheck(struct engine_key *key)
{
	unsigned blocks = RECHECK_BLOCKS << key->rounds[NT_SCHEDULE_RECHECK];

	key->schedule = (struct nt_schedule){
		.kind = NT_SCHEDULE_RECHECK,
		.count = 2,
		.blocks = (uint8_t)(blocks + NT_SCHEDULE_WARM_UP),
		.arm = { NT_ARM_AUTO, key->current },
	};
}

void *recheck_start(void *arg, const struct nt_board_comm *comm,
		    const struct nt_board_key *board_key, const struct nt_plan *base)
{
	struct nt_schedule s;
	struct engine_key *key;

	if (nt_schedule_read(&s, base->payload, base->payload_bytes) < 0)
		return NULL;
	key = engine_key_make(arg, comm, board_key);
	if (!key)
		return NULL;
	key->again = true;
	key->current = s.arm[0];
	plan_recheck(key);
	return key;
}

/* Is it no longer ahead in its lower quartile, or slow more often? */
static bool doubtful(const float *base, const float *arm, unsigned count)
{
	struct nt_matched pairs, other;

	nt_matched_take(&pairs, base, arm, count);
	nt_matched_take(&other, arm, base, count);
	return nt_decide_quantile(pairs.arm, pairs.count, 0.25) >=
		       nt_decide_quantile(pairs.base, pairs.count, 0.25) ||
	       nt_matched_slow_p(&pairs) < DOUBT_P || nt_matched_mean_p(&other) < DOUBT_P;
}

int recheck_next(struct engine_key *key, struct nt_plan *plan)
{
	struct evidence *e = &key->recheck;
	unsigned windows = key->rounds[NT_SCHEDULE_RECHECK];
	unsigned from = windows < RECHECKS ? 0 : RECHECK_BLOCKS, count = e->blocks - from;

	if (!key->running) {
		key->running = true;
		return engine_explore(key, plan);
	}
	if (!engine_enough(key, nt_decide_figures(e->us[0] + from, count).samples) ||
	    !engine_enough(key, nt_decide_figures(e->us[1] + from, count).samples) ||
	    (!doubtful(e->us[0] + from, e->us[1] + from, count) &&
	     !engine_behind(e->period_us[0] + from, e->period_us[1] + from, count, DOUBT_P)))
		return 0;
	if (windows < RECHECKS) {
		plan_recheck(key);
		return engine_explore(key, plan);
	}
	engine_plan_screen(key);
	key->running = false;
	return -1;
}

int recheck_conclude(struct engine_key *key, struct evidence *evidence, unsigned arm,
		     const struct nt_contest *contest, struct nt_plan *plan)
{
	const struct nt_rule rule = { .alpha = BEHIND_P, .tests = 1, .last = true };
	const float *current = engine_evidence(evidence, key->current);
	struct nt_contest now;

	if (contest->verdict == NT_VERDICT_FASTER && arm == key->current)
		return 0;
	if (contest->verdict == NT_VERDICT_FASTER ||
	    (contest->verdict == NT_VERDICT_PERIOD && arm == key->current))
		return engine_commit(key, evidence, arm, contest, plan);
	if (!current)
		return 0;
	nt_decide_contest(&rule, evidence->us[0], current, evidence->blocks, &now);
	if (!engine_enough(key, now.base.samples) ||
	    !engine_behind(evidence->us[0], current, evidence->blocks, BEHIND_P))
		return 0;
	if (now.verdict == NT_VERDICT_FASTER) /* at best: but on the whole it is behind */
		now.verdict = NT_VERDICT_MEAN;
	return engine_commit(key, evidence, key->current, &now, plan);
}
