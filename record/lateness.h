/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* lateness.h - find the rank of a communicator that the others wait for
 *
 * The ranks of a collective end it together, so in each call the rank with the shortest time came
 * last, and the others' additional time was waiting; clocks need not agree. NCCL may report the end
 * of algorithms other than Ring after half of the time (docs/decisions/0028-measures.md): for
 * these, only time beyond twice the shortest time is waiting. A call counts if nearly all ranks
 * have measured it.
 *
 * A rank is named if half or more of the others' waiting was for it, beyond what chance explains;
 * if there is no such rank, the same test is made for nodes with several ranks.
 *
 * Threads:  pure functions, any thread.
 * Memory:   samples are the caller's, and are sorted.
 * Errors:   -1 when memory runs out.
 * Units:    in the names.
 */
#ifndef NT_LATENESS_H
#define NT_LATENESS_H

#include <stddef.h>
#include <stdint.h>
#include "record/rank.h"

#define NT_LATENESS_SLICES 8 /* parts of the calls, in the order of time */
#define NT_LATENESS_ROWS 16 /* ranks that are kept one by one: those that came latest */

struct nt_late_sample {
	struct nt_sampled_call call;
	uint32_t rank;
	uint32_t node; /* any number of its own */
	size_t at; /* scratch */
};

enum nt_late {
	NT_LATE_NONE, /* nobody, or too few calls are known */
	NT_LATE_STEADY, /* one rank, or one node's ranks, most of the time */
	NT_LATE_WANDERS, /* for some time one, then another one */
	NT_LATE_VARIES, /* another one from call to call */
};

struct nt_late_row {
	uint32_t rank, node;
	double us[NT_LATENESS_SLICES]; /* mean time that the middle of the others waited for it */
};

struct nt_lateness {
	enum nt_late kind;
	size_t calls; /* that were compared; 0: too few, and nothing else is known */
	double waiting; /* share of all ranks' time in those that are rings; NAN: none is */
	int64_t rank, node; /* -1: not one rank, not one node */
	size_t late_calls; /* with all but a little of the waiting for that one */
	double late_us; /* median time that the middle of the others waited for it there; NAN */
	double lost_us; /* by all ranks, waiting, in the same */
	unsigned slices;
	double from_s[NT_LATENESS_SLICES]; /* when each begins */
	size_t row_count;
	struct nt_late_row row[NT_LATENESS_ROWS]; /* by rank */
};

/* "steady", "wanders", "varies"; "" for none. */
const char *nt_late_name(enum nt_late kind);

/* ranks: of the communicator. */
int nt_lateness_find(struct nt_lateness *out, struct nt_late_sample *samples, size_t count,
		     int64_t ranks);

#endif
