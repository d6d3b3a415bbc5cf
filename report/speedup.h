/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* speedup.h - what jobs measured of launch profiles, and what that would be worth to others
 *
 * A step that ran with a profile where its program's own steps were timed before with NCCL's
 * default says how many times as fast it was. At one place (cluster, fingerprint, fabric, nodes,
 * ranks on each) each user has one voice, the geometric mean of what that user's steps say; what
 * counts is the geometric mean of the voices. What other steps at that place have run with the
 * default is what would take that much less. Nothing is said of a place where nobody measured.
 *
 * Threads:  one at a time for one; pure.
 * Memory:   bounded; nt_speedup_fini frees it.
 * Errors:   none: what has no room is counted.
 * Units:    in the names; rank time as in tally.h.
 */
#ifndef NT_SPEEDUP_H
#define NT_SPEEDUP_H

#include <stdint.h>
#include "record/step.h"
#include "report/names.h"

#define NT_SPEEDUP_USERS 16 /* voices of a profile at a place; the first */
#define NT_SPEEDUP_JOBS 3 /* that must have measured before anything is promised */

struct nt_speedup_place {
	char cluster[64], fingerprint[17], fabric[8];
	int64_t nodes, per_node;
	int64_t default_jobs, default_us; /* with NCCL's default, and their rank time */
	uint64_t newest_job;
};

struct nt_speedup_voice {
	int user, steps;
	int64_t log_sum; /* of the natural logarithms, in 1e-9: whole, so that no order matters */
};

struct nt_speedup_item {
	size_t place;
	char profile[33];
	int64_t jobs;
	uint64_t newest_job;
	double least, most; /* times as fast as the default */
	struct nt_speedup_voice voice[NT_SPEEDUP_USERS];
	size_t voices;
};

struct nt_speedups {
	struct nt_names place_names, item_names;
	struct nt_speedup_place *place;
	struct nt_speedup_item *item;
	int64_t without_room;
};

/* Whose step it is: job is a number of its own for each job, user likewise. */
struct nt_speedup_from {
	const char *cluster;
	uint64_t job;
	int user;
	int64_t elapsed_s;
};

void nt_speedup_init(struct nt_speedups *speedups);
void nt_speedup_fini(struct nt_speedups *speedups);
void nt_speedup_add(struct nt_speedups *speedups, const struct nt_speedup_from *from,
		    const struct nt_step *step);

/* Times as fast as the default, over all voices. */
double nt_speedup_of(const struct nt_speedup_item *item);

/* What the place's steps with the default would have taken less; NAN where too few jobs have
 * measured, 0 where the profile is not faster. */
double nt_speedup_worth_us(const struct nt_speedups *speedups, const struct nt_speedup_item *item);

/* Items by what they are worth, most first. The caller frees the array; NULL: no memory. */
const struct nt_speedup_item **nt_speedup_by_worth(const struct nt_speedups *speedups);

#endif
