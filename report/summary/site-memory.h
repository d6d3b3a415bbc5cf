/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* site-memory.h - make a site's memory from the records of many jobs
 *
 * A record is only what a user's processes claim. So no single user decides if there are others:
 * only the newest jobs of each user count, and with two or more users each has one vote, the median
 * of that user's jobs. Medians of the votes are written, with quartiles. What too few jobs have
 * measured is left out.
 *
 * An entry is for a place and a profile. Its origin is "calibrate" if it is based on calibrations,
 * else "import", which says nothing about any program's own steps.
 *
 * Threads:  pure but for the stream.
 * Memory:   nt_site_memory_fini() frees what was added.
 * Errors:   -1 and *err: memory ran out.
 * Units:    microseconds, bytes, seconds since 1970.
 */
#ifndef NT_LEARNED_H
#define NT_LEARNED_H

#include <stdbool.h>
#include <stdio.h>
#include "profiles/memory.h"
#include "record/job-summary.h"

#define NT_LEARNED_JOBS 3 /* distinct jobs that a line needs */
#define NT_LEARNED_USER_JOBS 10 /* of one user, in one line */

/* A key of a step. */
struct nt_observed {
	struct nt_where where;
	char profile[NT_PROFILE_NAME];
	bool calibration;
	char user[64];
	uint32_t job;
	int64_t when_s;
	struct nt_comm_shape shape;
	int coll;
	uint64_t bytes;
	int arm;
	double calls, best_us, untuned_us;
};

struct nt_site_memory {
	struct nt_observed *item;
	size_t count;
	size_t jobs, steps; /* read */
	size_t without_place; /* steps with rows but without a place or a profile */
};

struct nt_site_memory_rules {
	unsigned jobs; /* at least */
	unsigned user_jobs; /* at most */
};

void nt_site_memory_init(struct nt_site_memory *learned);
void nt_site_memory_fini(struct nt_site_memory *learned);

/* The steps of one job's record. user must be known. */
int nt_site_memory_add(struct nt_site_memory *learned, const char *user, uint32_t job,
		       int64_t when_s, const struct nt_summary *summary, struct nt_error *err);

/* One line for each place and profile, after a comment that names its number of jobs and its users.
 * *lines: how many. Sorts what was added. */
int nt_site_memory_print(struct nt_site_memory *learned, const struct nt_site_memory_rules *rules,
			 FILE *out, size_t *lines, struct nt_error *err);

#endif
