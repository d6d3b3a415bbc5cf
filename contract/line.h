/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* line.h - the time of a collective by its size, as a line: T = latency + bytes / bandwidth
 *
 * What the engine expects of arms at sizes that were not measured yet, and what launch/ expects of
 * launch profiles there.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none; no line without times.
 * Units:    bytes; microseconds.
 */
#ifndef NT_LINE_H
#define NT_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* Line through times by size: least squares of the relative error, no part below zero. With one
 * size: in proportion above it, the same below it. */
struct nt_line {
	double latency_us, us_per_byte;
	uint64_t flat_bytes; /* sizes below cost as much as this one; 0: none */
};

/* us above 0. False without any. */
bool nt_line_fit(const uint64_t *bytes, const double *us, unsigned count, struct nt_line *out);
double nt_line_us(const struct nt_line *line, uint64_t bytes);

#endif
