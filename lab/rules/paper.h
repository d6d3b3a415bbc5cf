/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* paper.h - decision rules of a paper, for comparison with ours
 *
 * They measure all arms in one round, then decide:
 *
 *   paper-online   10 blocks of all arms; means without outliers (beyond 1.5 interquartile ranges);
 *                  the lowest wins if it is 5 % below the baseline
 *   paper-offline  40 blocks of all arms; five gates: trimmed outliers, Mann-Whitney p below 0.01,
 *                  Cliff's delta above 0.33, odd and even samples agree, gain of 5 % (10 % from
 *                  64 MiB)
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none; an arm without samples does not win.
 * Units:    microseconds; p as fractions of 1.
 */
#ifndef NT_LAB_PAPER_H
#define NT_LAB_PAPER_H

#include "engine/rule.h"

extern const struct nt_rule nt_paper_online, nt_paper_offline;

/* Mean of the samples within 1.5 interquartile ranges of the quartiles; 0 without samples. */
double nt_paper_trimmed_mean(const float *us, unsigned count);

/* One-sided p that arm is not faster: Mann-Whitney U, normal approximation with corrections for
 * ties and continuity. 1 without samples. *delta: Cliff's delta, above 0 if arm is faster. At most
 * NT_SAMPLES_MAX samples each. */
double nt_paper_mann_whitney(const float *baseline, unsigned baseline_count, const float *arm,
			     unsigned arm_count, double *delta);

#endif
