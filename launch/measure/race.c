/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/measure/race.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include "launch/estimate.h"

#define LOSES_P 0.02 /* by which one cannot win */
#define WINS_P 0.0025 /* with which one wins, shared by all profiles, at each of some looks */
#define WINS_LAST_P 0.01 /* and at the last look, when the time is over */
#define LAPS_LEAST 2 /* a single lap may have been disturbed */
#define LAPS_MORE 2 /* of each that is left, which must fit into the time */
#define GRACE_S 1 /* beyond the time limit, for a lap that has begun */

void nt_race_init(struct nt_race *race, unsigned profiles, const struct nt_cal_call *calls,
		  unsigned count, double time_s, double guess_s)
{
	memset(race, 0, sizeof(*race));
	race->count = 1 + (profiles < NT_CAL_PROFILES ? profiles : NT_CAL_PROFILES);
	race->calls = count < NT_CAL_CALLS ? count : NT_CAL_CALLS;
	for (unsigned i = 0; i < race->calls; i++)
		race->weight[i] = (double)calls[i].calls;
	race->time_s = time_s;
	race->guess_s = guess_s;
	for (unsigned i = 0; i < race->count; i++)
		race->racer[i].p = race->racer[i].worst = 1;
}

bool nt_race_knows_mix(const struct nt_race *race)
{
	for (unsigned i = 0; i < race->calls; i++)
		if (race->weight[i] > 0)
			return true;
	return false;
}

/* ---- laps */

static double log_cost(const struct nt_race *race, const double *median_us)
{
	double sum = 0;

	if (nt_race_knows_mix(race)) {
		for (unsigned i = 0; i < race->calls; i++)
			sum += race->weight[i] * median_us[i];
		return log(sum);
	}
	for (unsigned i = 0; i < race->calls; i++)
		sum += log(median_us[i]) / race->calls;
	return sum;
}

/* The laps of the default before and after a lap, or one of them twice; false: there is none. */
static bool find_neighbours(const struct nt_race *race, unsigned at, unsigned neighbour[2])
{
	bool before = false, after = false;

	for (unsigned i = 0; i < race->laps; i++) {
		if (race->lap[i].racer != 0)
			continue;
		if (i < at)
			neighbour[0] = i;
		else if (!after)
			neighbour[1] = i;
		before = before || i < at;
		after = after || i > at;
	}
	if (!after)
		neighbour[1] = neighbour[0];
	if (!before)
		neighbour[0] = neighbour[1];
	return before || after;
}

/* Sums up a racer's laps. out: the logarithms against the default's. */
static void sum_up(struct nt_race *race, unsigned which, struct nt_log_times *out)
{
	struct nt_racer *racer = &race->racer[which];
	double call[NT_CAL_CALLS] = { 0 };
	struct nt_log_times own = { 0 };
	unsigned near[2] = { 0 };

	for (unsigned i = 0; i < race->laps; i++) {
		if (race->lap[i].racer != which)
			continue;
		nt_log_times_add(&own, race->lap[i].log_cost);
		if (which == 0 || !find_neighbours(race, i, near))
			continue;
		nt_log_times_add(out, race->lap[i].log_cost - (race->lap[near[0]].log_cost +
							       race->lap[near[1]].log_cost) /
								      2);
		for (unsigned c = 0; c < race->calls; c++)
			call[c] += race->lap[i].log_us[c] -
				   (race->lap[near[0]].log_us[c] + race->lap[near[1]].log_us[c]) /
					   2;
	}
	racer->deviation = own.count > 1 ? sqrt(own.squares / (own.count - 1)) : 0;
	racer->worst = 0;
	for (unsigned c = 0; c < race->calls && out->count > 0; c++)
		racer->worst = fmax(racer->worst, exp(call[c] / out->count));
}

/* The deviation between laps is that of all profiles together: it is the place's. */
static void estimate_all(struct nt_race *race)
{
	struct nt_log_times laps[NT_RACERS] = { { 0 } };
	double squares = 0, degrees = 0, deviation;

	for (unsigned i = 0; i < race->count; i++) {
		sum_up(race, i, &laps[i]);
		squares += laps[i].squares;
		degrees += laps[i].count > 1 ? laps[i].count - 1 : 0;
	}
	deviation = nt_estimate_deviation(squares, degrees);
	race->degrees = NT_DEVIATION_DEGREES + degrees;
	for (unsigned i = 1; i < race->count; i++) {
		struct nt_racer *racer = &race->racer[i];

		if (laps[i].count == 0)
			continue;
		racer->log_ratio = laps[i].mean;
		racer->error = deviation * sqrt(1 / laps[i].count + 1.0 / race->racer[0].laps);
		racer->p = nt_student_tail(-racer->log_ratio / racer->error, race->degrees);
	}
}

/* ---- who is left */

static unsigned open_profiles(const struct nt_race *race)
{
	unsigned count = 0;

	for (unsigned i = 1; i < race->count; i++)
		count += race->racer[i].state == NT_RACER_OPEN;
	return count;
}

/* Is the difference surely above the limit? error: its standard error. */
static bool surely_above(const struct nt_race *race, double difference, double error, double limit)
{
	return nt_student_tail((difference - limit) / error, race->degrees) < LOSES_P;
}

/* May it be the best, by enough to matter? */
static bool can_win(const struct nt_race *race, unsigned which, unsigned leader)
{
	const struct nt_racer *a = &race->racer[which], *b = &race->racer[leader];
	double error;

	if (a->laps == 0)
		return true;
	if (surely_above(race, a->log_ratio, a->error, log(1 - NT_GAIN_LEAST)) ||
	    (!nt_race_knows_mix(race) &&
	     surely_above(race, log(a->worst), a->error, log(NT_WORST_MOST))))
		return false;
	if (which == leader || b->laps == 0)
		return true;
	error = a->error *
		sqrt((1.0 / a->laps + 1.0 / b->laps) / (1.0 / a->laps + 1.0 / race->racer[0].laps));
	return !surely_above(race, a->log_ratio - b->log_ratio, error, log(1 - NT_GAIN_LEAST));
}

/* Where the mix is unknown, one that is slower at some call cannot win. */
static bool qualifies(const struct nt_race *race, unsigned which)
{
	const struct nt_racer *racer = &race->racer[which];

	return nt_race_knows_mix(race) || racer->laps == 0 || racer->worst <= NT_WORST_MOST;
}

/* Does a come before b, by what is known so far? */
static bool is_ahead(const struct nt_race *race, unsigned a, unsigned b)
{
	if (qualifies(race, a) != qualifies(race, b))
		return qualifies(race, a);
	return race->racer[a].log_ratio < race->racer[b].log_ratio;
}

/* The open profile that is fastest so far; 0: none was measured. */
static unsigned leader_of(const struct nt_race *race)
{
	unsigned leader = 0;

	for (unsigned i = 1; i < race->count; i++) {
		const struct nt_racer *racer = &race->racer[i];

		if (racer->state == NT_RACER_OPEN && racer->laps > 0 &&
		    (leader == 0 || is_ahead(race, i, leader)))
			leader = i;
	}
	return leader;
}

static void drop_beaten(struct nt_race *race)
{
	unsigned leader = leader_of(race);

	for (unsigned i = 1; i < race->count && leader > 0; i++)
		if (race->racer[i].state == NT_RACER_OPEN && i != leader &&
		    !can_win(race, i, leader))
			race->racer[i].state = NT_RACER_BEATEN;
	if (leader > 0 && !can_win(race, leader, leader))
		race->racer[leader].state = NT_RACER_BEATEN;
}

/* Laps that all who are left have completed. */
static unsigned least_laps(const struct nt_race *race)
{
	unsigned least = UINT_MAX;

	for (unsigned i = 0; i < race->count; i++)
		if (race->racer[i].state == NT_RACER_OPEN && race->racer[i].laps < least)
			least = race->racer[i].laps;
	return least;
}

static bool laps_are_equal(const struct nt_race *race)
{
	for (unsigned i = 0; i < race->count; i++)
		if (race->racer[i].state == NT_RACER_OPEN &&
		    race->racer[i].laps != least_laps(race))
			return false;
	return true;
}

/* Of a racer's next lap. */
static double expected_s(const struct nt_race *race, unsigned which)
{
	double longest_s = race->racer[which].longest_s;

	/* One that never ran takes as long as the longest of the others. */
	for (unsigned i = 0; race->racer[which].laps == 0 && i < race->count; i++)
		longest_s = fmax(longest_s, race->racer[i].longest_s);
	return longest_s > 0 ? longest_s : race->guess_s;
}

/* Of a lap of each that is left. */
static double lap_of_each_s(const struct nt_race *race)
{
	double sum_s = 0;

	for (unsigned i = 0; i < race->count; i++)
		if (race->racer[i].state == NT_RACER_OPEN)
			sum_s += expected_s(race, i);
	return sum_s;
}

static void drop_half(struct nt_race *race)
{
	for (unsigned drop = open_profiles(race) / 2; drop > 0; drop--) {
		unsigned last = 0;

		for (unsigned i = 1; i < race->count; i++)
			if (race->racer[i].state == NT_RACER_OPEN &&
			    (last == 0 || is_ahead(race, last, i)))
				last = i;
		race->racer[last].state = NT_RACER_BEATEN;
	}
}

/* ---- the race */

void nt_race_note(struct nt_race *race, unsigned which, const double *median_us, double took_s,
		  double elapsed_s)
{
	struct nt_racer *racer = &race->racer[which];

	if (race->laps == NT_RACE_LAPS)
		return;
	race->lap[race->laps].racer = which;
	for (unsigned i = 0; i < race->calls; i++)
		race->lap[race->laps].log_us[i] = (float)log(median_us[i]);
	race->lap[race->laps++].log_cost = log_cost(race, median_us);
	racer->laps++;
	racer->longest_s = fmax(racer->longest_s, took_s);
	estimate_all(race);
	drop_beaten(race);
	if (laps_are_equal(race) && elapsed_s + LAPS_MORE * lap_of_each_s(race) > race->time_s)
		drop_half(race);
}

void nt_race_fail(struct nt_race *race, unsigned which, enum nt_racer_state state)
{
	race->racer[which].state = state;
}

static enum nt_worth worth_of(const struct nt_race *race, unsigned which, double p)
{
	const struct nt_racer *racer = &race->racer[which];

	if (racer->state != NT_RACER_OPEN || racer->laps < LAPS_LEAST)
		return NT_WORTH_SMALL;
	return nt_estimate_worth(racer->log_ratio, racer->p, p / (race->count - 1),
				 nt_race_knows_mix(race) ? 0 : racer->worst);
}

static unsigned winner_at(const struct nt_race *race, double p)
{
	unsigned winner = 0;

	if (race->racer[0].state != NT_RACER_OPEN)
		return 0;
	for (unsigned i = 1; i < race->count; i++)
		if (worth_of(race, i, p) == NT_WORTH_IT &&
		    (winner == 0 || race->racer[i].log_ratio < race->racer[winner].log_ratio))
			winner = i;
	return winner;
}

unsigned nt_race_winner(const struct nt_race *race, enum nt_race_end end)
{
	return winner_at(race, end == NT_RACE_TIME ? WINS_LAST_P : WINS_P);
}

bool nt_race_undecided(const struct nt_race *race, enum nt_race_end end)
{
	for (unsigned i = 1; i < race->count && end == NT_RACE_TIME; i++)
		if (worth_of(race, i, WINS_LAST_P) == NT_WORTH_NOISE)
			return nt_race_winner(race, end) == 0;
	return false;
}

static enum nt_race_end find_end(const struct nt_race *race)
{
	const unsigned open = open_profiles(race);

	if (race->racer[0].state == NT_RACER_WRONG)
		return NT_RACE_WRONG;
	if (race->racer[0].state != NT_RACER_OPEN)
		return NT_RACE_NO_DEFAULT;
	if (open == 0 && (race->count > 1 || race->racer[0].laps >= LAPS_LEAST))
		return NT_RACE_CLEAR;
	if (open == 1 && winner_at(race, WINS_P) != 0)
		return NT_RACE_CLEAR;
	return race->laps == NT_RACE_LAPS ? NT_RACE_TIME : NT_RACE_GOES_ON;
}

int nt_race_next(const struct nt_race *race, double elapsed_s, enum nt_race_end *end)
{
	const unsigned laps = least_laps(race);
	int next = -1;

	*end = find_end(race);
	if (*end != NT_RACE_GOES_ON)
		return -1;
	for (unsigned i = 0; i < race->count; i++)
		if (race->racer[i].state == NT_RACER_OPEN && race->racer[i].laps == laps &&
		    (next < 0 || laps % 2 == 1))
			next = (int)i;
	if (elapsed_s + expected_s(race, (unsigned)next) <= race->time_s)
		return next;
	*end = NT_RACE_TIME;
	return -1;
}

/* Three times what is expected, at least ten seconds more than that because a node may be busy for
 * a moment, and at most the time that is left. */
double nt_race_limit_s(const struct nt_race *race, unsigned which, double elapsed_s)
{
	const double rest_s = race->time_s - elapsed_s + GRACE_S, s = expected_s(race, which);

	return race->racer[0].laps == 0 ? rest_s : fmin(rest_s, s + fmax(2 * s + 2, 10));
}
