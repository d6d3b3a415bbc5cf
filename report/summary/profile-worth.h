/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* profile-worth.h - what jobs measured of launch profiles, and what other jobs would gain by them
 *
 * A step with a profile, whose program's own steps were timed with NCCL's default before, tells the
 * speedup. At a place (cluster, fingerprint, fabric, nodes, ranks per node) each user has one vote,
 * the geometric mean of that user's steps; the speedup is the geometric mean of the votes. It would
 * have shortened the steps there that ran with the default. Places without measurements are left
 * out.
 *
 * Threads:  one at a time for one; pure.
 * Memory:   bounded; nt_speedup_fini frees it.
 * Errors:   none: what does not fit is left out.
 * Units:    in the names; rank time as in job-outcome.h.
 */
#ifndef NT_SPEEDUP_H
#define NT_SPEEDUP_H

#include <stdint.h>
#include "record/step.h"
#include "lib/name-set.h"

#define NT_SPEEDUP_USERS 16 /* votes for a profile at a place; later users do not count */
#define NT_SPEEDUP_JOBS 3 /* needed before a gain is shown */

struct nt_speedup_place {
	char cluster[64], fingerprint[17], fabric[8];
	int64_t nodes, per_node;
	int64_t default_jobs, default_us; /* with NCCL's default, and their rank time */
	uint64_t newest_job;
};

struct nt_speedup_voice {
	int user, steps;
	int64_t log_sum; /* of natural logarithms, in 1e-9; whole, so that order does not matter */
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
};

/* The step's job and user, as numbers that no other has. */
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

/* Speedup relative to the default, over all votes. */
double nt_speedup_of(const struct nt_speedup_item *item);

/* What the place's steps with the default would have saved; NAN if too few jobs have measured, 0 if
 * the profile is not faster. */
double nt_speedup_worth_us(const struct nt_speedups *speedups, const struct nt_speedup_item *item);

/* Items by their worth, highest first. The caller frees the array; NULL: no memory. */
const struct nt_speedup_item **nt_speedup_by_worth(const struct nt_speedups *speedups);

#endif
