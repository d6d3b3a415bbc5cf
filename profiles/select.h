/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* select.h - which launch profile a step gets, and why
 *
 * A pure function of the memories. Steps are no experiments: a step gets NCCL's default settings or
 * a profile that was measured at this place and was faster. Each launch decides anew, from this
 * job's earlier steps, the user's memory and the site's.
 *
 *   - A profile is used if its gain for the program's mix of calls is significant and large enough,
 *     or if the program's own steps were faster with it.
 *   - It must not make NCCL's own choices slower for that mix, or at any size if that is unknown:
 *     a step begins with them.
 *   - It is not used if they were slower in this job or twice in earlier jobs, or if it gave wrong
 *     results on this hardware.
 *   - The measurements must be a calibration at this place, steps of this job, or steps of three
 *     jobs.
 *   - If a step with a profile was slower than the default's earlier steps, the default is measured
 *     again.
 *   - If it did not gain what a calibration promised, the default is measured once. Calls of a
 *     program include what it does between them, so the promise may be right: the profile goes on
 *     if calibration and steps together say so, and profiles are compared by calibrations.
 *
 * Threads:  pure.
 * Memory:   heap while the function runs; the choice is a value, what it points to is the caller's.
 * Errors:   -1 only if memory runs out; the choice is then the default.
 * Units:    ratios, gains, shares and p as fractions of 1; seconds since 1970.
 */
#ifndef NT_LAUNCH_CHOOSE_H
#define NT_LAUNCH_CHOOSE_H

#include "profiles/step-test.h"
#include "profiles/profile.h"
#include "profiles/select-reason.h"
#include "profiles/mix-cost.h"

enum nt_level { NT_LEVEL_JOB = 0, NT_LEVEL_USER, NT_LEVEL_SITE, NT_LEVELS };

struct nt_launch_case {
	const struct nt_memory *memory[NT_LEVELS]; /* in order (nt_memory_sort); NULL: none */
	const struct nt_profiles *profiles;
	struct nt_where where;
	const struct nt_mix *mix; /* NULL: of the job's last step, else of the newest known job */
	int64_t now_s;
};

/* One profile that could be selected. */
struct nt_candidate {
	const struct nt_profile *profile;
	enum nt_level level; /* whose measurements the cost is from */
	struct nt_mix_cost cost; /* .known is false: nothing was measured at this place */
	struct nt_mix_cost promise; /* by calibrations alone */
	struct nt_profile_trust trust;
	bool here; /* it has run in this job */
	struct nt_step_test_result step_test; /* if it ran in this job */
	bool used; /* it may be selected */
	/* Logarithm of its ratio where it was measured with other software or on other numbers of
	 * nodes, and not here; else 0. A calibration tries the lowest first. */
	double nearby;
	enum nt_why why; /* the reason for or against it */
};

struct nt_launch_choice {
	char profile[NT_PROFILE_NAME]; /* NT_PROFILE_DEFAULT, or a name from the files */
	enum nt_why why;
	const struct nt_candidate *chosen; /* NULL for the default; into candidate */
	bool observe; /* forced choices gave wrong results on this hardware: do not force any */
	bool mix_known;
	unsigned count;
	struct nt_candidate candidate[NT_PROFILES_MAX]; /* in the files' order */
};

/* NULL: it has none of that name. */
const struct nt_candidate *nt_choice_find(const struct nt_launch_choice *choice,
					  const char *profile);

/* out->chosen points into *out: do not copy a choice. */
int nt_select(const struct nt_launch_case *launch, struct nt_launch_choice *out);

#endif
