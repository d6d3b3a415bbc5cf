/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - milliseconds and microseconds of CLOCK_MONOTONIC
 *
 * Threads:  any; not for the hot path, although it seldom enters the kernel.
 */
#ifndef NT_CLOCK_H
#define NT_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t nt_clock_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static inline uint64_t nt_clock_ms(void)
{
	return nt_clock_us() / 1000;
}

#endif
