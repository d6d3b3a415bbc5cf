/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - the two rounds of one key, from the first plan to the outcome */
#include "tuner/engine_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLEAR_LEAD 0.02 /* of an arm that may yet prove faster: worth another look */
#define OPEN_KEYS (NT_BOARD_RUNS / 2) /* at once: runs are left for keys with another home */

/* Legal arms but AUTO's own pick, which runs the same kernel as AUTO does. */
static uint32_t other_arms(uint64_t id, uint32_t auto_arm)
{
	uint32_t mask = nt_key_mask(id) & ((1u << NT_PAIRS) - 1);

	return auto_arm < NT_PAIRS ? mask & ~(1u << auto_arm) : mask;
}

bool engine_flagged(const struct nt_board_comm *comm, uint32_t flags)
{
	for (unsigned m = 0; m < NT_BOARD_MEMBERS; m++) {
		if (atomic_load(&comm->member[m].flags) & flags)
			return true;
	}
	return false;
}

bool engine_may_open(const struct nt_engine *engine, const struct nt_board_comm *comm,
		     const struct nt_board_key *key)
{
	uint32_t mask;

	if (!atomic_load(&key->described))
		return false;
	mask = other_arms(atomic_load(&key->id), key->auto_arm);
	return mask != 0 && !engine_flagged(comm, NT_MEMBER_GRAPHS) &&
	       budget_calls(key) >= (uint64_t)engine->policy.min_calls &&
	       budget_worth(&engine->policy, key, mask);
}

static bool key_worth(void *arg, const struct nt_board_comm *comm, const struct nt_board_key *key)
{
	const struct nt_engine *engine = arg;

	return engine->policy.mode == NT_MODE_BANDIT && engine->open < OPEN_KEYS &&
	       engine_may_open(engine, comm, key) && !queue_waits(engine, comm, budget_calls(key));
}

float engine_predicted(const struct engine_key *key, unsigned arm)
{
	unsigned pair = (unsigned)nt_arm_pair((int)arm);
	float cost = pair < NT_PAIRS ? key->cost_us[pair] : -1;

	return isfinite(cost) ? cost : -1;
}

/* The arm of the mask that NCCL thinks cheapest; arms without a prediction come last. */
static unsigned cheapest(const struct engine_key *key, uint32_t mask)
{
	unsigned best = NT_PAIRS;

	for (unsigned arm = 0; arm < NT_PAIRS; arm++) {
		float cost = engine_predicted(key, arm);

		if (!(mask & (1u << arm)))
			continue;
		if (best == NT_PAIRS || (cost >= 0 && (engine_predicted(key, best) < 0 ||
						       cost < engine_predicted(key, best))))
			best = arm;
	}
	return best;
}

void engine_set_blocks(struct nt_schedule *s, int64_t blocks)
{
	s->blocks = (uint8_t)(blocks + NT_SCHEDULE_WARM_UP);
	if (nt_schedule_positions(s) > NT_RUN_POSITIONS)
		s->blocks = (uint8_t)(NT_RUN_POSITIONS / s->count);
}

bool nt_engine_ll_hopeless(unsigned arm, size_t bytes, float cost_us, float auto_us)
{
	return arm % NT_PROTOS == 0 && bytes >= NT_ENGINE_LL_BYTES && auto_us > 0 &&
	       cost_us > auto_us * NT_ENGINE_LL_FACTOR;
}

/* AUTO and what could beat it, the most likely first; at least one other arm if any is legal,
 * unless that is LL at such a size. */
void engine_plan_screen(struct engine_key *key)
{
	struct nt_schedule *s = &key->schedule;
	const float auto_us = engine_predicted(key, key->auto_arm);
	const float limit = auto_us * NT_ENGINE_COST_FACTOR;
	const size_t bytes = nt_band_floor(nt_key_band(key->id));
	uint32_t mask = other_arms(key->id, key->auto_arm);

	*s = (struct nt_schedule){ .kind = NT_SCHEDULE_SCREEN, .count = 1, .arm = { NT_ARM_AUTO } };
	while (mask != 0 && s->count < NT_SCHEDULE_ARMS) {
		const unsigned arm = cheapest(key, mask);
		const float cost_us = engine_predicted(key, arm);

		if (s->count > 1 && limit > 0 && cost_us > limit)
			break;
		if (!nt_engine_ll_hopeless(arm, bytes, cost_us, auto_us))
			s->arm[s->count++] = (uint16_t)arm;
		mask &= ~(1u << arm);
	}
	engine_set_blocks(s, key->named ? (int64_t)key->named->blocks - NT_SCHEDULE_WARM_UP
					: key->engine->policy.screen_blocks);
	key->arms = s->count;
	key->refined = false;
}

static void key_end(void *arg)
{
	struct engine_key *key = arg;

	key->engine->open--;
	nt_trial_destroy(key->trial);
	free(key);
}

struct engine_key *engine_key_make(struct nt_engine *engine, const struct nt_board_comm *comm,
				   const struct nt_board_key *board_key)
{
	struct engine_key *key = calloc(1, sizeof(*key));

	if (!key)
		return NULL;
	key->engine = engine;
	key->comm = comm;
	key->board_key = board_key;
	engine->open++;
	key->named = nt_rule_named(engine->policy.rule);
	key->id = atomic_load(&board_key->id);
	key->auto_arm = board_key->auto_arm;
	memcpy(key->cost_us, board_key->cost_us, sizeof(key->cost_us));
	nt_finding_begin(&key->finding, comm, board_key);
	return key;
}

static void *key_start(void *arg, const struct nt_board_comm *comm,
		       const struct nt_board_key *board_key)
{
	struct engine_key *key = engine_key_make(arg, comm, board_key);

	if (!key)
		return NULL;
	engine_plan_screen(key);
	if (key->engine->trials)
		key->trial = nt_trial_create(atomic_load(&comm->id), key->id, &key->schedule,
					     key->cost_us);
	return key;
}

static void outcome_set(struct engine_key *key, struct evidence *evidence, unsigned arm,
			const struct nt_contest *contest)
{
	struct nt_outcome *out = &key->schedule.outcome;
	*out = (struct nt_outcome){
		.verdict = (uint16_t)contest->verdict,
		.auto_arm = (uint16_t)key->auto_arm,
		.best_arm = (uint16_t)arm,
		.chosen_arm = contest->verdict == NT_VERDICT_FASTER ? (uint16_t)arm : NT_ARM_AUTO,
		.samples = (uint16_t)contest->base.samples,
		.arms = (uint16_t)key->arms,
		.p = (float)contest->p,
		.auto_us = (float)contest->base.median_us,
		.best_us = (float)contest->arm.median_us,
		.auto_p25_us = (float)contest->base.p25_us,
		.best_p25_us = (float)contest->arm.p25_us,
		.auto_mean_us = (float)contest->base.mean_us,
		.best_mean_us = (float)contest->arm.mean_us,
		.predicted_auto_us = engine_predicted(key, key->auto_arm),
		.predicted_best_us = engine_predicted(key, arm),
		.spent_calls = key->spent_calls,
	};
	out->spent_ms = (float)(budget_spent_us(key, evidence) / 1000);
}

/* Arm against AUTO as the evidence has it, as a plan for good or, where AUTO was never left, as the
 * result. */
int engine_commit(struct engine_key *key, struct evidence *evidence, unsigned arm,
		  const struct nt_contest *contest, struct nt_plan *plan)
{
	struct nt_schedule *s = &key->schedule;
	bool final = contest->verdict == NT_VERDICT_FASTER || key->again;

	*s = (struct nt_schedule){ .kind = final ? NT_SCHEDULE_FINAL : NT_SCHEDULE_KEPT,
				   .count = 1 };
	outcome_set(key, evidence, arm, contest);
	s->round = (uint8_t)(key->rounds[NT_SCHEDULE_SCREEN] + key->rounds[NT_SCHEDULE_CONFIRM]);
	s->arm[0] = s->outcome.chosen_arm;
	plan->payload_bytes = (uint32_t)nt_schedule_write(s, plan->payload, sizeof(plan->payload));
	plan->until = NT_NEVER;
	if (key->engine->findings)
		nt_findings_keep(key->engine->findings, &key->finding, &s->outcome);
	if (key->trial)
		nt_trials_keep_take(key->engine->trials, key->trial);
	key->trial = NULL;
	return final;
}

/* The last word of an exploration. */
static int conclude(struct engine_key *key, struct evidence *evidence, unsigned arm,
		    const struct nt_contest *contest, struct nt_plan *plan)
{
	if (key->again)
		return recheck_conclude(key, evidence, arm, contest, plan);
	return engine_commit(key, evidence, arm, contest, plan);
}

/* Propose the schedule that stands in the key. */
int engine_explore(struct engine_key *key, struct nt_plan *plan)
{
	struct nt_schedule *s = &key->schedule;

	s->round = (uint8_t)(key->rounds[NT_SCHEDULE_SCREEN] + key->rounds[NT_SCHEDULE_CONFIRM]);
	s->salt = nt_schedule_salt(atomic_load(&key->comm->id), key->id);
	plan->payload_bytes = (uint32_t)nt_schedule_write(s, plan->payload, sizeof(plan->payload));
	plan->until = nt_schedule_positions(s);
	return 1;
}

static double min_gain(const struct engine_key *key)
{
	return (double)key->engine->policy.min_gain_micro / 1e8; /* percent, in millionths */
}

static void plan_confirm(struct engine_key *key, const uint16_t *arm, unsigned count)
{
	struct nt_schedule *s = &key->schedule;

	*s = (struct nt_schedule){ .kind = NT_SCHEDULE_CONFIRM, .count = (uint8_t)count };
	memcpy(s->arm, arm, count * sizeof(arm[0]));
	s->blocks = (uint8_t)(key->engine->policy.confirm_blocks + NT_SCHEDULE_WARM_UP);
}

static int screened(struct engine_key *key, struct nt_plan *plan)
{
	const struct nt_rule rule = { .min_gain = min_gain(key), .tests = 1 };
	struct evidence *e = &key->screen;
	uint16_t finalist[1 + NT_ENGINE_FINALISTS] = { NT_ARM_AUTO };
	unsigned best = engine_next_best(key, e, 0);
	unsigned count = 1;
	struct nt_contest contest = { .p = 1, .verdict = NT_VERDICT_SAMPLES };

	if (best == 0 || !engine_enough(key, nt_decide_figures(e->us[0], e->blocks).samples)) {
		if (key->rounds[NT_SCHEDULE_SCREEN] <
			    NT_ENGINE_SCREENS + (key->refined ? 1u : 0u) &&
		    budget_allows(key))
			return engine_explore(key, plan);
		return conclude(key, e, NT_ARM_AUTO, &contest, plan);
	}
	if (refine_plan(key))
		return engine_explore(key, plan);
	if (key->again)
		finalist[count++] = key->current;
	for (uint32_t taken = 0, i = best; i != 0 && count <= NT_ENGINE_FINALISTS;
	     i = engine_next_best(key, e, taken)) {
		taken |= 1u << i;
		if (key->again && e->arm[i] == key->current)
			continue;
		if (nt_decide_could_win(rule.min_gain, e->us[0], e->us[i], e->blocks))
			finalist[count++] = e->arm[i];
	}
	if (count == 1) {
		nt_decide_contest(&rule, e->us[0], e->us[best], e->blocks, &contest);
		contest.p = 1;
		contest.verdict = NT_VERDICT_SCREENED;
		return conclude(key, e, e->arm[best], &contest, plan);
	}
	key->finalists = count - 1;
	plan_confirm(key, finalist, count);
	if (budget_allows(key))
		return engine_explore(key, plan);
	nt_decide_contest(&rule, e->us[0], e->us[best], e->blocks, &contest);
	contest.p = 1;
	contest.verdict = NT_VERDICT_BUDGET;
	return conclude(key, e, e->arm[best], &contest, plan);
}

/* What another's rule makes of its one round. */
static int judged(struct engine_key *key, struct nt_plan *plan)
{
	struct evidence *e = &key->screen;
	struct nt_measured measured = { .arms = e->count,
					.samples = e->blocks,
					.size_bytes = nt_band_floor(nt_key_band(key->id)) };
	struct nt_contest contest;

	for (unsigned i = 0; i < e->count; i++)
		measured.us[i] = e->us[i];
	return conclude(key, e, e->arm[nt_rule_contest(key->named, &measured, &contest)], &contest,
			plan);
}

/* A faster arm before any other, then one that was measured, then the larger gain. */
static bool better(const struct nt_contest *a, const struct nt_contest *b)
{
	if ((a->verdict == NT_VERDICT_FASTER) != (b->verdict == NT_VERDICT_FASTER))
		return a->verdict == NT_VERDICT_FASTER;
	if ((a->verdict == NT_VERDICT_SAMPLES) != (b->verdict == NT_VERDICT_SAMPLES))
		return b->verdict == NT_VERDICT_SAMPLES;
	return a->gain > b->gain;
}

/* Is there no further look? Two arms are the least that one takes. */
static bool last_look(struct engine_key *key)
{
	const uint16_t arm[] = { NT_ARM_AUTO, key->schedule.arm[1] };

	if (key->rounds[NT_SCHEDULE_CONFIRM] == NT_ENGINE_LOOKS)
		return true;
	plan_confirm(key, arm, 2);
	return !budget_allows(key);
}

static int confirmed(struct engine_key *key, struct nt_plan *plan)
{
	const struct nt_rule rule = {
		.min_gain = min_gain(key),
		.alpha = (double)key->engine->policy.alpha_micro / 1e6,
		.tests = key->finalists * NT_ENGINE_LOOKS,
		.last = last_look(key),
	};
	struct evidence *e = &key->confirm;
	struct nt_contest contest[1 + NT_ENGINE_FINALISTS];
	uint16_t again[1 + NT_ENGINE_FINALISTS] = { NT_ARM_AUTO };
	double rival_gain = -1;
	unsigned count = 1;
	unsigned best = 1;

	for (unsigned i = 1; i < e->count; i++) {
		nt_decide_contest(&rule, e->us[0], e->us[i], e->blocks, &contest[i]);
		if (!engine_enough(key, contest[i].base.samples))
			contest[i].verdict = NT_VERDICT_SAMPLES;
		else if (contest[i].verdict == NT_VERDICT_FASTER &&
			 engine_behind(e->period_us[0], e->period_us[i], e->blocks, rule.alpha))
			contest[i].verdict = NT_VERDICT_PERIOD;
		if (contest[i].verdict == NT_VERDICT_SAMPLES ||
		    (contest[i].verdict != NT_VERDICT_PERIOD &&
		     nt_decide_promising(&rule, &contest[i]))) {
			again[count++] = e->arm[i];
			rival_gain = contest[i].gain > rival_gain ? contest[i].gain : rival_gain;
		}
		if (better(&contest[i], &contest[best]))
			best = i;
	}
	if (contest[best].verdict == NT_VERDICT_FASTER &&
	    rival_gain > contest[best].gain + CLEAR_LEAD)
		again[count++] = e->arm[best];
	else if (contest[best].verdict == NT_VERDICT_FASTER)
		count = 1; /* nothing else is in sight */
	if (count > 1 && !rule.last) {
		plan_confirm(key, again, count);
		if (budget_allows(key))
			return engine_explore(key, plan);
	}
	return conclude(key, e, e->arm[best], &contest[best], plan);
}

static int key_next(void *arg, struct nt_plan *plan)
{
	const struct nt_contest nothing = { .p = 1, .verdict = NT_VERDICT_ALONE };
	const struct nt_contest dear = { .p = 1, .verdict = NT_VERDICT_BUDGET };
	struct engine_key *key = arg;
	int more;

	if (key->schedule.kind == NT_SCHEDULE_RECHECK) {
		if (key->running)
			engine_close_round(key, &key->recheck);
		more = recheck_next(key, plan);
		if (more >= 0)
			return more;
	}
	if (key->arms < 2)
		return conclude(key, &key->screen, NT_ARM_AUTO, &nothing, plan);
	if (!key->running) {
		key->running = true;
		if (!budget_allows(key))
			return conclude(key, key->again ? &key->recheck : &key->screen, NT_ARM_AUTO,
					&dear, plan);
		return engine_explore(key, plan);
	}
	if (key->schedule.kind == NT_SCHEDULE_SCREEN) {
		engine_close_round(key, &key->screen);
		return key->named ? judged(key, plan) : screened(key, plan);
	}
	engine_close_round(key, &key->confirm);
	return confirmed(key, plan);
}

static void key_absorb(void *arg, const uint8_t *bytes, size_t count)
{
	struct engine_key *key = arg;

	nt_times_absorb(key->sample, key->absorbed++ == 0, &key->schedule, bytes, count);
}

static size_t gather(void *arg, const struct nt_board *board, const struct nt_plan *plan,
		     uint32_t members, uint8_t *out, size_t cap)
{
	const struct nt_engine *engine = arg;

	return nt_times_gather(board, plan, members, engine->policy.reward, out, cap);
}

static size_t combine(void *arg, uint8_t *sum, size_t count, const uint8_t *bytes, size_t more)
{
	(void)arg;
	return nt_times_combine(sum, count, bytes, more);
}

struct nt_agree_hooks nt_engine_hooks(struct nt_engine *engine)
{
	return (struct nt_agree_hooks){
		.arg = engine,
		.worth = key_worth,
		.start = key_start,
		.next = key_next,
		.absorb = key_absorb,
		.end = key_end,
		.gather = gather,
		.combine = combine,
		.worth_recheck = recheck_worth,
		.start_recheck = recheck_start,
		.recheck_ms = (uint32_t)engine->policy.recheck_s * 1000,
	};
}
