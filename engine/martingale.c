/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* martingale.c - see martingale.h */
#include "engine/martingale.h"

#include <math.h>
#include "engine/matched.h"

#define FACTORS 4
#define VIEWS 2
#define MOST 0.95 /* of its wealth that a bet may lose */

struct wealth {
	double of[VIEWS][FACTORS];
	double differences[VIEWS]; /* sum of what they are, without signs */
	double most; /* that the mean of all has been */
};

/* Where a time stands on a log scale: in its mode; in the lower half. */
static double view_of(const struct nt_matched *pairs, unsigned view, double us)
{
	const double middle = pairs->pooled[pairs->count];

	return view == 0 ? log(us / nt_matched_mode_median(pairs, us)) : log(fmin(us, middle));
}

/* The bets on the newest pair. */
static void bet(struct wealth *wealth, const struct nt_matched *pairs)
{
	static const double factor[FACTORS] = { 0.2, 0.5, 1, 2.5 };
	const unsigned at = pairs->count - 1;
	double sum = 0;

	for (unsigned view = 0; view < VIEWS; view++) {
		double faster = view_of(pairs, view, (double)pairs->base[at]) -
				view_of(pairs, view, (double)pairs->arm[at]);
		double scale;

		wealth->differences[view] += fabs(faster);
		scale = wealth->differences[view] / pairs->count;
		for (unsigned i = 0; i < FACTORS; i++) {
			if (scale > 0)
				wealth->of[view][i] *= 1 + MOST * tanh(factor[i] * faster / scale);
			sum += wealth->of[view][i];
		}
	}
	wealth->most = fmax(wealth->most, sum / (VIEWS * FACTORS));
}

double nt_martingale_p(const float *base, const float *arm, unsigned count)
{
	struct wealth wealth = { .most = 1 };
	struct nt_matched pairs;

	pairs.count = 0;
	for (unsigned view = 0; view < VIEWS; view++) {
		for (unsigned i = 0; i < FACTORS; i++)
			wealth.of[view][i] = 1;
	}
	for (unsigned i = 0; i < count && i < NT_SAMPLES_MAX; i++) {
		if (!(base[i] > 0) || !(arm[i] > 0))
			continue;
		nt_matched_add(&pairs, base[i], arm[i]);
		bet(&wealth, &pairs);
	}
	return 1 / wealth.most;
}
