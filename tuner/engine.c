/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - the two rounds of one key, from the first plan to the outcome */
#include "tuner/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tuner/decide.h"
#include "tuner/rule.h"
#include "tuner/times.h"

#define CLEAR_LEAD 0.02 /* of an arm that may yet prove faster: worth another look */
#define ENOUGH_PERCENT 60 /* of a round's samples */
#define POOLED_BLOCKS 384 /* NT_ENGINE_LOOKS rounds of the largest confirm_blocks, 128 */
#define OPEN_KEYS (NT_BOARD_RUNS / 2) /* at once: runs are left for keys with another home */

/* What was measured in the rounds of one kind: sample b of every arm is from one block. Arm 0 is
 * AUTO. */
struct evidence {
	unsigned count, blocks;
	uint8_t arm[NT_SCHEDULE_ARMS];
	float us[NT_SCHEDULE_ARMS][POOLED_BLOCKS];
};

struct engine_key {
	struct nt_engine *engine;
	const struct nt_named *named; /* another's rule decides, after one round; NULL: ours */
	uint64_t id; /* nt_key_id() */
	uint32_t auto_arm;
	float cost_us[NT_PAIRS];
	unsigned arms; /* screened */
	unsigned finalists; /* of the first second round: what the test is corrected for */
	unsigned rounds[NT_SCHEDULE_FINAL]; /* done, by kind */
	bool running; /* the schedule was handed out */
	struct nt_schedule schedule;
	uint16_t sample[NT_RUN_POSITIONS]; /* of it, by block and place in arm[] */
	unsigned absorbed; /* nodes' times in it */
	struct evidence screen, confirm;
	struct nt_trial *trial; /* NULL: not kept */
	double explored_us; /* sum of all samples */
	unsigned explored; /* their number */
	uint32_t spent_calls;
};

_Static_assert(NT_DECIDE_SAMPLES >= POOLED_BLOCKS, "all evidence is looked at");

/* Legal arms but AUTO's own pick, which runs the same kernel as AUTO does. */
static uint32_t other_arms(uint64_t id, uint32_t auto_arm)
{
	uint32_t mask = nt_key_mask(id) & ((1u << NT_PAIRS) - 1);

	return auto_arm < NT_PAIRS ? mask & ~(1u << auto_arm) : mask;
}

static bool captured(const struct nt_board_comm *comm)
{
	for (unsigned m = 0; m < NT_BOARD_MEMBERS; m++) {
		if (atomic_load(&comm->member[m].flags) & NT_MEMBER_GRAPHS)
			return true;
	}
	return false;
}

static bool key_worth(void *arg, const struct nt_board_comm *comm, const struct nt_board_key *key)
{
	const struct nt_engine *engine = arg;
	uint64_t calls = 0;

	if (engine->policy.mode != NT_MODE_BANDIT || engine->open >= OPEN_KEYS ||
	    !atomic_load(&key->described))
		return false;
	if (other_arms(atomic_load(&key->id), key->auto_arm) == 0 || captured(comm))
		return false;
	for (unsigned m = 0; m < NT_BOARD_MEMBERS; m++) {
		uint64_t of_member = atomic_load(&key->calls[m]);

		if (of_member > calls)
			calls = of_member;
	}
	return calls >= (uint64_t)engine->policy.min_calls;
}

static float predicted(const struct engine_key *key, unsigned arm)
{
	float cost = arm < NT_PAIRS ? key->cost_us[arm] : -1;

	return isfinite(cost) ? cost : -1;
}

/* The arm of the mask that NCCL thinks cheapest; arms without a prediction come last. */
static unsigned cheapest(const struct engine_key *key, uint32_t mask)
{
	unsigned best = NT_PAIRS;

	for (unsigned arm = 0; arm < NT_PAIRS; arm++) {
		float cost = predicted(key, arm);

		if (!(mask & (1u << arm)))
			continue;
		if (best == NT_PAIRS ||
		    (cost >= 0 && (predicted(key, best) < 0 || cost < predicted(key, best))))
			best = arm;
	}
	return best;
}

/* AUTO and what could beat it, the most likely first; at least one other arm if any is legal. */
static void plan_screen(struct engine_key *key, uint32_t mask)
{
	struct nt_schedule *s = &key->schedule;
	float limit = predicted(key, key->auto_arm) * NT_ENGINE_COST_FACTOR;

	*s = (struct nt_schedule){ .kind = NT_SCHEDULE_SCREEN, .count = 1, .arm = { NT_ARM_AUTO } };
	while (mask != 0 && s->count < NT_SCHEDULE_ARMS) {
		unsigned arm = cheapest(key, mask);

		if (s->count > 1 && limit > 0 && predicted(key, arm) > limit)
			break;
		s->arm[s->count++] = (uint8_t)arm;
		mask &= ~(1u << arm);
	}
	s->blocks = (uint8_t)(key->named ? key->named->blocks
					 : key->engine->policy.screen_blocks + NT_SCHEDULE_WARM_UP);
	if (nt_schedule_positions(s) > NT_RUN_POSITIONS)
		s->blocks = (uint8_t)(NT_RUN_POSITIONS / s->count);
	key->arms = s->count;
}

static void key_end(void *arg)
{
	struct engine_key *key = arg;

	key->engine->open--;
	nt_trial_destroy(key->trial);
	free(key);
}

static void *key_start(void *arg, const struct nt_board_comm *comm,
		       const struct nt_board_key *board_key)
{
	struct nt_engine *engine = arg;
	struct engine_key *key = calloc(1, sizeof(*key));

	if (!key)
		return NULL;
	key->engine = engine;
	engine->open++;
	key->named = nt_rule_named(engine->policy.rule);
	key->id = atomic_load(&board_key->id);
	key->auto_arm = board_key->auto_arm;
	memcpy(key->cost_us, board_key->cost_us, sizeof(key->cost_us));
	plan_screen(key, other_arms(key->id, key->auto_arm));
	if (engine->trials)
		key->trial = nt_trial_create(atomic_load(&comm->id), key->id, &key->schedule, key->cost_us);
	return key;
}

static float *evidence_of(struct evidence *evidence, unsigned arm)
{
	for (unsigned i = 0; i < evidence->count; i++) {
		if (evidence->arm[i] == arm)
			return evidence->us[i];
	}
	return NULL;
}

/* The samples of the round that ended go where those of its kind are; the warm-up counts as cost
 * only. */
static void close_round(struct engine_key *key, struct evidence *evidence)
{
	const struct nt_schedule *s = &key->schedule;
	unsigned warm = key->named ? 0 : NT_SCHEDULE_WARM_UP;
	unsigned blocks = s->blocks - warm;

	if (evidence->count == 0) {
		evidence->count = s->count;
		memcpy(evidence->arm, s->arm, sizeof(evidence->arm));
	}
	if (blocks > POOLED_BLOCKS - evidence->blocks)
		blocks = POOLED_BLOCKS - evidence->blocks;
	for (unsigned p = 0; p < nt_schedule_positions(s); p++) {
		float *us = evidence_of(evidence, s->arm[p % s->count]);
		unsigned block = p / s->count;
		double sample_us = nt_times_ns(key->sample[p]) / 1000;

		if (key->sample[p] == 0)
			continue;
		key->explored_us += sample_us;
		key->explored++;
		if (us && block >= warm && block - warm < blocks)
			us[evidence->blocks + block - warm] = (float)sample_us;
	}
	evidence->blocks += blocks;
	key->spent_calls += nt_schedule_positions(s);
	key->rounds[s->kind]++;
	if (key->trial)
		nt_trial_round(key->trial, s, key->sample);
	memset(key->sample, 0, sizeof(key->sample));
	key->absorbed = 0;
}

/* Of one round like the one that has just ended. */
static bool enough(const struct engine_key *key, unsigned samples)
{
	unsigned blocks = key->schedule.blocks - NT_SCHEDULE_WARM_UP;

	return samples * 100 >= blocks * ENOUGH_PERCENT;
}

static void outcome_set(struct engine_key *key, struct evidence *evidence, unsigned arm,
			const struct nt_contest *contest)
{
	struct nt_outcome *out = &key->schedule.outcome;
	double auto_us = nt_decide_quantile(evidence->us[0], evidence->blocks, 0.5);

	*out = (struct nt_outcome){
		.verdict = (uint8_t)contest->verdict,
		.auto_arm = (uint8_t)key->auto_arm,
		.best_arm = (uint8_t)arm,
		.chosen_arm = contest->verdict == NT_VERDICT_FASTER ? (uint8_t)arm : NT_ARM_AUTO,
		.samples = (uint16_t)contest->base.samples,
		.arms = (uint16_t)key->arms,
		.p = (float)contest->p,
		.auto_us = (float)contest->base.median_us,
		.best_us = (float)contest->arm.median_us,
		.auto_p25_us = (float)contest->base.p25_us,
		.best_p25_us = (float)contest->arm.p25_us,
		.auto_mean_us = (float)contest->base.mean_us,
		.best_mean_us = (float)contest->arm.mean_us,
		.predicted_auto_us = predicted(key, key->auto_arm),
		.predicted_best_us = predicted(key, arm),
		.spent_calls = key->spent_calls,
	};
	if (auto_us > 0)
		out->spent_ms = (float)((key->explored_us - key->explored * auto_us) / 1000);
}

/* The last word: arm against AUTO as the evidence has it. */
static int conclude(struct engine_key *key, struct evidence *evidence, unsigned arm,
		    const struct nt_contest *contest, struct nt_plan *plan)
{
	struct nt_schedule *s = &key->schedule;
	bool faster = contest->verdict == NT_VERDICT_FASTER;

	*s = (struct nt_schedule){ .kind = faster ? NT_SCHEDULE_FINAL : NT_SCHEDULE_KEPT,
				   .count = 1 };
	outcome_set(key, evidence, arm, contest);
	s->round = (uint8_t)(key->rounds[NT_SCHEDULE_SCREEN] + key->rounds[NT_SCHEDULE_CONFIRM]);
	s->arm[0] = s->outcome.chosen_arm;
	plan->payload_bytes = (uint32_t)nt_schedule_write(s, plan->payload, sizeof(plan->payload));
	plan->until = NT_NEVER;
	if (key->trial)
		nt_trials_keep_take(key->engine->trials, key->trial);
	key->trial = NULL;
	return faster;
}

/* Propose the schedule that stands in the key. */
static int explore(struct engine_key *key, struct nt_plan *plan)
{
	struct nt_schedule *s = &key->schedule;

	s->round = (uint8_t)(key->rounds[NT_SCHEDULE_SCREEN] + key->rounds[NT_SCHEDULE_CONFIRM]);
	plan->payload_bytes = (uint32_t)nt_schedule_write(s, plan->payload, sizeof(plan->payload));
	plan->until = nt_schedule_positions(s);
	return 1;
}

static double min_gain(const struct engine_key *key)
{
	return (double)key->engine->policy.min_gain_micro / 1e8; /* percent, in millionths */
}

static double p25_of(const struct evidence *evidence, unsigned index)
{
	return nt_decide_quantile(evidence->us[index], evidence->blocks, 0.25);
}

/* Index of the arm with the lowest p25 among those with enough samples and not in `taken`; 0 (which
 * is AUTO) if there is none. */
static unsigned next_best(const struct engine_key *key, const struct evidence *evidence,
			  uint32_t taken)
{
	unsigned best = 0;

	for (unsigned i = 1; i < evidence->count; i++) {
		unsigned samples = nt_decide_figures(evidence->us[i], evidence->blocks).samples;

		if ((taken & (1u << i)) || !enough(key, samples))
			continue;
		if (best == 0 || p25_of(evidence, i) < p25_of(evidence, best))
			best = i;
	}
	return best;
}

static void plan_confirm(struct engine_key *key, const uint8_t *arm, unsigned count)
{
	struct nt_schedule *s = &key->schedule;

	*s = (struct nt_schedule){ .kind = NT_SCHEDULE_CONFIRM, .count = (uint8_t)count };
	memcpy(s->arm, arm, count);
	s->blocks = (uint8_t)(key->engine->policy.confirm_blocks + NT_SCHEDULE_WARM_UP);
}

static int screened(struct engine_key *key, struct nt_plan *plan)
{
	const struct nt_rule rule = { .min_gain = min_gain(key), .tests = 1 };
	struct evidence *e = &key->screen;
	uint8_t finalist[1 + NT_ENGINE_FINALISTS] = { NT_ARM_AUTO };
	unsigned best = next_best(key, e, 0);
	unsigned count = 1;
	struct nt_contest contest = { .p = 1, .verdict = NT_VERDICT_SAMPLES };

	if (best == 0 || !enough(key, nt_decide_figures(e->us[0], e->blocks).samples)) {
		if (key->rounds[NT_SCHEDULE_SCREEN] < NT_ENGINE_SCREENS)
			return explore(key, plan);
		return conclude(key, e, NT_ARM_AUTO, &contest, plan);
	}
	for (uint32_t taken = 0, i = best; i != 0 && count <= NT_ENGINE_FINALISTS;
	     i = next_best(key, e, taken)) {
		taken |= 1u << i;
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
	return explore(key, plan);
}

/* What another's rule makes of its one round. */
static int judged(struct engine_key *key, struct nt_plan *plan)
{
	struct evidence *e = &key->screen;
	struct nt_measured measured = { .arms = e->count, .samples = e->blocks,
					.size_bytes = nt_band_floor(nt_key_band(key->id)) };
	struct nt_contest contest;

	for (unsigned i = 0; i < e->count; i++)
		measured.us[i] = e->us[i];
	return conclude(key, e, e->arm[nt_rule_contest(key->named, &measured, &contest)], &contest, plan);
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

static int confirmed(struct engine_key *key, struct nt_plan *plan)
{
	const struct nt_rule rule = {
		.min_gain = min_gain(key),
		.alpha = (double)key->engine->policy.alpha_micro / 1e6,
		.tests = key->finalists * NT_ENGINE_LOOKS,
		.last = key->rounds[NT_SCHEDULE_CONFIRM] == NT_ENGINE_LOOKS,
	};
	struct evidence *e = &key->confirm;
	struct nt_contest contest[1 + NT_ENGINE_FINALISTS];
	uint8_t again[1 + NT_ENGINE_FINALISTS] = { NT_ARM_AUTO };
	double rival_gain = -1;
	unsigned count = 1;
	unsigned best = 1;

	for (unsigned i = 1; i < e->count; i++) {
		nt_decide_contest(&rule, e->us[0], e->us[i], e->blocks, &contest[i]);
		if (!enough(key, contest[i].base.samples))
			contest[i].verdict = NT_VERDICT_SAMPLES;
		if (contest[i].verdict == NT_VERDICT_SAMPLES ||
		    nt_decide_promising(&rule, &contest[i])) {
			again[count++] = e->arm[i];
			rival_gain = contest[i].gain > rival_gain ? contest[i].gain : rival_gain;
		}
		if (better(&contest[i], &contest[best]))
			best = i;
	}
	if (contest[best].verdict == NT_VERDICT_FASTER && rival_gain > contest[best].gain + CLEAR_LEAD)
		again[count++] = e->arm[best];
	else if (contest[best].verdict == NT_VERDICT_FASTER)
		count = 1; /* nothing else is in sight */
	if (count > 1 && !rule.last) {
		plan_confirm(key, again, count);
		return explore(key, plan);
	}
	return conclude(key, e, e->arm[best], &contest[best], plan);
}

static int key_next(void *arg, struct nt_plan *plan)
{
	const struct nt_contest nothing = { .p = 1, .verdict = NT_VERDICT_ALONE };
	struct engine_key *key = arg;

	if (key->arms < 2)
		return conclude(key, &key->screen, NT_ARM_AUTO, &nothing, plan);
	if (!key->running) {
		key->running = true;
		return explore(key, plan);
	}
	if (key->schedule.kind == NT_SCHEDULE_SCREEN) {
		close_round(key, &key->screen);
		return key->named ? judged(key, plan) : screened(key, plan);
	}
	close_round(key, &key->confirm);
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
	(void)arg;
	return nt_times_gather(board, plan, members, out, cap);
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
	};
}
