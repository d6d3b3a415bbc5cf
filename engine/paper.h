/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* paper.h - the rules of a paper, to compare with ours
 *
 * They measure all arms in one round and then have their say:
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
#ifndef NT_PAPER_H
#define NT_PAPER_H

#include "engine/judge.h"

#define NT_PAPER_ONLINE_BLOCKS 10 /* of the one round; nothing of it is dropped */
#define NT_PAPER_OFFLINE_BLOCKS 40

nt_judge nt_paper_online, nt_paper_offline;

/* Mean of what lies within 1.5 interquartile ranges of the quartiles; 0 without samples. */
double nt_paper_trimmed_mean(const float *us, unsigned count);

/* One-sided p of the hypothesis that arm is not faster: Mann and Whitney's U, normal with
 * corrections for ties and continuity. 1 without samples. *delta: Cliff's, above 0 where arm is
 * faster. At most NT_SAMPLES_MAX of each. */
double nt_paper_mann_whitney(const float *base, unsigned base_count, const float *arm,
			     unsigned arm_count, double *delta);

#endif
