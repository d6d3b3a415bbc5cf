/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* quantile.h - sort numbers, and quantiles of sorted numbers
 *
 * Threads:  pure functions, any thread.
 * Memory:   the caller's; nothing is allocated, as this runs in the NCCL process.
 * Errors:   none; no value may be NAN.
 */
#ifndef NT_QUANTILE_H
#define NT_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* Ascending. */
void nt_sort_floats(float *values, size_t count);
void nt_sort_doubles(double *values, size_t count);
void nt_sort_u32(uint32_t *values, size_t count);
void nt_sort_u64(uint64_t *values, size_t count);

/* With linear interpolation; share is 0 to 1, 0.5 is the median. 0 without values. */
double nt_quantile_floats(const float *sorted, size_t count, double share);

#endif
