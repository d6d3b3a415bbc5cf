/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - what the engine chooses in each measured cell, against what it could have chosen */
#include <stdio.h>
#include <string.h>
#include "tests/fake/rng.h"
#include "tests/stats/sim.h"
#include "tuner/decide.h"

struct cell {
	struct nt_source source;
	const struct nt_trace_row *base;
	struct nt_drive_key key;
	unsigned best; /* arm with the lowest median */
	double auto_us, best_us;
};

static double median_us(const struct nt_trace_row *row)
{
	return nt_decide_quantile(row->sample_us, row->samples, 0.5);
}

static bool same_cell(const struct nt_trace_row *a, const struct nt_trace_row *b)
{
	return a->coll == b->coll && a->bytes == b->bytes &&
	       strcmp(a->topology, b->topology) == 0 && strcmp(a->mode, b->mode) == 0 &&
	       strcmp(a->launch, b->launch) == 0;
}

static uint32_t auto_pick(const struct nt_sim *sim, const struct nt_trace_row *row)
{
	for (unsigned i = 0; i < sim->picks.rows; i++) {
		const struct nt_trace_row *pick = &sim->picks.row[i];

		if (pick->coll == row->coll && pick->bytes == row->bytes && row->launch[0] == 0 &&
		    strcmp(pick->topology, row->topology) == 0)
			return (uint32_t)pick->arm;
	}
	return NT_ARM_AUTO;
}

static double arm_us(const struct cell *cell, unsigned arm)
{
	return median_us(cell->source.row[nt_source_slot(arm)]);
}

/* All arms of the cell whose AUTO row this is. NCCL's costs are not in a trace: nothing is
 * pruned. */
static void cell_of(const struct nt_sim *sim, const struct nt_trace *trace,
		    const struct nt_trace_row *base, struct cell *cell)
{
	*cell = (struct cell){ .base = base, .best = NT_ARM_AUTO, .auto_us = median_us(base) };
	cell->source.sim = sim;
	cell->source.row[NT_PAIRS] = base;
	cell->source.seed = nt_rng_mix(sim->seed, base->bytes);
	cell->key.auto_arm = auto_pick(sim, base);
	cell->key.time_us = nt_source_us;
	cell->key.arg = &cell->source;
	for (unsigned i = 0; i < NT_PAIRS; i++)
		cell->key.cost_us[i] = -1;
	for (unsigned i = 0; i < trace->rows; i++) {
		const struct nt_trace_row *row = &trace->row[i];

		if (!same_cell(row, base) || row->arm >= NT_PAIRS)
			continue;
		cell->source.row[row->arm] = row;
		cell->key.mask |= 1u << row->arm;
		if ((uint32_t)row->arm != cell->key.auto_arm &&
		    median_us(row) < arm_us(cell, cell->best))
			cell->best = (unsigned)row->arm;
	}
	cell->best_us = arm_us(cell, cell->best);
}

static int resample(struct nt_sim *sim, struct cell *cell, struct nt_replay_sum *sum)
{
	unsigned near = 0, slower = 0;
	double calls = 0, worst = 0;
	struct nt_driven driven;

	cell->source.in_order = false;
	for (unsigned t = 0; t < sim->trials; t++) {
		double us;

		if (!nt_drive_run(&sim->drive, &cell->key, &driven))
			return -1;
		us = arm_us(cell, driven.outcome.chosen_arm);
		near += us <= 1.02 * cell->best_us;
		slower += us > 1.01 * cell->auto_us;
		worst = us / cell->auto_us > worst ? us / cell->auto_us : worst;
		calls += driven.calls;
	}
	printf(" | %5.1f %5.1f %6.3f %5.0f", 100.0 * near / sim->trials,
	       100.0 * slower / sim->trials, worst, calls / sim->trials);
	sum->drawn_near += (double)near / sim->trials;
	sum->drawn_slower += (double)slower / sim->trials;
	sum->drawn_worst = worst > sum->drawn_worst ? worst : sum->drawn_worst;
	sum->drawn_calls += calls / sim->trials;
	return 0;
}

static int replay_cell(struct nt_sim *sim, struct cell *cell, struct nt_replay_sum *sum)
{
	struct nt_driven driven;
	char size[24];
	double us;

	cell->source.in_order = true;
	if (!nt_drive_run(&sim->drive, &cell->key, &driven))
		return -1;
	us = arm_us(cell, driven.outcome.chosen_arm);
	sum->cells++;
	sum->near += us <= 1.02 * cell->best_us;
	sum->slower += us > 1.01 * cell->auto_us;
	sum->gain += 1 - us / cell->auto_us;
	printf("%-4s %-3s %5s %9.1f %-12s %9.1f %-12s %9.1f %6.3f %6.3f %5u %-22s",
	       cell->base->topology, cell->base->mode,
	       nt_size_text(cell->base->bytes, size, sizeof(size)), cell->auto_us,
	       nt_arm_name((int)cell->best), cell->best_us, nt_arm_name(driven.outcome.chosen_arm),
	       us, us / cell->best_us, us / cell->auto_us, driven.calls,
	       nt_schedule_verdict_name(driven.outcome.verdict));
	if (sim->trials_given && resample(sim, cell, sum) < 0)
		return -1;
	printf("%s%s\n", cell->base->launch[0] ? " " : "", cell->base->launch);
	return 0;
}

int nt_replay_trace(struct nt_sim *sim, const struct nt_trace *trace, struct nt_replay_sum *sum)
{
	struct cell cell;

	for (unsigned i = 0; i < trace->rows; i++) {
		if (trace->row[i].arm != NT_ARM_AUTO)
			continue;
		cell_of(sim, trace, &trace->row[i], &cell);
		if (cell.key.mask != 0 && replay_cell(sim, &cell, sum) < 0)
			return -1;
	}
	return 0;
}

void nt_replay_head(const struct nt_sim *sim)
{
	printf("%-4s %-3s %5s %9s %-12s %9s %-12s %9s %6s %6s %5s %-22s%s\n", "", "", "size",
	       "AUTO us", "best", "us", "chosen", "us", "/best", "/AUTO", "calls", "why",
	       sim->trials_given ? " | drawn: % near, % slower, worst /AUTO, calls" : "");
}

void nt_replay_foot(const struct nt_sim *sim, const struct nt_replay_sum *sum)
{
	if (sum->cells == 0) {
		printf("no cell with another arm than AUTO\n");
		return;
	}
	printf("%u cells in order: %.1f %% within 1.02 of the best, %u above 1.01 of AUTO, "
	       "mean gain %.1f %%\n",
	       sum->cells, 100.0 * sum->near / sum->cells, sum->slower,
	       100 * sum->gain / sum->cells);
	if (sim->trials_given)
		printf("%u draws of each: %.1f %% near, %.2f %% slower, worst %.3f of AUTO, %.0f calls\n",
		       sim->trials, 100 * sum->drawn_near / sum->cells,
		       100 * sum->drawn_slower / sum->cells, sum->drawn_worst,
		       sum->drawn_calls / sum->cells);
}
