/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Turns of a calibration. */
#include "report/calibration.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SURE 1.645 /* standard errors: one in twenty, one-sided */
#define WINS_P 0.01 /* of the mix, by which one that is left has won */
#define WINS_RATIO 0.97
#define CALLS_LEAST_S 1
#define CALLS_MOST_S 4

void nt_calibration_init(struct nt_calibration *calibration, double time_s, double guess_s)
{
	memset(calibration, 0, sizeof(*calibration));
	calibration->time_s = time_s;
	calibration->guess_s = guess_s;
	nt_calibration_add(calibration, NT_PROFILE_DEFAULT);
}

bool nt_calibration_add(struct nt_calibration *calibration, const char *profile)
{
	struct nt_contender *contender;

	if (calibration->count == NT_CALIBRATION_MAX)
		return false;
	contender = &calibration->contender[calibration->count++];
	snprintf(contender->name, sizeof(contender->name), "%s", profile);
	contender->weight.ratio = contender->weight.p = 1;
	return true;
}

double nt_calibration_estimate_s(const struct nt_calibration *calibration, unsigned which)
{
	double longest_s = calibration->contender[which].longest_s;

	/* What never ran takes as long as the longest of the others that ended well. */
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

/* The only one that is left, if its gain is beyond noise. */
static bool has_won(const struct nt_calibration *calibration)
{
	for (unsigned i = 1; i < calibration->count; i++) {
		const struct nt_contender *contender = &calibration->contender[i];

		if (contender->state == NT_CONTENDER_OPEN)
			return contender->weight.known && contender->weight.p < WINS_P &&
			       contender->weight.ratio < WINS_RATIO;
	}
	return false;
}

/* Rounds that all of those that are open have had. */
static unsigned round_of(const struct nt_calibration *calibration)
{
	unsigned round = NT_CALIBRATION_ROUNDS;

	for (unsigned i = 0; i < calibration->count; i++) {
		const struct nt_contender *contender = &calibration->contender[i];

		if (contender->state == NT_CONTENDER_OPEN && contender->round < round)
			round = contender->round;
	}
	return round;
}

/* In round r, the r-th of those that are open comes first. */
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

int nt_calibration_next(const struct nt_calibration *calibration, double elapsed_s,
			enum nt_calibration_end *end)
{
	const struct nt_contender *base = &calibration->contender[0];
	unsigned round = round_of(calibration);
	int which;

	if (base->state == NT_CONTENDER_FAILED && base->runs == 0)
		*end = NT_CALIBRATION_NO_DEFAULT;
	else if (open_candidates(calibration) == 0)
		*end = NT_CALIBRATION_CLEAR;
	else if (open_candidates(calibration) == 1 && round > 0 && has_won(calibration))
		*end = NT_CALIBRATION_CLEAR;
	else if (round == NT_CALIBRATION_ROUNDS)
		*end = NT_CALIBRATION_ROUNDS_OVER;
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

void nt_calibration_note(struct nt_calibration *calibration, unsigned which, bool well,
			 double took_s)
{
	struct nt_contender *contender = &calibration->contender[which];

	contender->round++;
	contender->runs += well;
	contender->longest_s = fmax(contender->longest_s, took_s);
	if (!well)
		contender->state = NT_CONTENDER_FAILED;
}

void nt_calibration_judge(struct nt_calibration *calibration)
{
	double best = 1;

	for (unsigned i = 1; i < calibration->count; i++) {
		const struct nt_contender *contender = &calibration->contender[i];

		if (contender->weight.known && contender->state != NT_CONTENDER_FAILED)
			best = fmin(best, contender->weight.ratio);
	}
	for (unsigned i = 1; i < calibration->count; i++) {
		struct nt_contender *contender = &calibration->contender[i];
		const struct nt_weight *weight = &contender->weight;

		if (contender->state == NT_CONTENDER_OPEN && weight->known &&
		    weight->ratio * exp(-SURE * weight->error) > best)
			contender->state = NT_CONTENDER_BEATEN;
	}
}

double nt_calibration_time_s(unsigned nodes)
{
	return nodes > 2 ? 30 * (1 + 0.25 * log2((double)nodes / 2)) : 30;
}

unsigned nt_calibration_calls_s(double time_s, unsigned profiles, double start_s)
{
	double share_s = time_s / profiles - start_s;

	if (share_s < CALLS_LEAST_S)
		return CALLS_LEAST_S;
	return share_s > CALLS_MOST_S ? CALLS_MOST_S : (unsigned)share_s;
}
