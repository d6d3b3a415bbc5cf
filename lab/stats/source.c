/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - the made-up time of one call */
#include "lab/replay/rng.h"
#include "lab/stats/sim.h"

static double call_us(struct nt_source_noise *from, unsigned arm, unsigned call)
{
	uint64_t draw = from->seed++;
	const bool first = arm != from->before;
	double us = nt_noise_us(from->noise, nt_rng_hash(draw), call);
	double gap_us = nt_noise_gap_us(from->noise, nt_rng_hash(draw), call);

	from->before = arm;
	if (arm != NT_FASTER_ARM)
		return us + gap_us;
	if (first)
		us *= 1 + from->sim->carry;
	if (nt_rng_unit(nt_rng_mix(draw, 5)) < from->sim->stalls)
		us *= NT_STALL;
	return us * (1 - from->sim->gain) + gap_us;
}

/* Of a run, the median of all calls but the first: a mean would have no modes. */
double nt_source_noise_us(void *source, unsigned arm, unsigned call)
{
	struct nt_source_noise *from = source;
	const unsigned run = from->sim->run;
	const double first_us = call_us(from, arm, call * run);
	float us[NT_SIM_RUN];

	if (run <= 1)
		return first_us;
	for (unsigned i = 1; i < run; i++)
		us[i - 1] = (float)call_us(from, arm, call * run + i);
	return nt_sample_quantile(us, run - 1, 0.5);
}
