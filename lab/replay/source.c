/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/replay/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/quantile.h"
#include "lab/replay/rng.h"

#define TYPICAL_US 1024.0

static unsigned slot(unsigned arm)
{
	return arm == NT_ARM_BASELINE ? NT_PAIRS : arm;
}

/* The median of any number of samples; NAN without memory. */
static double median(const struct nt_trace_row *row)
{
	float *sorted = malloc(row->samples * sizeof(sorted[0]));
	double us = NAN;

	if (!sorted)
		return us;
	memcpy(sorted, row->sample_us, row->samples * sizeof(sorted[0]));
	nt_sort_floats(sorted, row->samples);
	us = nt_quantile_floats(sorted, row->samples, 0.5);
	free(sorted);
	return us;
}

bool nt_source_starts(const struct nt_trace *trace, unsigned at)
{
	for (unsigned i = 0; i < at; i++) {
		if (nt_trace_same_cell(&trace->row[i], &trace->row[at]))
			return false;
	}
	return true;
}

/* Is this an arm that no job can choose in this cell? */
static bool beyond_choice(const struct nt_trace_row *pick, unsigned place)
{
	return pick && place < NT_PAIRS &&
	       (place == (unsigned)pick->arm || (pick->masked & 1u << place) != 0);
}

void nt_source_init(struct nt_source *source, const struct nt_trace *trace,
		    const struct nt_trace *picks, unsigned at)
{
	const struct nt_trace_row *pick = picks ? nt_picks_find(picks, &trace->row[at]) : NULL;

	*source = (struct nt_source){ .first = &trace->row[at],
				      .auto_arm = pick ? (unsigned)pick->arm : NT_ARM_BASELINE,
				      .best = NT_ARM_BASELINE,
				      .faster = NT_ARM_BASELINE,
				      .scale = 1 };
	for (unsigned i = at; i < trace->rows; i++) {
		const struct nt_trace_row *row = &trace->row[i];
		unsigned place = slot((unsigned)row->arm);

		/* Channel limits and chunk sizes are for the simulated NCCL: here an arm is a
		 * pair. */
		if (place >= NT_SOURCE_ARMS || beyond_choice(pick, place) ||
		    !nt_trace_same_cell(row, source->first))
			continue;
		source->row[place] = row;
		source->median_us[place] = median(row);
		source->arms++;
	}
	source->base = source->row[NT_PAIRS];
	if (!source->base)
		return;
	for (unsigned arm = 0; arm < NT_PAIRS; arm++) {
		if (source->row[arm] &&
		    source->median_us[arm] < source->median_us[slot(source->best)])
			source->best = arm;
	}
	source->scale = exp2(round(log2(TYPICAL_US / source->median_us[NT_PAIRS])));
}

double nt_source_median_us(const struct nt_source *source, unsigned arm)
{
	return source->median_us[slot(arm)];
}

/* nt_drive_key.time_us */
static double time_us(void *arg, unsigned arm, unsigned call)
{
	struct nt_source *source = arg;
	const struct nt_trace_row *row = source->drawn ? source->base : source->row[slot(arm)];
	double us;

	(void)call;
	if (!source->drawn)
		return row->sample_us[source->taken[slot(arm)]++ % row->samples] * source->scale;
	us = row->sample_us[nt_rng_hash(source->seed++) % row->samples] * source->scale;
	return arm == source->faster && arm != NT_ARM_BASELINE ? us * (1 - source->gain) : us;
}

void nt_source_key(struct nt_source *source, struct nt_drive_key *key)
{
	*key = (struct nt_drive_key){ .size_bytes = source->base->bytes,
				      .auto_arm = source->auto_arm,
				      .time_us = time_us,
				      .arg = source };
	for (unsigned arm = 0; arm < NT_PAIRS; arm++) {
		key->cost_us[arm] = -1;
		if (source->row[arm] ||
		    (source->drawn && source->arms == 1 && arm < NT_ARMS_ALONE - 1))
			key->mask |= 1u << arm;
	}
	memset(source->taken, 0, sizeof(source->taken));
}
