/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiles/measure/calibration.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LOSES_P 0.05 /* by which one cannot win */
#define WINS_P 0.01 /* of the mix, with which the last candidate has won */
#define WORTH 0.03 /* the least gain of use, over the default and over another one */
#define EXACT 0.05 /* standard error of a ratio's logarithm */
#define ROUNDS_LEAST 2 /* before one has won: a single turn may have been disturbed */
#define ROUNDS_MORE 2 /* that all who are left must fit into the time */
#define ROUNDS_WISHED 3
#define TURNS_MOST 1024
#define CALLS_LEAST_S 1
#define CALLS_MOST_S 4

void nt_calibration_init(struct nt_calibration *calibration, double time_s, double guess_s)
{
	memset(calibration, 0, sizeof(*calibration));
	calibration->time_s = time_s;
	calibration->guess_s = guess_s;
	calibration->views = 1;
	nt_calibration_add(calibration, NT_PROFILE_DEFAULT);
}

bool nt_calibration_add(struct nt_calibration *calibration, const char *profile)
{
	struct nt_contender *contender;

	if (calibration->count == NT_CALIBRATION_MAX)
		return false;
	contender = &calibration->contender[calibration->count++];
	snprintf(contender->name, sizeof(contender->name), "%s", profile);
	contender->cost.ratio = contender->cost.p = 1;
	return true;
}

double nt_calibration_estimate_s(const struct nt_calibration *calibration, unsigned which)
{
	double longest_s = calibration->contender[which].longest_s;

	/* The expected time of one that never ran is the longest of the others. */
	for (unsigned i = 0; longest_s <= 0 && i < calibration->count; i++) {
		const struct nt_contender *other = &calibration->contender[i];

		if (other->runs > 0)
			longest_s = fmax(longest_s, other->longest_s);
	}
	return longest_s > 0 ? longest_s : calibration->guess_s;
}

static unsigned open_candidates(const struct nt_calibration *calibration)
{
	unsigned count = 0;

	for (unsigned i = 1; i < calibration->count; i++)
		count += calibration->contender[i].state == NT_CONTENDER_OPEN;
	return count;
}

/* Rounds that all open ones have completed. */
static unsigned round_of(const struct nt_calibration *calibration)
{
	unsigned round = UINT_MAX;

	for (unsigned i = 0; i < calibration->count; i++) {
		const struct nt_contender *contender = &calibration->contender[i];

		if (contender->state == NT_CONTENDER_OPEN && contender->round < round)
			round = contender->round;
	}
	return round;
}

/* In round r, the r-th of the open ones comes first. */
static int turn_in(const struct nt_calibration *calibration, unsigned round)
{
	unsigned open[NT_CALIBRATION_MAX], count = 0;

	for (unsigned i = 0; i < calibration->count; i++)
		if (calibration->contender[i].state == NT_CONTENDER_OPEN)
			open[count++] = i;
	for (unsigned i = 0; i < count; i++) {
		unsigned which = open[(i + round) % count];

		if (calibration->contender[which].round == round)
			return (int)which;
	}
	return -1;
}

static const struct nt_memory_entry *any_default(const struct nt_memory *found)
{
	for (size_t i = 0; i < found->entries; i++)
		if (found->entry[i].keys > 0 &&
		    strcmp(found->entry[i].profile, NT_PROFILE_DEFAULT) == 0)
			return &found->entry[i];
	return NULL;
}

static int weigh_views(struct nt_contender *contender, const struct nt_scope *scope,
		       const struct nt_mix *sizes)
{
	for (unsigned i = 0; i < sizes->count && i < NT_CALIBRATION_VIEWS; i++) {
		const struct nt_mix one = { .count = 1, .key = { sizes->key[i] } };

		if (nt_mix_cost(scope, contender->name, &one, &contender->view[i]) < 0)
			return -1;
	}
	return 0;
}

int nt_calibration_weigh(struct nt_calibration *calibration, const struct nt_memory *found,
			 const struct nt_where *where, const struct nt_mix *mix, int64_t now_s)
{
	const struct nt_scope scope = { .memory = found, .where = where, .now_s = now_s };
	const struct nt_memory_entry *base = any_default(found);
	struct nt_mix sizes = { 0 };

	if (mix == NULL && base != NULL)
		nt_mix_of(base, &sizes);
	calibration->views = 1;
	if (sizes.count > 0)
		calibration->views = sizes.count < NT_CALIBRATION_VIEWS ? sizes.count
									: NT_CALIBRATION_VIEWS;
	for (unsigned i = 1; i < calibration->count; i++) {
		struct nt_contender *contender = &calibration->contender[i];

		if (contender->runs == 0)
			continue;
		if (nt_mix_cost(&scope, contender->name, mix, &contender->cost) < 0 ||
		    weigh_views(contender, &scope, &sizes) < 0)
			return -1;
		if (sizes.count == 0)
			contender->view[0] = contender->cost;
	}
	return 0;
}

/* The open candidate that gains most in a view; NULL: none was measured. */
static const struct nt_contender *leader_of(const struct nt_calibration *calibration, unsigned view)
{
	const struct nt_contender *leader = NULL;

	for (unsigned i = 1; i < calibration->count; i++) {
		const struct nt_contender *contender = &calibration->contender[i];

		if (contender->state == NT_CONTENDER_OPEN && contender->view[view].known &&
		    (leader == NULL || contender->view[view].ratio < leader->view[view].ratio))
			leader = contender;
	}
	return leader;
}

/* How surely one is not worth more than another; both are compared with the same default. */
static double p_behind(const struct nt_contender *contender, const struct nt_contender *leader,
		       unsigned view)
{
	const struct nt_mix_cost *a = &contender->view[view], *b = &leader->view[view];
	struct nt_estimate apart = { true, log(a->ratio) - log(b->ratio),
				     hypot(a->deviation / sqrt(contender->runs),
					   b->deviation / sqrt(leader->runs)),
				     fmin(a->degrees, b->degrees) };

	return nt_estimate_p_above(&apart, log(1 - WORTH));
}

/* Is it surely not to be used for what it does to NCCL's own choices? */
static bool is_slow_untuned(const struct nt_mix_cost *cost)
{
	struct nt_estimate untuned = { true, log(cost->untuned), cost->error, cost->degrees };

	return cost->untuned > 0 && nt_estimate_p_above(&untuned, log(NT_UNTUNED_MOST)) < LOSES_P;
}

/* May it be the best in a view, by enough to matter? */
static bool can_win(const struct nt_calibration *calibration, const struct nt_contender *contender,
		    unsigned view)
{
	const struct nt_contender *leader = leader_of(calibration, view);
	struct nt_estimate gain = nt_mix_cost_estimate(&contender->view[view]);

	if (!gain.known)
		return contender->runs == 0;
	if (is_slow_untuned(&contender->view[view]))
		return false;
	return nt_estimate_p_above(&gain, log(1 - WORTH)) >= LOSES_P &&
	       (contender == leader || p_behind(contender, leader, view) >= LOSES_P);
}

static bool can_win_any(const struct nt_calibration *calibration,
			const struct nt_contender *contender)
{
	for (unsigned view = 0; view < calibration->views; view++)
		if (can_win(calibration, contender, view))
			return true;
	return false;
}

/* In a view one has won, or none; and no other gains as much as is of use. */
static bool is_sure(const struct nt_calibration *calibration, unsigned view)
{
	unsigned winners = 0;

	for (unsigned i = 1; i < calibration->count; i++) {
		const struct nt_contender *contender = &calibration->contender[i];
		const struct nt_mix_cost *cost = &contender->view[view];

		if (contender->state != NT_CONTENDER_OPEN || !can_win(calibration, contender, view))
			continue;
		if (!cost->known)
			return false;
		if (cost->p < WINS_P && cost->ratio < 1 - WORTH)
			winners++;
		else if (cost->error > EXACT || cost->ratio < 1 - WORTH)
			return false;
	}
	return winners <= 1;
}

/* What is sure at each size may not be so for a mix of them: without one all must be exact. */
static bool all_is_sure(const struct nt_calibration *calibration)
{
	for (unsigned i = 1; i < calibration->count && calibration->views > 1; i++)
		if (calibration->contender[i].state == NT_CONTENDER_OPEN &&
		    calibration->contender[i].cost.error > EXACT)
			return false;
	for (unsigned view = 0; view < calibration->views; view++)
		if (!is_sure(calibration, view))
			return false;
	return true;
}

/* How far it is behind the best where it is nearest to it. */
static double lag_of(const struct nt_calibration *calibration, const struct nt_contender *contender)
{
	double lag = INFINITY;

	for (unsigned view = 0; view < calibration->views; view++) {
		const struct nt_contender *leader = leader_of(calibration, view);

		if (contender->view[view].known)
			lag = fmin(lag, log(contender->view[view].ratio) -
						fmin(0, log(leader->view[view].ratio)));
	}
	return lag;
}

int nt_calibration_next(const struct nt_calibration *calibration, double elapsed_s,
			enum nt_calibration_end *end)
{
	const struct nt_contender *base = &calibration->contender[0];
	unsigned round = round_of(calibration);
	int which;

	if (base->state == NT_CONTENDER_WRONG)
		*end = NT_CALIBRATION_WRONG;
	else if (base->state == NT_CONTENDER_FAILED && base->runs == 0)
		*end = NT_CALIBRATION_NO_DEFAULT;
	else if (open_candidates(calibration) == 0)
		*end = NT_CALIBRATION_CLEAR;
	else if (round >= ROUNDS_LEAST && all_is_sure(calibration))
		*end = NT_CALIBRATION_CLEAR;
	else
		*end = NT_CALIBRATION_GOES_ON;
	if (*end != NT_CALIBRATION_GOES_ON)
		return -1;
	which = turn_in(calibration, round);
	if (elapsed_s + nt_calibration_estimate_s(calibration, (unsigned)which) <=
	    calibration->time_s)
		return which;
	*end = NT_CALIBRATION_TIME;
	return -1;
}

void nt_calibration_note(struct nt_calibration *calibration, unsigned which,
			 enum nt_contender_state state, double took_s)
{
	struct nt_contender *contender = &calibration->contender[which];

	contender->round++;
	contender->runs += state == NT_CONTENDER_OPEN;
	contender->longest_s = fmax(contender->longest_s, took_s);
	if (state != NT_CONTENDER_OPEN)
		contender->state = state;
}

/* A round of all who are left. */
static double round_s(const struct nt_calibration *calibration)
{
	double sum_s = 0;

	for (unsigned i = 0; i < calibration->count; i++)
		if (calibration->contender[i].state == NT_CONTENDER_OPEN)
			sum_s += nt_calibration_estimate_s(calibration, i);
	return sum_s;
}

static bool round_is_over(const struct nt_calibration *calibration)
{
	unsigned round = round_of(calibration);

	for (unsigned i = 0; i < calibration->count; i++)
		if (calibration->contender[i].state == NT_CONTENDER_OPEN &&
		    calibration->contender[i].round != round)
			return false;
	return true;
}

static void drop_half(struct nt_calibration *calibration)
{
	unsigned drop = open_candidates(calibration) / 2;
	double lag[NT_CALIBRATION_MAX];

	for (unsigned i = 1; i < calibration->count; i++)
		if (calibration->contender[i].state == NT_CONTENDER_OPEN)
			lag[i] = lag_of(calibration, &calibration->contender[i]);
	while (drop-- > 0) {
		unsigned last = 0;

		for (unsigned i = 1; i < calibration->count; i++)
			if (calibration->contender[i].state == NT_CONTENDER_OPEN &&
			    (last == 0 || lag[i] > lag[last]))
				last = i;
		calibration->contender[last].state = NT_CONTENDER_BEATEN;
	}
}

void nt_calibration_judge(struct nt_calibration *calibration, double elapsed_s)
{
	bool beaten[NT_CALIBRATION_MAX] = { false };

	for (unsigned i = 1; i < calibration->count; i++)
		beaten[i] = calibration->contender[i].state == NT_CONTENDER_OPEN &&
			    !can_win_any(calibration, &calibration->contender[i]);
	for (unsigned i = 1; i < calibration->count; i++)
		if (beaten[i])
			calibration->contender[i].state = NT_CONTENDER_BEATEN;
	if (round_is_over(calibration) &&
	    elapsed_s + ROUNDS_MORE * round_s(calibration) > calibration->time_s)
		drop_half(calibration);
}

unsigned nt_calibration_calls_s(double time_s, unsigned profiles, double start_s)
{
	double share_s = time_s / (ROUNDS_WISHED * profiles) - start_s;

	if (share_s < CALLS_LEAST_S)
		return CALLS_LEAST_S;
	return share_s > CALLS_MOST_S ? CALLS_MOST_S : (unsigned)share_s;
}

/* Of one profile; in the order of their steps. */
static unsigned turns_of(const struct nt_memory *found, const char *profile,
			 const struct nt_memory_entry *turn[TURNS_MOST])
{
	unsigned count = 0;

	for (size_t i = 0; i < found->entries && count < TURNS_MOST; i++)
		if (found->entry[i].keys > 0 && strcmp(found->entry[i].profile, profile) == 0)
			turn[count++] = &found->entry[i];
	return count;
}

int nt_calibration_pool(const struct nt_calibration *calibration, const struct nt_memory *found,
			struct nt_memory *out, struct nt_error *err)
{
	for (unsigned i = 0; i < calibration->count; i++) {
		const struct nt_memory_entry *turn[TURNS_MOST];
		unsigned turns = turns_of(found, calibration->contender[i].name, turn);
		struct nt_memory_entry entry;

		if (turns < 2)
			continue;
		if (nt_entry_pool(&entry, turn, turns, err) < 0)
			return -1;
		if (nt_entry_name(&entry, err) < 0) {
			nt_entry_fini(&entry);
			return -1;
		}
		if (nt_memory_add_take(out, &entry, err) < 0)
			return -1;
	}
	return 0;
}
