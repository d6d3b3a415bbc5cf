/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - the time of one call, from a trace or made up */
#include "tests/fake/rng.h"
#include "tests/stats/sim.h"

unsigned nt_source_slot(unsigned arm)
{
	return arm == NT_ARM_AUTO ? NT_PAIRS : arm;
}

double nt_source_us(void *source, unsigned arm, unsigned call)
{
	struct nt_source *from = source;
	const struct nt_trace_row *row = from->only ? from->only : from->row[nt_source_slot(arm)];
	uint64_t draw = from->seed++;
	double gap_us = 0;
	double us;

	if (from->noise) {
		us = nt_noise_us(from->noise, nt_rng_hash(draw), call);
		gap_us = nt_noise_gap_us(from->noise, nt_rng_hash(draw), call);
	} else if (from->in_order) {
		us = row->sample_us[from->taken[nt_source_slot(arm)]++ % row->samples];
	} else {
		us = row->sample_us[nt_rng_hash(draw) % row->samples];
	}
	if (arm != NT_FASTER_ARM || (!from->only && !from->noise))
		return us + gap_us;
	if (nt_rng_unit(nt_rng_mix(draw, 5)) < from->sim->stalls)
		us *= NT_STALL;
	return us * (1 - from->sim->gain) + gap_us;
}
