/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rule.h - other people's rules, to compare with: which arm is best, from the times of all
 *
 * Ours, "nccl-tune", is the two rounds of tuner/engine.c and the tests of tuner/decide.h. The rules
 * here measure all arms in one round and then have their say:
 *
 *   paper-online   10 blocks of all arms; means without outliers (beyond 1.5 interquartile ranges);
 *                  the lowest wins if it is 5 % below AUTO's
 *   paper-offline  40 blocks of all arms; five gates: outliers trimmed, Mann-Whitney p below 0.01,
 *                  Cliff's delta above 0.33, odd and even samples agree, gain of 5 % (10 % from
 *                  64 MiB)
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none; an arm without samples does not win.
 * Units:    microseconds; p as fractions of 1.
 */
#ifndef NT_RULE_H
#define NT_RULE_H

#include <stdint.h>
#include "contract/policy.h"
#include "tuner/decide.h"

/* What was measured of each arm, AUTO first; 0 stands for a missing sample. */
struct nt_measured {
	unsigned arms;
	unsigned samples; /* of each */
	const float *us[NT_SCHEDULE_ARMS];
	uint64_t size_bytes; /* of the collective */
};

struct nt_choice {
	unsigned best; /* index; 0: AUTO */
	double p; /* 1 where there was no test */
	enum nt_verdict verdict; /* FASTER: best is to be used */
};

struct nt_named {
	unsigned blocks; /* of the one round; nothing of it is dropped */
	void (*judge)(const struct nt_measured *measured, struct nt_choice *choice);
};

/* The index of the arm that the rule thinks best, with its verdict, its p, and figures beside
 * AUTO's. */
unsigned nt_rule_contest(const struct nt_named *named, const struct nt_measured *measured,
			 struct nt_contest *contest);

/* enum nt_rules; NULL for ours. */
const struct nt_named *nt_rule_named(int64_t rule);

/* Mean of what lies within 1.5 interquartile ranges of the quartiles; 0 without samples. */
double nt_rule_trimmed_mean(const float *us, unsigned count);

/* One-sided p of the hypothesis that arm is not faster: Mann and Whitney's U, normal with
 * corrections for ties and continuity. 1 without samples. *delta: Cliff's, above 0 where arm is
 * faster. At most NT_DECIDE_SAMPLES of each. */
double nt_rule_mann_whitney(const float *base, unsigned base_count, const float *arm,
			    unsigned arm_count, double *delta);

#endif
