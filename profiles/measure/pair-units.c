/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
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
	units->unit = calloc(count, sizeof(units->unit[0]));
	units->value = calloc(values + 1, sizeof(units->value[0]));
	units->room = calloc(2 * (values + count) + 1, sizeof(units->room[0]));
	if (units->unit && units->value && units->room)
		return 0;
	nt_units_fini(units);
	return -1;
}

void nt_units_fini(struct nt_units *units)
{
	free(units->unit);
	free(units->value);
	free(units->room);
	memset(units, 0, sizeof(*units));
}

double nt_units_median(float *values, size_t count)
{
	nt_sort_floats(values, count);
	return nt_quantile_floats(values, count, 0.5);
}

static bool counts(const struct nt_units *units, const struct nt_unit_value *value)
{
	return !units->unit[value->unit[0]].out &&
	       (value->unit[1] == NT_UNIT_NONE || !units->unit[value->unit[1]].out);
}

/* The values of each unit, one unit after another, into room. Returns where each unit's begin, and
 * the end; NULL without memory. */
static size_t *sort_out(const struct nt_units *units)
{
	size_t *at = calloc(units->units + 2, sizeof(*at));

	for (size_t i = 0; at && i < units->values; i++)
		for (int side = 0; side < 2; side++)
			if (counts(units, &units->value[i]) &&
			    units->value[i].unit[side] != NT_UNIT_NONE)
				at[units->value[i].unit[side] + 2]++;
	for (unsigned u = 2; at && u < units->units + 2; u++)
		at[u] += at[u - 1];
	/* at[u + 1] moves from the beginning of u's values to their end. */
	for (size_t i = 0; at && i < units->values; i++)
		for (int side = 0; side < 2; side++)
			if (counts(units, &units->value[i]) &&
			    units->value[i].unit[side] != NT_UNIT_NONE)
				units->room[at[units->value[i].unit[side] + 1]++] =
					units->value[i].log;
	return at;
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
	size_t count = 0, from = 0;

	if (!again)
		return -1;
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
		units->room[i] = fabsf(again[i].log);
	units->deviation = fmax(MAD_TO_DEVIATION * nt_units_median(units->room, count),
				DEVIATION_LEAST);
	free(again);
	return 0;
}

/* Mean and error of one unit, not yet from its class's median. */
static void weigh_one(const struct nt_units *units, struct nt_unit *unit, float *log, size_t count)
{
	const double clip = CLIP * units->deviation;
	const double middle = nt_units_median(log, count);
	double sum = 0, squares = 0, mean;

	for (size_t i = 0; i < count; i++)
		sum += fmin(fmax(log[i], middle - clip), middle + clip);
	mean = count > 0 ? sum / (double)count : 0;
	for (size_t i = 0; i < count; i++)
		squares += pow(fmin(fmax(log[i], middle - clip), middle + clip) - mean, 2);
	*unit = (struct nt_unit){ .slower = mean, .middle = middle };
	if (count < VALUES_LEAST)
		return;
	unit->degrees = (double)count - 1;
	unit->error = fmax(units->deviation, sqrt(squares / unit->degrees)) / sqrt((double)count);
}

/* Of n units of a class, a slow one also slows its partners: the means are (n - 1) / (n - 2) nearer
 * to each other than the units. */
static void center(const struct nt_units *units, unsigned class)
{
	float *slower = units->room, *middles = units->room + units->units;
	double mean, middle, factor = 1;
	unsigned count = 0;

	for (unsigned u = class; u < units->units; u += units->classes) {
		if (units->unit[u].out || units->unit[u].degrees < 1)
			continue;
		slower[count] = (float)units->unit[u].slower;
		middles[count++] = (float)units->unit[u].middle;
	}
	mean = nt_units_median(slower, count);
	middle = nt_units_median(middles, count);
	if (units->partners && count > 2)
		factor = (count - 1.0) / (count - 2.0);
	for (unsigned u = class; u < units->units; u += units->classes) {
		struct nt_unit *unit = &units->unit[u];

		if (unit->out)
			continue;
		if (count < VALUES_LEAST)
			unit->degrees = 0;
		unit->slower = factor * (unit->slower - mean);
		unit->middle -= middle;
		unit->error *= factor;
	}
}

int nt_units_weigh(struct nt_units *units)
{
	size_t *from = NULL;

	if (measure_deviation(units) == 0)
		from = sort_out(units);
	if (!from)
		return -1;
	for (unsigned u = 0; u < units->units; u++)
		if (!units->unit[u].out)
			weigh_one(units, &units->unit[u], &units->room[from[u]],
				  from[u + 1] - from[u]);
	for (unsigned class = 0; class < units->classes; class ++)
		center(units, class);
	free(from);
	return 0;
}

bool nt_units_enough(const struct nt_units *units, unsigned unit)
{
	return units->unit[unit].degrees >= DEGREES_LEAST;
}

double nt_units_p(const struct nt_units *units, unsigned unit)
{
	const struct nt_unit *of = &units->unit[unit];

	return nt_units_enough(units, unit) ? nt_student_tail(of->slower / of->error, of->degrees)
					    : 1;
}

int nt_units_slowest(const struct nt_units *units)
{
	int slowest = NT_UNIT_NONE;
	double least = 1;

	for (unsigned u = 0; u < units->units; u++) {
		const double p = units->unit[u].out ? 1 : nt_units_p(units, u);

		/* Several may be so unlikely that nothing but 0 can say it. */
		if (p > least || p >= 1 ||
		    (slowest != NT_UNIT_NONE && p >= least &&
		     units->unit[u].slower <= units->unit[slowest].slower))
			continue;
		least = p;
		slowest = (int)u;
	}
	return slowest;
}
