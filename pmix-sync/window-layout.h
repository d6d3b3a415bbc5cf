/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* window-layout.h - how a window's positions lie in turns (pmix-sync/turn.h)
 *
 * One cell for the whole window, in which calls are counted, gives each call its own position,
 * however irregular calls are. A window longer than the task log has several cells, each with the
 * average number of calls. If tasks and calls of the key do not match (NCCL merges tasks of a
 * group, or another key has the same band), calls are not counted: positions come at the average
 * distance of calls.
 *
 * Threads:  pure functions.
 * Errors:   none; whatever the numbers, all ranks follow the plan alike.
 */
#ifndef NT_SYNC_WINDOW_LAYOUT_H
#define NT_SYNC_WINDOW_LAYOUT_H

#include "contract/shm-layout.h"

/* A key's calls on one rank since it was opened. */
struct nt_cadence {
	uint64_t turns, calls;
	uint64_t tasks; /* reported tasks of the key's function and band */
	uint64_t gap; /* largest number of turns between two calls */
};

/* Set stride and cell of a plan with `until` positions, or for good. */
void nt_window_layout(const struct nt_cadence *c, struct nt_plan *plan);

/* Number of turns of the plan; NT_NEVER: for good. */
uint64_t nt_window_layout_turns(const struct nt_plan *plan);

#endif
