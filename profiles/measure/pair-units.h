/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pair-units.h - the times of pairs by unit (node, GPU or NIC), and the slowest unit
 *
 * Threads:  pure.
 * Memory:   nt_units_fini() frees what nt_units_init() allocated.
 * Errors:   -1: out of memory.
 * Units:    natural logarithms of times over those of their like.
 */
#ifndef NT_PAIR_UNITS_H
#define NT_PAIR_UNITS_H

#include <stdbool.h>
#include <stddef.h>

#define NT_UNIT_NONE (-1)

/* A value is of one unit, or of two at once. */
struct nt_unit_value {
	int unit[2]; /* the second may be NT_UNIT_NONE */
	float log;
};

struct nt_unit {
	bool out; /* left out, with its values */
	/* As of the last nt_units_weigh() before it was left out: */
	double slower; /* than the median of its class */
	double error, degrees; /* of that */
	double middle; /* median of its values, from that of its class */
};

struct nt_units {
	unsigned units, classes; /* units of a class are compared: unit % classes */
	bool partners; /* values are of two units */
	struct nt_unit *unit;
	struct nt_unit_value *value;
	size_t values;
	double deviation; /* of all values, but for outliers */
	float *room; /* for nt_units_weigh() */
};

/* Room for so many values, which the caller fills in. */
int nt_units_init(struct nt_units *units, unsigned count, unsigned classes, size_t values);
void nt_units_fini(struct nt_units *units);

/* After all values are there, and after each change of out. */
int nt_units_weigh(struct nt_units *units);

/* Has it values enough to be named? */
bool nt_units_enough(const struct nt_units *units, unsigned unit);

/* How likely a unit would look so slow by chance. */
double nt_units_p(const struct nt_units *units, unsigned unit);
/* The least likely one; NT_UNIT_NONE: none has values enough. */
int nt_units_slowest(const struct nt_units *units);

/* Sorts values. 0 without any. */
double nt_units_median(float *values, size_t count);

#endif
