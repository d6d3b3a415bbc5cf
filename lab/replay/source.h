/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - the times of one cell of a trace, call by call
 *
 * In order: each arm's samples one after the other, then from the start again. Drawn: every arm
 * draws with replacement from AUTO's samples, so all are identical, except one that may be made
 * faster.
 *
 * Threads:  one thread.
 * Memory:   the trace must outlive it.
 * Errors:   a cell without AUTO cannot be played.
 * Units:    microseconds. Played times are scaled by a power of two to about a millisecond, so that
 *           times of any unit fit into 32 bits of nanoseconds; no rule depends on the scale.
 */
#ifndef NT_REPLAY_SOURCE_H
#define NT_REPLAY_SOURCE_H

#include "lab/replay/drive.h"
#include "lab/replay/trace.h"

#define NT_SOURCE_ARMS (NT_PAIRS + 1) /* AUTO last */
#define NT_ARMS_ALONE 4 /* arms to draw in a cell with only AUTO */

struct nt_source {
	const struct nt_trace_row *base; /* AUTO's; NULL: there is none */
	const struct nt_trace_row *first; /* all samples of the cell */
	const struct nt_trace_row *row[NT_SOURCE_ARMS];
	unsigned arms; /* with AUTO */
	unsigned auto_arm; /* NCCL's own pick; NT_ARM_BASELINE: unknown */
	double median_us[NT_SOURCE_ARMS];
	unsigned best; /* arm with the lowest median; AUTO unless another's is lower */
	double scale;
	unsigned taken[NT_SOURCE_ARMS];
	bool drawn;
	unsigned faster; /* drawn: the arm that is faster by gain; NT_ARM_BASELINE: none */
	double gain;
	uint64_t seed;
};

/* The cell of row number `at`, which must be its first row. If picks has this cell, arms that no
 * job can choose are left out: those that NCCL masks, and its own pick, which is AUTO. NULL: all
 * arms. */
void nt_source_init(struct nt_source *source, const struct nt_trace *trace,
		    const struct nt_trace *picks, unsigned at);

/* Is row number `at` the first of its cell? */
bool nt_source_starts(const struct nt_trace *trace, unsigned at);

double nt_source_median_us(const struct nt_source *source, unsigned arm);

/* The cell as the engine's problem. drawn: as many arms as the cell has, NT_ARMS_ALONE if it has
 * only AUTO. NCCL's costs are not in a trace, so no arm is pruned. */
void nt_source_key(struct nt_source *source, struct nt_drive_key *key);

#endif
