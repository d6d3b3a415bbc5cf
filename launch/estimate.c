/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/estimate.h"

#include <math.h>

void nt_log_times_add(struct nt_log_times *sum, double log_time)
{
	double before = log_time - sum->mean;

	sum->count++;
	sum->mean += before / sum->count;
	sum->squares += before * (log_time - sum->mean);
}

double nt_estimate_deviation(double squares, double degrees)
{
	double assumed = NT_DEVIATION_DEGREES * NT_DEVIATION_ASSUMED * NT_DEVIATION_ASSUMED;

	return sqrt((assumed + squares) / (NT_DEVIATION_DEGREES + degrees));
}

struct nt_estimate nt_estimate_of(const struct nt_log_times *base, const struct nt_log_times *arm)
{
	const double degrees = base->count + arm->count - 2;

	return (struct nt_estimate){
		.log_ratio = arm->mean - base->mean,
		.error = nt_estimate_deviation(base->squares + arm->squares, degrees) *
			 sqrt(1 / base->count + 1 / arm->count),
		.degrees = NT_DEVIATION_DEGREES + degrees,
	};
}

/* Wallace's transformation of t to a normal deviate. */
double nt_student_tail(double t, double degrees)
{
	double z = (8 * degrees + 1) / (8 * degrees + 3) * sqrt(degrees * log1p(t * t / degrees));

	return 0.5 * erfc((t < 0 ? -z : z) / sqrt(2));
}

double nt_estimate_p_below(const struct nt_estimate *estimate)
{
	return nt_student_tail(-estimate->log_ratio / estimate->error, estimate->degrees);
}

double nt_estimate_p_above(const struct nt_estimate *estimate)
{
	return nt_student_tail(estimate->log_ratio / estimate->error, estimate->degrees);
}

enum nt_worth nt_estimate_worth(double log_ratio, double p, double p_most, double worst)
{
	if (worst > NT_WORST_MOST)
		return NT_WORTH_WORST;
	if (log_ratio > 0)
		return NT_WORTH_SLOWER;
	if (log_ratio > log1p(-NT_GAIN_LEAST))
		return NT_WORTH_SMALL;
	return p < p_most ? NT_WORTH_IT : NT_WORTH_NOISE;
}
