/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* figure.h - the arithmetic of the benchmark: counts, expected results, quartiles, bandwidths
 *
 * Sizes and bandwidths are those of NVIDIA's nccl-tests: a size is that of the larger buffer;
 * algbw is that size over the time; busbw is algbw times the share of the size that has to cross
 * the slowest link.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Units:    in the names; gbps is 10^9 bytes a second.
 */
#ifndef NT_BENCH_FIGURE_H
#define NT_BENCH_FIGURE_H

#include <stddef.h>

/* Floats that a rank sends and receives; sizes that do not divide by the ranks are rounded down,
 * at least one each. */
struct nt_counts {
	size_t send, receive;
	size_t call; /* NCCL's count argument */
	size_t bytes; /* the size that is really moved */
};

struct nt_counts nt_figure_counts(int coll, size_t bytes, int ranks);

struct nt_quartiles {
	double median, p25, p75, min, mean;
	size_t samples;
};

/* Sorts values. Quantiles are linear between order statistics; all members are 0 without a sample.
 * */
struct nt_quartiles nt_figure_quartiles(float *values, size_t count);

/* Element i of rank's send buffer: small whole numbers, so that sums are exact in any order. */
#define NT_FIGURE_PERIOD 61
float nt_figure_input(int rank, size_t i);

/* Elements of result that are not what coll leaves in the receive buffer of member `me` of
 * ranks[count] (numbers of the senders; root is member 0). Nothing is expected of a Reduce on the
 * other ranks. */
size_t nt_figure_wrong(int coll, const int *ranks, int count, int me, const float *result,
		       struct nt_counts counts);

#endif
