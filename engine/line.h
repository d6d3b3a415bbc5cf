/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* line.h - the time of a collective as a linear function of its size: T = latency + bytes /
 * bandwidth
 *
 * Predicts times at sizes that were not measured.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Units:    bytes; microseconds.
 */
#ifndef NT_LINE_H
#define NT_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* Least squares of the relative error, with latency and slope >= 0. Of a single size: constant
 * below it, proportional above. */
struct nt_line {
	double latency_us, us_per_byte;
	uint64_t flat_bytes; /* smaller sizes take as long; 0: none do */
};

/* All times must be above 0. false: count is 0. */
bool nt_line_fit(const uint64_t *bytes, const double *us, unsigned count, struct nt_line *out);
double nt_line_us(const struct nt_line *line, uint64_t bytes);

#endif
