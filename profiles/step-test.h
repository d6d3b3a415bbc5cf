/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* step-test.h - were the program's own steps faster with a profile, and how far to trust it
 *
 * The step marker's period is the time of the program's own step. It includes every effect of a
 * profile, such as processor time and GPU blocks, so it overrules the mix of collectives. A step of
 * a job is one sample, its median period, because all its periods share what distinguishes it from
 * the next step. All steps of the place count; if they contradict the job's own, only these do.
 *
 * Threads:  pure functions.
 * Memory:   nothing is allocated.
 * Errors:   none; too few samples give NT_STEPS_UNKNOWN.
 * Units:    microseconds; ratios and p as fractions of 1.
 */
#ifndef NT_LAUNCH_STEP_TEST_H
#define NT_LAUNCH_STEP_TEST_H

#include "profiles/memory.h"

enum nt_step_verdict { NT_STEPS_UNKNOWN = 0, NT_STEPS_SAME, NT_STEPS_FASTER, NT_STEPS_SLOWER };

#define NT_STEPS_PERIODS 8 /* of a step, at least */

struct nt_step_test_result {
	enum nt_step_verdict verdict;
	double ratio; /* period with the profile to period with the default */
	double p; /* one-sided */
};

enum nt_trust {
	NT_TRUST_UNTRIED = 0, /* no verdict */
	NT_TRUST_TRIED, /* tested, not slower */
	NT_TRUST_TRUSTED, /* faster, in three distinct jobs */
	NT_TRUST_MARKED, /* slower, in the one step where it was used */
	NT_TRUST_QUARANTINED, /* slower, in two or more: not used before these entries fade */
};

struct nt_profile_trust {
	enum nt_trust level;
	unsigned jobs; /* distinct ones with steps that could be compared */
	struct nt_step_test_result test; /* of all steps together */
};

/* The steps to use, from all memories; the memories keep their entries. */
#define NT_HISTORY_MAX 1024
struct nt_step_history {
	unsigned count;
	/* by time, job, step; each id once */
	const struct nt_memory_entry *entry[NT_HISTORY_MAX];
};

/* Add a memory's entries of jobs with exactly this place, NCCL and driver. NULL adds nothing. */
void nt_history_add(struct nt_step_history *history, const struct nt_memory *memory,
		    const struct nt_where *where);
/* Call it after all were added. */
void nt_history_sort(struct nt_step_history *history);

/* The profile's steps against those of another one: those of the job, of which the newest counts
 * alone if it contradicts the others, and those of other jobs. The job's are compared with the
 * other profile's in the job, or in any job if it has none there. job 0: of the newest step's
 * job. */
struct nt_step_test_result nt_history_test(const struct nt_step_history *history, uint32_t job,
					   const char *base, const char *profile);

/* How far a profile is trusted, from all steps for which it was not requested by name. */
struct nt_profile_trust nt_history_trust(const struct nt_step_history *history,
					 const char *profile);

const char *nt_trust_name(int trust);

#endif
