/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* feel.h - what the program itself felt of a profile, and how far the profile is trusted
 *
 * The mix of collectives explains, the step marker decides: its period is the program's own step,
 * and holds all that a profile does to it, processor time and GPU blocks included.
 *
 * Threads:  pure functions.
 * Memory:   nothing is allocated but what the test takes.
 * Errors:   none; too little is NT_FELT_UNKNOWN.
 * Units:    microseconds; ratios and p as fractions of 1.
 */
#ifndef NT_LAUNCH_FEEL_H
#define NT_LAUNCH_FEEL_H

#include "launch/memory.h"

/* How likely the difference is if arm is no faster than base; sample i of one is compared with
 * sample i of the other where the test pairs. */
typedef double nt_test(const float *base, const float *arm, unsigned count);

enum nt_felt { NT_FELT_UNKNOWN = 0, NT_FELT_SAME, NT_FELT_FASTER, NT_FELT_SLOWER };

#define NT_FELT_SAMPLES 8 /* of each side, at least */

struct nt_feeling {
	enum nt_felt felt;
	double ratio; /* median with the profile to median with the default */
	double p; /* of what it says, one-sided */
	unsigned samples;
};

struct nt_feel_rule {
	nt_test *test; /* NULL: nothing can be felt */
	double alpha; /* largest p that counts */
	double loss; /* smallest growth of the median that counts as slower */
	/* Smallest fall that counts as faster. It is larger: two runs of one thing differ by a few
	 * percent in all their periods, and to use a profile is what has to be justified. */
	double gain;
};

/* Periods in time order. The longer side is thinned evenly. */
struct nt_feeling nt_feel(const struct nt_feel_rule *how, const float *base, unsigned base_count,
			  const float *arm, unsigned arm_count);

/* The same of two steps that are alike. Where one has another step marker, its periods are those
 * of the other's marker by how often it called the two. */
struct nt_feeling nt_feel_pair(const struct nt_feel_rule *how, const struct nt_memory_entry *base,
			       const struct nt_memory_entry *arm);

/* Whether two entries are steps of one program as far as can be told: same place, most of their
 * keys shared, and the same marker, or both called both markers as often in proportion. */
bool nt_feel_alike(const struct nt_memory_entry *a, const struct nt_memory_entry *b);

enum nt_trust {
	NT_TRUST_UNTRIED = 0, /* the program has felt nothing of it */
	NT_TRUST_TRIED, /* felt, and not slower */
	NT_TRUST_TRUSTED, /* faster in so many distinct jobs */
	NT_TRUST_MARKED, /* slower once where it was used */
	NT_TRUST_QUARANTINED, /* slower twice: not used again before these entries fade */
};

struct nt_standing {
	enum nt_trust trust;
	unsigned wins; /* distinct jobs that felt it faster, since the last loss */
	unsigned losses; /* steps that used it and felt it slower */
	struct nt_feeling last; /* the newest */
	uint32_t last_job, last_step;
};

/* The steps to judge by, of all memories together; entries keep belonging to their memories. */
#define NT_HISTORY_MAX 1024
struct nt_step_history {
	unsigned count;
	/* by time, job, step; each id once */
	const struct nt_memory_entry *entry[NT_HISTORY_MAX];
};

/* Adds a memory's entries of jobs at this very place, NCCL and driver. NULL adds nothing. */
void nt_history_add(struct nt_step_history *history, const struct nt_memory *memory,
		    const struct nt_where *where);
/* Once all are added. */
void nt_history_sort(struct nt_step_history *history);

/* What the program felt of one of the steps, against the step with the default that is nearest to
 * it: of the same job if there is one. Unknown for a step with the default. */
struct nt_feeling nt_feel_step(const struct nt_step_history *history, unsigned at,
			       const struct nt_feel_rule *how);

/* A profile's standing, from what was felt of each of its steps. */
struct nt_standing nt_feel_standing(const struct nt_step_history *history, const char *profile,
				    const struct nt_feel_rule *how, unsigned trust_jobs);

const char *nt_trust_name(int trust);

#endif
