/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* figure.h - the arithmetic of the benchmark: counts, expected results, quartiles, bandwidths
 *
 * Sizes and bandwidths are those of NVIDIA's nccl-tests: a size is that of the larger buffer; algbw
 * is that size divided by the time; busbw is algbw times the share of the size that must cross the
 * slowest link.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Units:    in the names.
 */
#ifndef NT_BENCH_FIGURE_H
#define NT_BENCH_FIGURE_H

#include <stddef.h>

/* Floats that a rank sends and receives; sizes are rounded down to a multiple of the ranks, at
 * least one float for each. */
struct nt_counts {
	size_t send, receive;
	size_t call; /* NCCL's count argument */
	size_t bytes; /* the size that is really transferred */
};

struct nt_counts nt_figure_counts(int coll, size_t bytes, int ranks);

struct nt_quartiles {
	double median, p25, p75, min, mean;
	size_t samples;
};

/* Sorts values. Quantiles are interpolated linearly; all members are 0 without a sample. */
struct nt_quartiles nt_figure_quartiles(float *values, size_t count);

/* Element i of rank's send buffer: small whole numbers, so that sums are exact in any order. */
#define NT_FIGURE_PERIOD 61
float nt_figure_input(int rank, size_t i);

/* The number of elements of a receive buffer. */
struct nt_piece {
	size_t first, count;
};

/* The number-th piece of at most `most` elements to check: first the last elements, then any. */
struct nt_piece nt_figure_piece(struct nt_counts counts, size_t most, unsigned number);

/* The number of wrong elements in a piece of the receive buffer of member `me` of ranks[count] (the
 * senders' numbers; root is member 0) after coll; result is the piece's first element. Of a Reduce,
 * only the root's result is checked. */
size_t nt_figure_wrong(int coll, const int *ranks, int count, int me, const float *result,
		       struct nt_counts counts, struct nt_piece piece);

#endif
