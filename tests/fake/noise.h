/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* noise.h - made-up times with the shapes that real ones have
 *
 * Threads:  pure functions.
 * Units:    microseconds.
 */
#ifndef NT_STATS_NOISE_H
#define NT_STATS_NOISE_H

#include <stdbool.h>
#include <stdint.h>

struct nt_noise {
	const char *name;
	const char *means; /* for people */
	double slow_share; /* how often the slow mode is hit */
	double fast_us, slow_us;
	double sigma; /* of the log-normal spread inside a mode */
	double tail; /* share of Pareto stalls of index 1.4 */
	double drift; /* growth per call */
	unsigned gap_every; /* calls of a step of the program; the last is followed by a gap */
	bool gap_between; /* the last is the only one that is not */
	double gap_us;
};

extern const struct nt_noise nt_noises[];
extern const unsigned nt_noise_count;

/* The time of a call without the gap after it; seed decides everything. */
double nt_noise_us(const struct nt_noise *noise, uint64_t seed, unsigned call);

/* The gap after a call, with 5 % of noise of its own. */
double nt_noise_gap_us(const struct nt_noise *noise, uint64_t seed, unsigned call);

#endif
