/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* lateness.h - find the rank of a communicator that the others wait for
 *
 * Ranks end a collective together, so in each call the rank with the shortest time came last, and
 * the others' additional time was waiting; clocks need not agree. NCCL may report the end of
 * algorithms other than Ring after half of the time (docs/decisions/reward.md): of these,
 * only time beyond twice the shortest is waiting. A call counts if nearly all ranks have measured
 * it.
 *
 * A rank is named if calls begin later for it, beyond what they begin later for the other ranks in
 * the mean, beyond chance, and by 3 % of the program's step; otherwise nodes are tested in the same
 * way. What the ranks' own jitter costs is nobody's.
 *
 * Threads:  pure functions, any thread.
 * Memory:   samples are the caller's, and are sorted.
 * Errors:   -1: no memory.
 * Units:    in the names.
 */
#ifndef NT_LATENESS_H
#define NT_LATENESS_H

#include <stddef.h>
#include <stdint.h>
#include "record/rank.h"

#define NT_LATENESS_SLICES 8 /* parts of the calls, in order of time */
#define NT_LATENESS_ROWS 16 /* ranks kept individually: the latest */

struct nt_late_sample {
	struct nt_sampled_call call;
	uint32_t rank;
	uint32_t node; /* any number */
	size_t at; /* scratch */
};

enum nt_late {
	NT_LATE_NONE, /* nobody, or too few calls */
	NT_LATE_STEADY, /* mostly one rank, or ranks of one node */
	NT_LATE_WANDERS, /* one for some time, then another */
	NT_LATE_VARIES, /* another in each call */
};

struct nt_late_row {
	uint32_t rank, node;
	double us[NT_LATENESS_SLICES]; /* mean time that the median other rank waited for it */
};

struct nt_lateness {
	enum nt_late kind;
	size_t calls; /* compared; 0: too few, and the rest is unknown */
	double waiting; /* share of all ranks' time in rings; NAN if there are none */
	int64_t rank, node; /* -1: not one */
	size_t late_calls; /* with all but a little of the waiting for it */
	double late_us; /* median time that the median other rank waited for it; NAN unknown */
	double cost; /* share of the program's step that waiting for it costs; NAN unknown */
	double lost_us; /* waiting of all ranks in rings */
	unsigned slices;
	double from_s[NT_LATENESS_SLICES]; /* when each begins */
	size_t row_count;
	struct nt_late_row row[NT_LATENESS_ROWS]; /* by rank */
};

/* "steady", ...; "" for NT_LATE_NONE. */
const char *nt_late_name(enum nt_late kind);

/* ranks: of the communicator. step_us: of the program, for each of its calls; 0: not known. */
int nt_lateness_find(struct nt_lateness *out, struct nt_late_sample *samples, size_t count,
		     int64_t ranks, double step_us);

#endif
