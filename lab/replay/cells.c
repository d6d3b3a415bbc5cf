/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* cells.c - run the cells of a trace through the engine, once in order or many times with drawn
 * samples */
#include "lab/replay/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lab/replay/rng.h"

void nt_replay_init(struct nt_replay *replay)
{
	nt_drive_init(&replay->drive, &replay->policy);
	replay->drive.seed = nt_rng_hash(replay->seed);
}

void nt_replay_rows_fini(struct nt_replay_rows *rows)
{
	free(rows->row);
	*rows = (struct nt_replay_rows){ .count = 0 };
}

static int run_once(struct nt_replay *replay, struct nt_source *source, struct nt_driven *driven,
		    struct nt_error *err)
{
	struct nt_drive_key key;

	nt_source_key(source, &key);
	if (key.mask == 0) { /* AUTO alone: nothing to explore */
		*driven = (struct nt_driven){ .calls = 0 };
		driven->outcome.verdict = NT_VERDICT_ALONE;
		driven->outcome.best_arm = driven->outcome.chosen_arm = NT_ARM_BASELINE;
		driven->outcome.p = 1;
		return 0;
	}
	if (nt_drive_run(&replay->drive, &key, driven))
		return 0;
	return nt_error_set(err, "the engine came to no end, or there is no memory");
}

static int run_in_order(struct nt_replay *replay, struct nt_source *source,
			struct nt_replay_row *row, struct nt_error *err)
{
	struct nt_driven driven;

	if (run_once(replay, source, &driven, err) < 0)
		return -1;
	row->chosen_arm = driven.outcome.chosen_arm;
	row->chosen_us = nt_source_median_us(source, row->chosen_arm);
	row->verdict = driven.outcome.verdict;
	row->p = (double)driven.outcome.p;
	row->calls = driven.calls;
	row->samples = driven.samples;
	row->extra_us = driven.us / source->scale - driven.calls * row->auto_us;
	row->trials = 1;
	return 0;
}

/* Each arm in turn is the faster one, so that its position does not matter. */
static unsigned pick_faster(struct nt_source *source, unsigned trial)
{
	struct nt_drive_key key;
	unsigned others, skip;
	unsigned arm = 0;

	nt_source_key(source, &key);
	others = (unsigned)__builtin_popcount(key.mask);
	skip = trial % others;
	for (;; arm++) {
		if ((key.mask & (1u << arm)) && skip-- == 0)
			return arm;
	}
}

static int run_drawn(struct nt_replay *replay, struct nt_source *source, struct nt_replay_row *row,
		     struct nt_error *err)
{
	unsigned found = 0, wrong = 0, early = 0;
	double calls = 0, samples = 0;

	source->drawn = true;
	source->gain = replay->gain;
	source->seed = nt_rng_mix(replay->seed, nt_rng_mix(row->bytes, source->base->samples));
	if (source->arms == 1)
		row->arms = NT_ARMS_ALONE;
	for (unsigned t = 0; t < replay->trials; t++) {
		struct nt_driven driven;

		if (replay->kind == NT_REPLAY_POWER)
			source->faster = pick_faster(source, t);
		if (run_once(replay, source, &driven, err) < 0)
			return -1;
		if (driven.outcome.chosen_arm != NT_ARM_BASELINE)
			*(driven.outcome.chosen_arm == source->faster ? &found : &wrong) += 1;
		early += driven.outcome.chosen_arm == source->faster &&
			 driven.of_auto <= NT_REPLAY_EARLY;
		calls += driven.calls;
		samples += driven.samples;
	}
	row->trials = replay->trials;
	row->calls = calls / replay->trials;
	row->samples = (unsigned)(samples / replay->trials);
	row->rate = (double)(replay->kind == NT_REPLAY_AA ? wrong : found) / replay->trials;
	row->early_rate = (double)early / replay->trials;
	row->wrong_rate = (double)wrong / replay->trials;
	return 0;
}

static int run_cell(struct nt_replay *replay, struct nt_source *source, struct nt_replay_row *row,
		    struct nt_error *err)
{
	const struct nt_trace_row *from = source->base;

	*row = (struct nt_replay_row){
		.bytes = from->bytes,
		.arms = source->arms,
		.auto_us = nt_source_median_us(source, NT_ARM_BASELINE),
		.best_us = nt_source_median_us(source, source->best),
		.chosen_us = NAN,
		.auto_arm = source->auto_arm,
		.best_arm = source->best,
		.chosen_arm = NT_ARM_BASELINE,
		.p = NAN,
	};
	memcpy(row->launch, from->launch, sizeof(row->launch));
	memcpy(row->collective, from->collective, sizeof(row->collective));
	memcpy(row->topology, from->topology, sizeof(row->topology));
	memcpy(row->mode, from->mode, sizeof(row->mode));
	if (replay->kind == NT_REPLAY_CELLS)
		return run_in_order(replay, source, row, err);
	return run_drawn(replay, source, row, err);
}

int nt_replay_trace(struct nt_replay *replay, const struct nt_trace *trace,
		    struct nt_replay_rows *rows, unsigned *left_out, struct nt_error *err)
{
	for (unsigned i = 0; i < trace->rows; i++) {
		struct nt_replay_row *row;
		struct nt_source source;

		if (!nt_source_starts(trace, i))
			continue;
		nt_source_init(&source, trace, replay->picks, i);
		if (!source.base) {
			(*left_out)++;
			continue;
		}
		row = nt_array_add(&rows->row, &rows->count, SIZE_MAX, sizeof(*row));
		if (!row)
			return nt_error_set(err, "no memory");
		if (run_cell(replay, &source, row, err) < 0)
			return -1;
	}
	return 0;
}
