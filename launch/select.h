/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* select.h - which launch profile a step gets, and why
 *
 * One look-up in what calibrations at this place have measured: for each profile, what the
 * program's calls take with it to what they take with NCCL's default settings, and how sure that
 * is. Steps are no experiments: what no calibration has measured here is not used.
 *
 *   - A size that was not measured is taken to have the ratio of the nearest one, on the same
 *     communicators if possible. Where the program's calls are unknown, all measured sizes count
 *     alike, and the profile must not be slower at any of them.
 *   - A profile is used if its gain is significant and large enough; of several the fastest.
 *   - It is not used if the program's own steps were slower with it since, if its last step in this
 *     job failed, or if it gave wrong results on this hardware.
 *
 * Threads:  pure.
 * Memory:   the choice is a value, what it points to is the caller's.
 * Errors:   none.
 * Units:    ratios, gains, shares and p as fractions of 1; seconds since 1970.
 */
#ifndef NT_LAUNCH_SELECT_H
#define NT_LAUNCH_SELECT_H

#include "launch/memory.h"
#include "launch/profile.h"
#include "launch/select-reason.h"

enum nt_level { NT_LEVEL_USER = 0, NT_LEVEL_SITE, NT_LEVELS };

struct nt_launch_case {
	const struct nt_memory *memory[NT_LEVELS]; /* NULL: none */
	const struct nt_profiles *profiles;
	struct nt_where where;
	const struct nt_memory_entry *step; /* has the program's calls; NULL: they are unknown */
	uint32_t job; /* 0: none yet */
};

/* One profile that could be selected. */
struct nt_candidate {
	const struct nt_profile *profile;
	bool known; /* it was measured here */
	double ratio; /* time of the calls with the profile to that with the default */
	double error; /* standard error of the ratio's logarithm */
	double p; /* one-sided: the probability of such a ratio if it is not faster */
	double measured; /* share of the time at sizes that were measured themselves */
	double unknown; /* share of calls that are like none that was measured */
	double worst; /* the largest ratio of a measured size */
	uint64_t least_bytes, most_bytes; /* measured */
	int64_t when_s; /* of the newest calibration that counts */
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
void nt_profile_select(const struct nt_launch_case *launch, struct nt_launch_choice *out);

#endif
