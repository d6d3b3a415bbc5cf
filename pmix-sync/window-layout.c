/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/window-layout.h"

#include <stdbool.h>
#include "pmix-sync/task-log.h"

/* Turns of so many calls. The newest call is often the last of a burst, and the counted turns end
 * anywhere in the gap after it: count half of the longest gap, and half a call. */
static uint64_t turns_of(const struct nt_cadence *c, uint64_t calls)
{
	return (calls * (2 * c->turns + c->gap) + 2 * c->calls) / (2 * c->calls + 1);
}

/* Is each call one task of its band, and vice versa? A few probes of one rank, and tasks that are
 * not reported yet, do not matter. */
static bool tasks_are_calls(const struct nt_cadence *c)
{
	const uint64_t more = c->tasks > c->calls ? c->tasks - c->calls : c->calls - c->tasks;

	return c->calls > 0 && more <= 1 + c->calls / 16;
}

/* Positions of a cell that fits into the task log; less than 2: calls are too far apart. Several
 * cells have equal numbers: a window ends with its last cell, and positions there without a call
 * are lost time. */
static uint64_t cell_of(const struct nt_cadence *c, uint64_t positions)
{
	const uint64_t turns = 2 * c->turns + c->gap;
	uint64_t most, cells;

	if (turns_of(c, positions) + c->gap <= NT_TASK_LOG || turns == 0)
		return positions;
	most = (2 * c->calls + 1) * NT_TASK_LOG / turns;
	if (most < 2 || most >= positions)
		return most;
	cells = (positions + most - 1) / most;
	return (positions + cells - 1) / cells;
}

static void count_calls(const struct nt_cadence *c, struct nt_plan *plan)
{
	const uint64_t positions = plan->until, cell = cell_of(c, positions);
	uint64_t turns;

	if (cell < 2)
		return;
	plan->cell = (uint32_t)(cell < positions ? cell : positions);
	turns = turns_of(c, plan->cell);
	/* A single cell may begin anywhere. */
	if (plan->cell == positions && turns + c->gap <= NT_TASK_LOG)
		turns += c->gap;
	plan->stride = (uint32_t)(turns < NT_TASK_LOG ? turns : NT_TASK_LOG);
	if (plan->stride == 0)
		plan->stride = 1;
}

void nt_window_layout(const struct nt_cadence *c, struct nt_plan *plan)
{
	const uint64_t turns = c->turns + c->calls / 2;

	plan->cell = 1;
	plan->stride = c->calls > 0 ? (uint32_t)(turns / c->calls) : 0;
	if (plan->stride == 0)
		plan->stride = 1;
	if (plan->until != NT_NEVER && plan->until > 1 && tasks_are_calls(c))
		count_calls(c, plan);
}

uint64_t nt_window_layout_turns(const struct nt_plan *plan)
{
	if (plan->until == NT_NEVER)
		return NT_NEVER;
	return (plan->until + plan->cell - 1) / plan->cell * plan->stride;
}
