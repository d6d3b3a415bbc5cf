/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pair-units.c - see pair-units.h */
#include "profiles/measure/pair-units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/compare.h"
#include "lib/quantile.h"
#include "profiles/estimate.h"

#define CLIP 3.0 /* deviations from a unit's median: one stall must not speak for it */
#define DEGREES_LEAST 7 /* to name a unit: with few values, stalls may be half of them */
#define DEVIATION_LEAST 0.005 /* no clock and no network are better */
#define MAD_TO_DEVIATION 1.4826
#define VALUES_LEAST 3

int nt_units_init(struct nt_units *units, unsigned count, unsigned classes, size_t values)
{
	*units = (struct nt_units){ .units = count, .classes = classes };
	units->value = calloc(values + 1, sizeof(units->value[0]));
	units->out = calloc(count, sizeof(units->out[0]));
	units->slower = calloc(count, sizeof(units->slower[0]));
	units->error = calloc(count, sizeof(units->error[0]));
	units->degrees = calloc(count, sizeof(units->degrees[0]));
	units->middle = calloc(count, sizeof(units->middle[0]));
	if (units->value && units->out && units->slower && units->error && units->degrees &&
	    units->middle)
		return 0;
	nt_units_fini(units);
	return -1;
}

void nt_units_fini(struct nt_units *units)
{
	free(units->value);
	free(units->out);
	free(units->slower);
	free(units->error);
	free(units->degrees);
	free(units->middle);
	memset(units, 0, sizeof(*units));
}

double nt_units_median(float *values, size_t count)
{
	nt_sort_floats(values, count);
	return nt_quantile_floats(values, count, 0.5);
}

static bool counts(const struct nt_units *units, const struct nt_unit_value *value)
{
	return !units->out[value->unit[0]] &&
	       (value->unit[1] == NT_UNIT_NONE || !units->out[value->unit[1]]);
}

/* The values of each unit, one unit after another. */
struct sorted {
	size_t *from; /* of each unit, and the end */
	float *log;
};

static int sort_out(const struct nt_units *units, struct sorted *sorted)
{
	size_t *at = calloc(units->units + 2, sizeof(*at));

	sorted->log = calloc(2 * units->values + 1, sizeof(sorted->log[0]));
	sorted->from = at;
	if (!at || !sorted->log)
		return -1;
	for (size_t i = 0; i < units->values; i++)
		for (int side = 0; side < 2; side++)
			if (counts(units, &units->value[i]) &&
			    units->value[i].unit[side] != NT_UNIT_NONE)
				at[units->value[i].unit[side] + 2]++;
	for (unsigned u = 2; u < units->units + 2; u++)
		at[u] += at[u - 1];
	/* at[u + 1] moves from the beginning of u's values to their end. */
	for (size_t i = 0; i < units->values; i++)
		for (int side = 0; side < 2; side++)
			if (counts(units, &units->value[i]) &&
			    units->value[i].unit[side] != NT_UNIT_NONE)
				sorted->log[at[units->value[i].unit[side] + 1]++] =
					units->value[i].log;
	return 0;
}

static int by_units(const void *left, const void *right)
{
	const struct nt_unit_value *a = left, *b = right;

	NT_COMPARE(a->unit[0], b->unit[0]);
	NT_COMPARE(a->unit[1], b->unit[1]);
	return 0;
}

/* Values of the same units, relative to their mean if there are enough. */
static void take_mean(struct nt_unit_value *value, size_t count)
{
	double mean = 0;

	if (count < VALUES_LEAST)
		return;
	for (size_t i = 0; i < count; i++)
		mean += value[i].log;
	mean /= (double)count;
	for (size_t i = 0; i < count; i++)
		value[i].log = (float)((value[i].log - mean) *
				       sqrt((double)count / ((double)count - 1)));
}

/* From pairs that met again and again, as far as they did: with few units, half of all pairs may
 * have a slow one. */
static int measure_deviation(struct nt_units *units)
{
	struct nt_unit_value *again = calloc(units->values + 1, sizeof(*again));
	float *apart = calloc(units->values + 1, sizeof(*apart));
	size_t count = 0, from = 0;

	if (!again || !apart) {
		free(again);
		free(apart);
		return -1;
	}
	for (size_t i = 0; i < units->values; i++)
		if (counts(units, &units->value[i]))
			again[count++] = units->value[i];
	if (count > 1)
		qsort(again, count, sizeof(again[0]), by_units);
	for (size_t i = 1; i <= count; i++) {
		if (i < count && by_units(&again[i], &again[from]) == 0)
			continue;
		take_mean(&again[from], i - from);
		from = i;
	}
	for (size_t i = 0; i < count; i++)
		apart[i] = fabsf(again[i].log);
	units->deviation = fmax(MAD_TO_DEVIATION * nt_units_median(apart, count), DEVIATION_LEAST);
	free(again);
	free(apart);
	return 0;
}

/* Mean and error of one unit, not yet from its class's median. */
static void weigh_one(struct nt_units *units, unsigned unit, float *log, size_t count)
{
	const double clip = CLIP * units->deviation;
	const double middle = nt_units_median(log, count);
	double sum = 0, squares = 0, mean;

	for (size_t i = 0; i < count; i++)
		sum += fmin(fmax(log[i], middle - clip), middle + clip);
	mean = count > 0 ? sum / (double)count : 0;
	for (size_t i = 0; i < count; i++)
		squares += pow(fmin(fmax(log[i], middle - clip), middle + clip) - mean, 2);
	units->slower[unit] = mean;
	units->middle[unit] = middle;
	units->degrees[unit] = count >= VALUES_LEAST ? (double)count - 1 : 0;
	units->error[unit] = 0;
	if (count >= VALUES_LEAST)
		units->error[unit] = fmax(units->deviation, sqrt(squares / ((double)count - 1))) /
				     sqrt((double)count);
}

/* Of n units of a class, a slow one also slows its partners: the means are (n - 1) / (n - 2) nearer
 * to each other than the units. */
static void center(struct nt_units *units, unsigned class, float *room)
{
	double mean, middle, factor = 1;
	unsigned count = 0;

	for (unsigned u = class; u < units->units; u += units->classes)
		if (!units->out[u] && units->degrees[u] >= 1)
			room[count++] = (float)units->slower[u];
	mean = nt_units_median(room, count);
	count = 0;
	for (unsigned u = class; u < units->units; u += units->classes)
		if (!units->out[u] && units->degrees[u] >= 1)
			room[count++] = (float)units->middle[u];
	middle = nt_units_median(room, count);
	if (units->partners && count > 2)
		factor = (count - 1.0) / (count - 2.0);
	for (unsigned u = class; u < units->units; u += units->classes) {
		if (units->out[u])
			continue;
		if (count < VALUES_LEAST)
			units->degrees[u] = 0;
		units->slower[u] = factor * (units->slower[u] - mean);
		units->middle[u] -= middle;
		units->error[u] *= factor;
	}
}

int nt_units_weigh(struct nt_units *units)
{
	float *room = calloc(units->units + 1, sizeof(*room));
	struct sorted sorted = { NULL, NULL };
	int rc = -1;

	if (room && measure_deviation(units) == 0 && sort_out(units, &sorted) == 0) {
		for (unsigned u = 0; u < units->units; u++)
			if (!units->out[u])
				weigh_one(units, u, &sorted.log[sorted.from[u]],
					  sorted.from[u + 1] - sorted.from[u]);
		for (unsigned class = 0; class < units->classes; class ++)
			center(units, class, room);
		rc = 0;
	}
	free(sorted.from);
	free(sorted.log);
	free(room);
	return rc;
}

bool nt_units_enough(const struct nt_units *units, unsigned unit)
{
	return units->degrees[unit] >= DEGREES_LEAST;
}

double nt_units_p(const struct nt_units *units, unsigned unit)
{
	if (!nt_units_enough(units, unit))
		return 1;
	return nt_student_tail(units->slower[unit] / units->error[unit], units->degrees[unit]);
}

int nt_units_slowest(const struct nt_units *units)
{
	int slowest = NT_UNIT_NONE;
	double least = 1;

	for (unsigned u = 0; u < units->units; u++) {
		double p = nt_units_p(units, u);

		if (units->out[u])
			continue;
		/* Several may be so unlikely that nothing but 0 can say it. */
		if (p > least || p >= 1 ||
		    (slowest != NT_UNIT_NONE && p >= least &&
		     units->slower[u] <= units->slower[slowest]))
			continue;
		least = p;
		slowest = (int)u;
	}
	return slowest;
}
