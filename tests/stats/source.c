/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - the made-up time of one call */
#include "replay/rng.h"
#include "tests/stats/sim.h"

double nt_source_noise_us(void *source, unsigned arm, unsigned call)
{
	struct nt_source_noise *from = source;
	uint64_t draw = from->seed++;
	double us = nt_noise_us(from->noise, nt_rng_hash(draw), call);
	double gap_us = nt_noise_gap_us(from->noise, nt_rng_hash(draw), call);

	if (arm != NT_FASTER_ARM)
		return us + gap_us;
	if (nt_rng_unit(nt_rng_mix(draw, 5)) < from->sim->stalls)
		us *= NT_STALL;
	return us * (1 - from->sim->gain) + gap_us;
}
