/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rng.h - pseudo-random numbers that are equal on every rank: a hash of the arguments
 *
 * Threads:  pure functions.
 */
#ifndef NT_REPLAY_RNG_H
#define NT_REPLAY_RNG_H

#include <math.h>
#include <stdint.h>

/* The finalizer of splitmix64. */
static inline uint64_t nt_rng_hash(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static inline uint64_t nt_rng_mix(uint64_t a, uint64_t b)
{
	return nt_rng_hash(nt_rng_hash(a) ^ (b * UINT64_C(0xd6e8feb86659fd93)));
}

/* In [0, 1). */
static inline double nt_rng_unit(uint64_t key)
{
	return (double)(nt_rng_hash(key) >> 11) * 0x1p-53;
}

/* Standard normal, by the Box-Muller transform. */
static inline double nt_rng_normal(uint64_t key)
{
	double u = 1.0 - nt_rng_unit(key);
	double v = nt_rng_unit(key ^ UINT64_C(0x5851f42d4c957f2d));

	return sqrt(-2.0 * log(u)) * cos(2.0 * 3.14159265358979323846 * v);
}

static inline double nt_rng_exponential(uint64_t key, double mean)
{
	return -mean * log(1.0 - nt_rng_unit(key));
}

#endif
