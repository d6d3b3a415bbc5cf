/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/rules/martingale.h"

#include <math.h>
#include "engine/quantiles.h"

#define FACTORS 4
#define VIEWS 2
#define MOST 0.95 /* share of its wealth that a bet may lose */
#define GAP 1.4 /* least ratio between modes, of which there are MODES at most */
#define MODES 16

struct wealth {
	double of[VIEWS][FACTORS];
	double differences[VIEWS]; /* sum of absolute differences */
	double most; /* largest value of the mean wealth */
};

/* The times of all pairs so far, sorted. */
struct pool {
	unsigned count;
	float us[2 * NT_SAMPLES_MAX];
};

static void insert(struct pool *pool, float us)
{
	unsigned at = pool->count++;

	for (; at > 0 && pool->us[at - 1] > us; at--)
		pool->us[at] = pool->us[at - 1];
	pool->us[at] = us;
}

/* Median of the mode that contains this time. */
static double mode_median(const struct pool *pool, double us)
{
	unsigned from = 0, to = 1, modes = 1;

	for (; to < pool->count; to++) {
		const double below = (double)pool->us[to - 1];

		if ((double)pool->us[to] <= GAP * below || modes == MODES)
			continue;
		if (us <= below)
			break;
		from = to;
		modes++;
	}
	return (double)pool->us[(from + to) / 2];
}

/* Position of a time on a log scale: within its mode, and in the lower half. */
static double view_of(const struct pool *pool, unsigned view, double us)
{
	const double middle = (double)pool->us[pool->count / 2];

	return view == 0 ? log(us / mode_median(pool, us)) : log(fmin(us, middle));
}

/* Bet on the newest pair. */
static void bet(struct wealth *wealth, struct pool *pool, float baseline, float arm)
{
	static const double factor[FACTORS] = { 0.2, 0.5, 1, 2.5 };
	double sum = 0;

	insert(pool, baseline);
	insert(pool, arm);
	for (unsigned view = 0; view < VIEWS; view++) {
		double faster = view_of(pool, view, (double)baseline) -
				view_of(pool, view, (double)arm);
		double scale;

		wealth->differences[view] += fabs(faster);
		scale = 2 * wealth->differences[view] / pool->count;
		for (unsigned i = 0; i < FACTORS; i++) {
			if (scale > 0)
				wealth->of[view][i] *= 1 + MOST * tanh(factor[i] * faster / scale);
			sum += wealth->of[view][i];
		}
	}
	wealth->most = fmax(wealth->most, sum / (VIEWS * FACTORS));
}

double nt_martingale_p(const float *baseline, const float *arm, unsigned count)
{
	struct wealth wealth = { .most = 1 };
	struct pool pool = { .count = 0 };

	for (unsigned view = 0; view < VIEWS; view++) {
		for (unsigned i = 0; i < FACTORS; i++)
			wealth.of[view][i] = 1;
	}
	for (unsigned i = 0; i < count && i < NT_SAMPLES_MAX; i++) {
		if (baseline[i] > 0 && arm[i] > 0)
			bet(&wealth, &pool, baseline[i], arm[i]);
	}
	return 1 / wealth.most;
}
