/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* tallytop.h - the best or the worst of many jobs, by what they gained or lost
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Units:    rank time (tallyjob.h).
 */
#ifndef NT_TALLYTOP_H
#define NT_TALLYTOP_H

#include <stddef.h>
#include <stdint.h>
#include "report/jobid.h"

#define NT_TALLY_TOP_MAX 100

struct nt_tally_job {
	char label[NT_JOB_LABEL_MAX];
	char cluster[64], partition[64], user[64];
	int64_t saved_us, spent_us;
};

struct nt_tally_top {
	struct nt_tally_job job[NT_TALLY_TOP_MAX];
	size_t count;
};

/* Into the first most of its kind, where it belongs: by its net time, most first (sign 1) or least
 * first (-1), then by its name; never by when it came. */
void nt_tally_offer(struct nt_tally_top *top, size_t most, const struct nt_tally_job *job,
		    int sign);

#endif
