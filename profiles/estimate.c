/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiles/estimate.h"

#include <math.h>

#define CONTRADICTION_P 0.025 /* on each side */

void nt_turns_add(struct nt_turns *turns, double log_time)
{
	double before = log_time - turns->mean;

	turns->count++;
	turns->mean += before / turns->count;
	turns->squares += before * (log_time - turns->mean);
}

void nt_turns_merge(struct nt_turns *turns, const struct nt_turns *more)
{
	double count = turns->count + more->count, apart = more->mean - turns->mean;

	if (more->count <= 0)
		return;
	turns->squares += more->squares + apart * apart * turns->count * more->count / count;
	turns->mean += apart * more->count / count;
	turns->count = count;
}

double nt_deviation(double squares, double degrees)
{
	double assumed = NT_DEVIATION_DEGREES * NT_DEVIATION_ASSUMED * NT_DEVIATION_ASSUMED;

	return sqrt((assumed + squares) / (NT_DEVIATION_DEGREES + degrees));
}

struct nt_estimate nt_estimate_of(const struct nt_turns *base, const struct nt_turns *arm)
{
	struct nt_estimate out = { .known = base->count > 0 && arm->count > 0 };
	double degrees = base->count + arm->count - 2;

	if (!out.known)
		return out;
	out.log_ratio = arm->mean - base->mean;
	out.error = nt_deviation(base->squares + arm->squares, degrees) *
		    sqrt(1 / base->count + 1 / arm->count);
	out.degrees = NT_DEVIATION_DEGREES + degrees;
	return out;
}

bool nt_estimate_contradict(const struct nt_estimate *a, const struct nt_estimate *b)
{
	double t = fabs(a->log_ratio - b->log_ratio) / hypot(a->error, b->error);

	return nt_student_tail(t, fmin(a->degrees, b->degrees)) < CONTRADICTION_P;
}

struct nt_estimate nt_estimate_join(const struct nt_estimate *nearer,
				    const struct nt_estimate *farther)
{
	struct nt_estimate out = *nearer;
	double of_near, of_far;

	if (!nearer->known)
		return *farther;
	if (!farther->known || nt_estimate_contradict(nearer, farther))
		return *nearer;
	of_near = 1 / (nearer->error * nearer->error);
	of_far = 1 / (farther->error * farther->error);
	out.log_ratio = (of_near * nearer->log_ratio + of_far * farther->log_ratio) /
			(of_near + of_far);
	out.error = 1 / sqrt(of_near + of_far);
	/* Each contains the assumption's. */
	out.degrees = nearer->degrees + farther->degrees - NT_DEVIATION_DEGREES;
	return out;
}

/* Wallace's transformation of t to a normal deviate. */
double nt_student_tail(double t, double degrees)
{
	double z = (8 * degrees + 1) / (8 * degrees + 3) * sqrt(degrees * log1p(t * t / degrees));

	return 0.5 * erfc((t < 0 ? -z : z) / sqrt(2));
}

double nt_estimate_p_below(const struct nt_estimate *estimate)
{
	if (!estimate->known)
		return 1;
	return nt_student_tail(-estimate->log_ratio / estimate->error, estimate->degrees);
}

double nt_estimate_p_above(const struct nt_estimate *estimate, double limit)
{
	if (!estimate->known)
		return 1;
	return nt_student_tail((estimate->log_ratio - limit) / estimate->error, estimate->degrees);
}
