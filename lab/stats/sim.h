/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sim.h - what the parts of nt-engine-sim share
 *
 * Threads:  one thread.
 * Errors:   -1 where the engine did what it must not.
 * Units:    microseconds; shares as fractions of 1.
 */
#ifndef NT_STATS_SIM_H
#define NT_STATS_SIM_H

#include "engine/quantiles.h"
#include "lab/replay/replay.h"
#include "tests/fake/noise.h"

#define NT_FASTER_ARM 1u /* of made-up arms: the one that differs from AUTO */
/* The longest run of calls by one arm. */
#define NT_SIM_RUN 16u
#define NT_STALL 2.3 /* a stalled call takes so many times as long */

struct nt_sim {
	struct nt_policy policy;
	unsigned trials, arms;
	const char *noise; /* the only one; NULL: all */
	uint64_t seed;
	double miss;
	double apart_us; /* from call to call; 0: unknown */
	double left_calls; /* for which there is time; 0: no limit */
	double gain, stalls; /* of NT_FASTER_ARM */
	double own; /* share of a time that is the call's own; 0: not known */
	bool recheck; /* NT_FASTER_ARM is in force, and rechecked */
	/* Of a call of NT_FASTER_ARM after another arm's: so much longer than its next ones. */
	double carry;
	unsigned run; /* calls by one arm in a row, the first left out; 1: single calls */
	struct nt_drive drive;
};

/* Where one key's times come from. */
struct nt_source_noise {
	const struct nt_sim *sim;
	const struct nt_noise *noise;
	uint64_t seed;
	unsigned before; /* the arm of the newest call */
};

/* nt_drive_key.time_us of a struct nt_source_noise. */
double nt_source_noise_us(void *source, unsigned arm, unsigned call);

struct nt_rates_sum {
	unsigned sources;
	double found, wrong, calls;
	double worst_found, worst_wrong;
};

void nt_rates_head(const struct nt_sim *sim);
int nt_rates_noises(struct nt_sim *sim, struct nt_rates_sum *sum);
void nt_rates_foot(const struct nt_rates_sum *sum);

#endif
