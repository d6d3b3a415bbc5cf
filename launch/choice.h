/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* choice.h - what a choice of a profile is made from, and what it is (launch/choose.h)
 *
 * Memory:   values; what they point to is the caller's. `chosen` points into the choice itself.
 * Units:    ratios, gains, shares and p as fractions of 1; seconds since 1970.
 */
#ifndef NT_LAUNCH_CHOICE_H
#define NT_LAUNCH_CHOICE_H

#include "launch/feel.h"
#include "launch/profile.h"
#include "launch/reason.h"
#include "launch/weigh.h"

enum nt_level { NT_LEVEL_JOB = 0, NT_LEVEL_USER, NT_LEVEL_SITE, NT_LEVELS };

struct nt_launch_limits {
	double floor; /* smallest gain worth a profile */
	double alpha; /* largest p of the mix, over all candidates together */
	double measured; /* share of the default's cost that must be measured, not estimated */
	double blind_worst; /* largest ratio at any size where the mix is unknown */
	unsigned trust_jobs; /* distinct jobs to win in */
	unsigned tries; /* candidates that one job tries */
	unsigned control_every; /* tasks of an array; 0: no control */
	/* hope for a profile that differs by one doubling from a measured one */
	double per_doubling;
	struct nt_feel_rule feel; /* .test is the caller's */
};

struct nt_launch_case {
	const struct nt_memory *memory[NT_LEVELS]; /* tidy; NULL where there is none */
	const struct nt_profiles *profiles;
	struct nt_where where;
	const struct nt_mix *mix; /* NULL: of the job's last step, else of the newest known job */
	int64_t array_task; /* -1: no array */
	int64_t now_s;
};

/* What was found of one profile. */
struct nt_weighed {
	const struct nt_profile *profile;
	enum nt_level level; /* whose evidence the weight is */
	struct nt_weight weight; /* .known false: nothing at this place */
	struct nt_standing standing;
	bool here; /* it ran in this job */
	struct nt_feeling felt; /* in this job, its newest step */
	bool used; /* it may be used */
	bool open; /* it is a candidate to be tried */
	double promise; /* logarithm of the ratio that is expected of it, without hope */
	enum nt_why why; /* what speaks for it or against it */
};

struct nt_launch_choice {
	char profile[NT_PROFILE_NAME]; /* NT_PROFILE_DEFAULT, or a name of the files */
	bool candidate; /* to find out; what the step leaves is to be marked so */
	enum nt_why why;
	const struct nt_weighed *chosen; /* NULL for the default; into weighed */
	bool mix_known;
	unsigned steps; /* of this job that are known */
	unsigned count;
	struct nt_weighed weighed[NT_PROFILES_MAX]; /* in the files' order */
	unsigned next_count; /* candidates that are still open, the most promising first */
	unsigned char next[NT_PROFILES_MAX];
};

#endif
