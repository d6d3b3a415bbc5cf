/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* figure.h - the arithmetic of the benchmark: counts, expected results, quartiles, bandwidths
 *
 * Sizes and bandwidths as in NVIDIA's nccl-tests: the size is that of the larger buffer, algbw is
 * the size divided by the time, and busbw is algbw times the share of the data that crosses the
 * slowest link.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Units:    in the names.
 */
#ifndef NT_BENCH_FIGURE_H
#define NT_BENCH_FIGURE_H

#include <stddef.h>

/* Floats that a rank sends and receives. Sizes are rounded down to a multiple of the ranks, but to
 * at least one float a rank. */
struct nt_counts {
	size_t send, receive;
	size_t call; /* NCCL's count argument */
	size_t bytes; /* the size after rounding */
};

struct nt_counts nt_figure_counts(int coll, size_t bytes, int ranks);

struct nt_quartiles {
	double median, p25, p75, min, mean;
	size_t samples;
};

/* Sorts values. Quantiles are interpolated; without samples all members are 0. */
struct nt_quartiles nt_figure_quartiles(float *values, size_t count);

/* Element i of rank's send buffer: a small whole number, so that sums are exact in any order. */
#define NT_FIGURE_PERIOD 61
float nt_figure_input(int rank, size_t i);

/* Elements of a receive buffer. */
struct nt_piece {
	size_t first, count;
};

/* Piece `number`, at most `most` elements: piece 0 is at the end of the buffer, the others are
 * anywhere. */
struct nt_piece nt_figure_piece(struct nt_counts counts, size_t most, unsigned number);

/* Number of wrong elements in a piece of the result of member `me` of ranks[count] (numbers of the
 * senders; member 0 is the root). result: the piece's first element. Only the root checks a
 * Reduce. */
size_t nt_figure_wrong(int coll, const int *ranks, int count, int me, const float *result,
		       struct nt_counts counts, struct nt_piece piece);

#endif
