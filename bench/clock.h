/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the benchmark's clock
 *
 * Threads:  any.
 * Units:    microseconds of CLOCK_MONOTONIC, to the nanosecond.
 */
#ifndef NT_BENCH_CLOCK_H
#define NT_BENCH_CLOCK_H

#include <time.h>

static inline double nt_bench_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

#endif
