/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* End rounds, ask the judges, build schedules. */
#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>
#include "engine/confirm.h"
#include "engine/matched.h"
#include "engine/refine.h"
#include "engine/screen.h"
#include "engine/times.h"
#include "engine/warmstart.h"

struct nt_engine_key {
	struct nt_engine *engine;
	struct nt_evaluation seen;
	/* times of the newest round, by block and position in its arm[] */
	uint16_t sample[NT_TIMES_MAX];
	struct nt_history *history; /* NULL: not kept */
};

bool nt_engine_may_open(const struct nt_engine *engine, const struct nt_key_info *info)
{
	const struct nt_policy *policy = &engine->policy;

	return nt_mode_chooses(policy->mode) && !info->captured &&
	       (policy->mode == NT_MODE_POLICY || nt_min_share_met(policy, &info->share)) &&
	       (nt_warm_may_open(policy, info) || nt_warm_may_explore(policy, info));
}

struct nt_policy nt_engine_policy(const struct nt_policy *asked)
{
	struct nt_policy policy = *asked;

	if (policy.mode == NT_MODE_PROFILE) {
		policy.min_calls = 1;
		policy.min_share_micro = 0;
		policy.budget_micro = 0;
		policy.max_calls = 0;
		policy.max_extra_ms = 0;
		policy.recheck_s = 0;
	}
	return policy;
}

bool nt_engine_may_recheck(const struct nt_schedule *committed)
{
	return committed->kind == NT_SCHEDULE_COMMITTED && committed->arm[0] != NT_ARM_BASELINE;
}

static struct nt_engine_key *open_key(struct nt_engine *engine, const struct nt_key_info *info,
				      bool recheck)
{
	struct nt_engine_key *key = calloc(1, sizeof(*key));

	if (!key)
		return NULL;
	key->engine = engine;
	key->seen.policy = &engine->policy;
	key->seen.info = *info;
	key->seen.first_blocks = (uint8_t)nt_screen_blocks(&engine->policy, info);
	key->seen.opened_us = info->age_us;
	key->seen.rechecks = recheck;
	if (engine->policy.reward == NT_REWARD_CALL)
		key->seen.wanted = NT_MEASURE_ALL;
	if (engine->histories)
		key->history = nt_history_create(info, !recheck);
	engine->open++;
	return key;
}

struct nt_engine_key *nt_engine_start(struct nt_engine *engine, const struct nt_key_info *info)
{
	return open_key(engine, info, false);
}

struct nt_engine_key *nt_engine_start_recheck(struct nt_engine *engine,
					      const struct nt_key_info *info, unsigned arm,
					      enum nt_measure measure)
{
	struct nt_engine_key *key = open_key(engine, info, true);

	if (!key)
		return NULL;
	key->seen.current = (uint16_t)arm;
	key->seen.measure = (uint8_t)measure;
	return key;
}

void nt_engine_end(struct nt_engine_key *key)
{
	key->engine->open--;
	nt_history_destroy(key->history);
	free(key);
}

bool nt_engine_for_good(const struct nt_engine_key *key)
{
	return key->seen.policy->mode == NT_MODE_POLICY && !key->seen.rechecks;
}

void nt_engine_absorb(struct nt_engine_key *key, const uint8_t *bytes, size_t count)
{
	nt_times_read(key->sample, &key->seen.schedule, bytes, count);
}

static struct nt_evidence *evidence_of(struct nt_evaluation *seen, unsigned kind)
{
	switch (kind) {
	case NT_SCHEDULE_SCREEN: return &seen->screen;
	case NT_SCHEDULE_CONFIRM: return &seen->confirm;
	default: return &seen->recheck;
	}
}

/* Add the samples of a finished round to its kind's evidence. Warm-up only counts as cost. */
static void close_round(struct nt_engine_key *key)
{
	struct nt_evaluation *seen = &key->seen;
	const struct nt_schedule *s = &seen->schedule;
	struct nt_evidence *evidence = evidence_of(seen, s->kind);

	nt_evidence_add(evidence, s, key->sample);
	if (s->kind == NT_SCHEDULE_SCREEN && seen->wanted != NT_MEASURE_SLOWEST)
		seen->measure = (uint8_t)nt_evidence_steadiest(evidence);
	nt_evidence_use(evidence, (enum nt_measure)seen->measure);
	nt_cost_account_add(&seen->spent.account, s, key->sample);
	seen->spent.calls += nt_schedule_positions(s);
	seen->rounds[s->kind]++;
	if (key->history) {
		nt_history_round(key->history, &key->seen.schedule, key->sample);
		for (unsigned i = 0; i < evidence->count; i++) {
			struct nt_sample_quantiles quantiles = nt_sample_quantiles_of(
				evidence->us[i], evidence->blocks);

			nt_history_quantiles(key->history, evidence->arm[i], &quantiles);
		}
		key->history->spent_calls = seen->spent.calls;
		key->history->spent_ms = (float)(nt_cost_account_us(&seen->spent.account) / 1000);
		nt_histories_keep_so_far(key->engine->histories, key->history);
	}
	memset(key->sample, 0, sizeof(key->sample));
}

/* A short window measures the baseline and the arm. If the arm is no longer ahead, a second window
 * must confirm that; then all arms are explored anew, while the arm stays in force between windows.
 * The same judges decide: for an arm that is faster than the baseline, the same or
 * another. Without one, the arm is dropped if the baseline is significantly faster. Mode policy
 * explores nothing, and only memory supports the arm: it is dropped after the second window.
 * Windows do not count towards the budget. */
#define RECHECK_BLOCKS 16u /* of the first window; the second has twice as many */
#define RECHECK_WINDOWS 2
#define DOUBT_P 0.05 /* of being slow more often, or slower on average */
#define BEHIND_P 0.05 /* the same, or slower at best, in the end */

/* Is the arm no longer ahead, or slow more often? */
static bool is_doubtful(const float *baseline, const float *arm, unsigned count)
{
	struct nt_matched pairs, other;

	nt_matched_take(&pairs, baseline, arm, count);
	nt_matched_take(&other, arm, baseline, count);
	return nt_matched_gain_us(&pairs) <= 0 || nt_matched_slow_p(&pairs) < DOUBT_P ||
	       nt_matched_mean_p(&other) < DOUBT_P;
}

/* Is the newest window evidence against the arm? */
static bool speaks_against(const struct nt_evaluation *seen)
{
	const struct nt_evidence *e = &seen->recheck;
	const unsigned from = seen->rounds[NT_SCHEDULE_RECHECK] < RECHECK_WINDOWS ? 0
										  : RECHECK_BLOCKS;
	const unsigned count = e->blocks - from;
	const float *baseline = e->us[0] + from, *arm = e->us[1] + from;

	return nt_evaluation_enough(seen, nt_sample_quantiles_of(baseline, count).samples) &&
	       nt_evaluation_enough(seen, nt_sample_quantiles_of(arm, count).samples) &&
	       (is_doubtful(baseline, arm, count) ||
		nt_compare_behind(e->period_us[0] + from, e->period_us[1] + from, count, DOUBT_P));
}

/* Two windows were against the arm. */
static void give_up(const struct nt_evaluation *seen, struct nt_next *next)
{
	const struct nt_gates gates = { .alpha = BEHIND_P, .tests = 1, .last = true };
	const struct nt_evidence *e = &seen->recheck;
	struct nt_comparison now;

	nt_compare(&gates, e->us[0], e->us[1], e->blocks, &now);
	if (nt_compare_behind(e->period_us[0], e->period_us[1], e->blocks, DOUBT_P))
		now.verdict = NT_VERDICT_PERIOD;
	else if (now.verdict == NT_VERDICT_FASTER) /* at best; on the whole it is behind */
		now.verdict = NT_VERDICT_MEAN;
	nt_next_conclude(next, e, seen->current, &now);
	next->what = NT_NEXT_ROLL_BACK;
}

static void judge_recheck(const struct nt_evaluation *seen, struct nt_next *next)
{
	const unsigned windows = seen->rounds[NT_SCHEDULE_RECHECK];

	if (!seen->rechecks)
		return;
	if (windows > 0 && !speaks_against(seen)) {
		next->what = NT_NEXT_STAY;
	} else if (windows < RECHECK_WINDOWS) {
		next->what = NT_NEXT_EXPLORE;
		next->schedule = nt_evaluation_explore(seen, NT_SCHEDULE_RECHECK, &seen->current, 1,
						       (RECHECK_BLOCKS << windows) +
							       NT_SCHEDULE_WARM_UP);
	} else if (seen->policy->mode == NT_MODE_POLICY) {
		give_up(seen, next);
	}
}

/* Is the baseline faster than the committed arm, by the evidence of this exploration? */
static bool fell_behind(const struct nt_evaluation *seen, const struct nt_evidence *e,
			struct nt_comparison *now)
{
	const struct nt_gates gates = { .alpha = BEHIND_P, .tests = 1, .last = true };
	const float *current = nt_evidence_of(e, seen->current);

	if (!current)
		return false;
	nt_compare(&gates, e->us[0], current, e->blocks, now);
	return nt_evaluation_enough(seen, now->baseline.samples) &&
	       nt_compare_behind(e->us[0], current, e->blocks, BEHIND_P);
}

/* A committed arm's key was explored anew, with result COMMIT or KEEP. Commit another arm,
 * ROLL_BACK, or STAY? */
static void review_recheck(const struct nt_evaluation *seen, struct nt_next *next)
{
	const bool of_current = next->arm == seen->current;
	struct nt_comparison now;

	if (next->what == NT_NEXT_COMMIT) {
		if (of_current)
			next->what = NT_NEXT_STAY;
		return;
	}
	if (next->comparison.verdict == NT_VERDICT_PERIOD && of_current) {
		next->what = NT_NEXT_ROLL_BACK;
		return;
	}
	next->what = NT_NEXT_STAY;
	if (!fell_behind(seen, next->evidence, &now))
		return;
	if (now.verdict == NT_VERDICT_FASTER) /* at best; on the whole it is behind */
		now.verdict = NT_VERDICT_MEAN;
	nt_next_conclude(next, next->evidence, seen->current, &now);
	next->what = NT_NEXT_ROLL_BACK;
}

static void ask_judges(const struct nt_engine_key *key, struct nt_next *next)
{
	static nt_judge *const before_first[] = { judge_recheck, nt_warm_open, nt_screen_open,
						  NULL };
	static nt_judge *const after_warm[] = { nt_warm_confirm, nt_screen_open, NULL };
	static nt_judge *const after_first[] = { nt_screen_samples, nt_screen_widen, nt_refine,
						 nt_screen, NULL };
	static nt_judge *const after_second[] = { nt_confirm, NULL };
	const unsigned kind = key->seen.schedule.kind;
	nt_judge *const *judge = kind == NT_SCHEDULE_SCREEN    ? after_first
				 : key->seen.warming	       ? after_warm
				 : kind == NT_SCHEDULE_CONFIRM ? after_second
							       : before_first;

	for (; *judge && next->what == NT_NEXT_PASS; judge++)
		(*judge)(&key->seen, next);
}

/* The first round is a second one: of a remembered arm. */
static void begin_warm(struct nt_engine_key *key)
{
	struct nt_evaluation *seen = &key->seen;

	seen->warming = true;
	seen->arms = seen->schedule.count;
	if (key->history)
		nt_history_remember(key->history, seen->schedule.arm[1]);
}

/* A round that is explored, or would have been. */
static void adopt_round(struct nt_engine_key *key, const struct nt_next *next)
{
	struct nt_evaluation *seen = &key->seen;
	const bool first = next->schedule.kind == NT_SCHEDULE_SCREEN &&
			   seen->rounds[NT_SCHEDULE_SCREEN] == 0;

	if (next->schedule.count == 0)
		return;
	seen->schedule = next->schedule;
	if (seen->info.blocks > NT_SCHEDULE_WARM_UP && seen->info.blocks <= UINT8_MAX)
		seen->schedule.blocks = (uint8_t)seen->info.blocks;
	if (next->what == NT_NEXT_EXPLORE && next->schedule.kind == NT_SCHEDULE_CONFIRM &&
	    seen->rounds[NT_SCHEDULE_SCREEN] == 0) {
		begin_warm(key);
	} else if (seen->warming) {
		/* The remembered arm has failed: what was measured is no evidence for the rest. */
		seen->warming = false;
		seen->forgotten++;
		seen->rounds[NT_SCHEDULE_CONFIRM] = 0;
		memset(&seen->confirm, 0, sizeof(seen->confirm));
	}
	if (seen->schedule.kind == NT_SCHEDULE_CONFIRM && !seen->warming &&
	    seen->rounds[NT_SCHEDULE_CONFIRM] == 0) {
		seen->early = nt_confirm_is_early(seen, &seen->schedule);
		seen->only = nt_confirm_is_only(seen, &seen->schedule);
	}
	if (first)
		seen->arms = next->schedule.count;
	if (first && key->history && !seen->rechecks)
		nt_history_screen(key->history, &next->schedule);
	if (next->refined == 0)
		return;
	seen->arms += next->refined;
	seen->refined = true;
	memset(&seen->screen, 0, sizeof(seen->screen));
	if (key->history)
		key->history->channels = seen->info.channels;
}

static enum nt_from from_of(const struct nt_evaluation *seen, const struct nt_next *next)
{
	if (next->comparison.verdict == NT_VERDICT_REMEMBERED)
		return NT_FROM_POLICY;
	return seen->warming && next->what == NT_NEXT_COMMIT ? NT_FROM_WARM : NT_FROM_STEP;
}

static struct nt_outcome outcome_of(const struct nt_evaluation *seen, const struct nt_next *next)
{
	const struct nt_comparison *c = &next->comparison;

	return (struct nt_outcome){
		.verdict = (uint8_t)c->verdict,
		.from = (uint8_t)from_of(seen, next),
		.measure = (uint8_t)next->evidence->measure,
		.baseline_arm = (uint16_t)seen->info.baseline_arm,
		.best_arm = (uint16_t)next->arm,
		.chosen_arm = next->what == NT_NEXT_COMMIT ? (uint16_t)next->arm : NT_ARM_BASELINE,
		.samples = (uint16_t)c->baseline.samples,
		.arms = (uint16_t)seen->arms,
		.p = (float)c->p,
		.baseline_us = (float)c->baseline.median_us,
		.best_us = (float)c->arm.median_us,
		.baseline_p25_us = (float)c->baseline.p25_us,
		.best_p25_us = (float)c->arm.p25_us,
		.baseline_p75_us = (float)c->baseline.p75_us,
		.best_p75_us = (float)c->arm.p75_us,
		.predicted_baseline_us = nt_key_info_predicted_baseline_us(&seen->info),
		.predicted_best_us = nt_key_info_predicted_us(&seen->info, next->arm),
		.spent_ms = (float)(nt_cost_account_us(&seen->spent.account) / 1000),
		.spent_calls = seen->spent.calls,
	};
}

/* Durations and periods, from the evidence of the conclusion. */
static void add_periods(struct nt_outcome *to, const struct nt_evaluation *seen,
			const struct nt_next *next)
{
	const struct nt_evidence *e = next->evidence;

	for (unsigned i = 0; i < e->count; i++) {
		const bool is_baseline = e->arm[i] == NT_ARM_BASELINE;
		const float duration_us = (float)nt_evaluation_duration_us(seen, e, i);
		const float period_us = (float)nt_sample_quantile(e->period_us[i], e->blocks, 0.5);

		if (is_baseline) {
			to->duration_baseline_us = duration_us;
			to->period_baseline_us = period_us;
		} else if (e->arm[i] == next->arm) {
			to->duration_best_us = duration_us;
			to->period_best_us = period_us;
		}
	}
}

/* Number of earlier rounds of this key. */
static uint8_t round_of(const struct nt_evaluation *seen)
{
	return (uint8_t)(seen->rounds[NT_SCHEDULE_SCREEN] + seen->rounds[NT_SCHEDULE_CONFIRM] +
			 seen->forgotten);
}

static void conclude_key(struct nt_engine_key *key, const struct nt_next *next,
			 struct nt_schedule *schedule)
{
	struct nt_outcome outcome = outcome_of(&key->seen, next);

	add_periods(&outcome, &key->seen, next);
	*schedule = (struct nt_schedule){
		.kind = next->what == NT_NEXT_KEEP ? NT_SCHEDULE_KEPT : NT_SCHEDULE_COMMITTED,
		.count = 1,
		.round = round_of(&key->seen),
		.arm = { outcome.chosen_arm },
		.outcome = outcome,
	};
	if (!key->history)
		return;
	key->history->chosen_arm = outcome.chosen_arm;
	nt_histories_keep_take(key->engine->histories, key->history);
	key->history = NULL;
}

static void write_schedule(const struct nt_engine_key *key, struct nt_schedule *schedule)
{
	const struct nt_key_info *info = &key->seen.info;

	*schedule = key->seen.schedule;
	schedule->round = round_of(&key->seen);
	schedule->salt = nt_schedule_salt(info->ranks, info->nodes, info->key);
}

enum nt_engine_next nt_engine_next(struct nt_engine_key *key, const struct nt_key_info *now,
				   struct nt_schedule *schedule)
{
	struct nt_next next = { .what = NT_NEXT_PASS };

	key->seen.info = *now;
	if (key->seen.schedule.kind != 0)
		close_round(key);
	ask_judges(key, &next);
	adopt_round(key, &next);
	if (key->seen.rechecks && (next.what == NT_NEXT_COMMIT || next.what == NT_NEXT_KEEP))
		review_recheck(&key->seen, &next);
	switch (next.what) {
	case NT_NEXT_EXPLORE: write_schedule(key, schedule); return NT_ENGINE_EXPLORE;
	case NT_NEXT_COMMIT:
	case NT_NEXT_ROLL_BACK: conclude_key(key, &next, schedule); return NT_ENGINE_COMMIT;
	case NT_NEXT_KEEP: conclude_key(key, &next, schedule); return NT_ENGINE_KEEP;
	default: return NT_ENGINE_STAY;
	}
}
