/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* noise.c - log-normal, two modes, a heavy tail, drift */
#include "tests/fake/noise.h"

#include <math.h>
#include "lab/replay/rng.h"

const struct nt_noise nt_noises[] = {
	{ .name = "lognormal-3", .means = "log-normal, 3 %", .fast_us = 1000, .sigma = 0.03 },
	{ .name = "lognormal-8", .means = "log-normal, 8 %", .fast_us = 1000, .sigma = 0.08 },
	{ .name = "lognormal-15", .means = "log-normal, 15 %", .fast_us = 1000, .sigma = 0.15 },
	{ .name = "bimodal-3",
	  .means = "62 % near 136 ms, 38 % near 312 ms, each 3 %",
	  .slow_share = 0.38,
	  .fast_us = 136000,
	  .slow_us = 312000,
	  .sigma = 0.03 },
	{ .name = "bimodal-8",
	  .means = "the same, each 8 %",
	  .slow_share = 0.38,
	  .fast_us = 136000,
	  .slow_us = 312000,
	  .sigma = 0.08 },
	{ .name = "drift",
	  .means = "log-normal, 5 %, growing 1 % per 10 calls",
	  .fast_us = 1000,
	  .sigma = 0.05,
	  .drift = 0.001 },
	{ .name = "tail",
	  .means = "log-normal, 5 %, and 5 % stalls of any length",
	  .fast_us = 1000,
	  .sigma = 0.05,
	  .tail = 0.05 },
	{ .name = "steps of 4",
	  .means = "log-normal, 5 %; every 4th call is followed by a gap 9 times as long",
	  .fast_us = 1000,
	  .sigma = 0.05,
	  .gap_every = 4,
	  .gap_us = 9000 },
	{ .name = "steps of 2",
	  .means = "log-normal, 5 %; every 2nd call is followed by a gap as long",
	  .fast_us = 1000,
	  .sigma = 0.05,
	  .gap_every = 2,
	  .gap_us = 1000 },
	{ .name = "bursts of 4",
	  .means = "log-normal, 5 %; all but every 4th call are followed by a gap 5 times as long",
	  .fast_us = 1000,
	  .sigma = 0.05,
	  .gap_every = 4,
	  .gap_between = true,
	  .gap_us = 5000 },
	{ .name = "bursts of 6",
	  .means = "log-normal, 5 %; all but every 6th call are followed by a gap as long",
	  .fast_us = 1000,
	  .sigma = 0.05,
	  .gap_every = 6,
	  .gap_between = true,
	  .gap_us = 1000 },
};

const unsigned nt_noise_count = sizeof(nt_noises) / sizeof(nt_noises[0]);

double nt_noise_us(const struct nt_noise *noise, uint64_t seed, unsigned call)
{
	double us = nt_rng_unit(nt_rng_mix(seed, 1)) < noise->slow_share ? noise->slow_us
									 : noise->fast_us;

	us *= exp(noise->sigma * nt_rng_normal(nt_rng_mix(seed, 2))) * pow(1 + noise->drift, call);
	if (nt_rng_unit(nt_rng_mix(seed, 3)) < noise->tail)
		us *= 1 + fmin(1000, pow(1 - nt_rng_unit(nt_rng_mix(seed, 4)), -1 / 1.4));
	return fmin(us, 4e6);
}

double nt_noise_gap_us(const struct nt_noise *noise, uint64_t seed, unsigned call)
{
	const bool last = noise->gap_every && call % noise->gap_every == noise->gap_every - 1;

	if (noise->gap_every == 0 || last == noise->gap_between)
		return 0;
	return noise->gap_us * exp(0.05 * nt_rng_normal(nt_rng_mix(seed, 6)));
}
