/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - the times of one cell of a trace, call by call
 *
 * In order: each arm's samples one after the other, and from the start when used up.
 * Drawn: every arm draws with replacement from AUTO's samples, so that all are alike but for one
 * that may be made faster.
 *
 * Threads:  one thread.
 * Memory:   the trace must outlive it.
 * Errors:   a cell may lack AUTO; it can then not be played.
 * Units:    microseconds; what is played is scaled by a power of two to around a millisecond,
 *           which no rule notices, so that times of any unit fit into 32 bits of nanoseconds.
 */
#ifndef NT_REPLAY_SOURCE_H
#define NT_REPLAY_SOURCE_H

#include "replay/drive.h"
#include "replay/trace.h"

#define NT_SOURCE_ARMS (NT_PAIRS + 1) /* AUTO last */
#define NT_ARMS_ALONE 4 /* that are drawn where a cell has AUTO alone */

struct nt_source {
	const struct nt_trace_row *base; /* AUTO's; NULL: there is none */
	const struct nt_trace_row *first; /* of the cell, whatever its arm */
	const struct nt_trace_row *row[NT_SOURCE_ARMS];
	unsigned arms; /* AUTO included */
	unsigned auto_arm; /* NCCL's own pick; NT_ARM_AUTO: not known */
	double median_us[NT_SOURCE_ARMS];
	unsigned best; /* arm with the lowest median, AUTO where no other's is lower */
	double scale;
	unsigned taken[NT_SOURCE_ARMS];
	bool drawn;
	unsigned faster; /* drawn: the arm that is, by gain; NT_ARM_AUTO: none */
	double gain;
	uint64_t seed;
};

/* The cell of row number `at`, which must be its first. picks: where it has this cell, arms that no
 * job can choose are left out: what NCCL masks, and its own pick, which is AUTO. NULL: all arms. */
void nt_source_init(struct nt_source *source, const struct nt_trace *trace,
		    const struct nt_trace *picks, unsigned at);

/* Is row number `at` the first of its cell? */
bool nt_source_starts(const struct nt_trace *trace, unsigned at);

double nt_source_median_us(const struct nt_source *source, unsigned arm);

/* What the engine is told of the cell. drawn: as many arms as the cell has, at least
 * NT_ARMS_ALONE where it has AUTO alone. NCCL's costs are not in a trace: nothing is pruned. */
void nt_source_key(struct nt_source *source, struct nt_drive_key *key);

/* nt_drive_key.time_us of a struct nt_source. */
double nt_source_us(void *source, unsigned arm, unsigned call);

#endif
