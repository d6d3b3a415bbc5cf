/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* learned.h - from what many jobs' records say to a site's memory
 *
 * A record is what a user's own processes have claimed. So no user decides alone where there are
 * others: of each user only so many jobs count, the newest; from three users on each has one voice,
 * the median of his jobs. What is written are medians over these, with the quartiles of their
 * spread. What fewer jobs than asked for have seen is left out.
 *
 * A site's entries are for a place and a profile, and of origin "calibrate" where they rest on
 * calibrations; else "import", which says nothing of what any program felt.
 *
 * Threads:  pure but for the stream.
 * Memory:   nt_learned_fini() frees what was added.
 * Errors:   -1 and *err: memory ran out.
 * Units:    microseconds, bytes, seconds since 1970.
 */
#ifndef NT_LEARNED_H
#define NT_LEARNED_H

#include <stdbool.h>
#include <stdio.h>
#include "launch/memory.h"
#include "record/summary.h"

#define NT_LEARNED_JOBS 3 /* distinct jobs that a line rests on, at least */
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

struct nt_learned {
	struct nt_observed *item;
	size_t count, room;
	size_t jobs, steps; /* that were looked at */
	size_t without_place; /* steps with rows that say not where they ran, or with no profile */
};

struct nt_learned_rules {
	unsigned jobs; /* at least */
	unsigned user_jobs; /* at most */
};

void nt_learned_init(struct nt_learned *learned);
void nt_learned_fini(struct nt_learned *learned);

/* The steps of one job's record. user must be known. */
int nt_learned_add(struct nt_learned *learned, const char *user, uint32_t job, int64_t when_s,
		   const struct nt_summary *summary, struct nt_error *err);

/* One line for each place and profile, with a comment before it that says on how many jobs and
 * users it rests. *lines: how many. Sorts what was added. */
int nt_learned_print(struct nt_learned *learned, const struct nt_learned_rules *rules, FILE *out,
		     size_t *lines, struct nt_error *err);

#endif
