/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - clocks as numbers; CLOCK_MONOTONIC unless another is named
 *
 * Threads:  any; not for the hot path.
 */
#ifndef NT_CLOCK_H
#define NT_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t nt_clock_read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t nt_clock_us(void)
{
	return nt_clock_read_ns(CLOCK_MONOTONIC) / 1000;
}

static inline int64_t nt_clock_ms(void)
{
	return nt_clock_read_ns(CLOCK_MONOTONIC) / 1000000;
}

/* To the nanosecond. */
static inline double nt_clock_exact_us(void)
{
	return (double)nt_clock_read_ns(CLOCK_MONOTONIC) / 1e3;
}

#endif
