/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* figure.c - the arithmetic of the benchmark */
#include "bench/figure.h"

#include <stdlib.h>
#include "contract/coll.h"

struct nt_counts nt_figure_counts(int coll, size_t bytes, int ranks)
{
	const size_t n = bytes / sizeof(float);
	const size_t share = n / (size_t)ranks ? n / (size_t)ranks : 1;
	struct nt_counts c = { .send = n, .receive = n, .call = n };

	if (coll == NT_ALLGATHER) {
		c.send = c.call = share;
		c.receive = share * (size_t)ranks;
	} else if (coll == NT_REDUCESCATTER) {
		c.receive = c.call = share;
		c.send = share * (size_t)ranks;
	}
	c.bytes = (c.send > c.receive ? c.send : c.receive) * sizeof(float);
	return c;
}

static int compare(const void *a, const void *b)
{
	const float x = *(const float *)a;
	const float y = *(const float *)b;

	return (x > y) - (x < y);
}

static double quantile(const float *sorted, size_t count, double q)
{
	const double at = q * (double)(count - 1);
	const size_t low = (size_t)at;
	const size_t high = low + 1 < count ? low + 1 : low;

	return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

struct nt_quartiles nt_figure_quartiles(float *values, size_t count)
{
	struct nt_quartiles q = { .samples = count };

	if (count == 0)
		return q;
	qsort(values, count, sizeof(values[0]), compare);
	q.median = quantile(values, count, 0.5);
	q.p25 = quantile(values, count, 0.25);
	q.p75 = quantile(values, count, 0.75);
	q.min = values[0];
	for (size_t i = 0; i < count; i++)
		q.mean += values[i];
	q.mean /= (double)count;
	return q;
}

float nt_figure_input(int rank, size_t i)
{
	return (float)((i * 31 + (size_t)rank * 17) % NT_FIGURE_PERIOD);
}

static size_t wrong_sums(const int *ranks, int count, size_t first, const float *result, size_t n)
{
	float sum[NT_FIGURE_PERIOD];
	size_t wrong = 0;

	for (size_t k = 0; k < NT_FIGURE_PERIOD; k++) {
		sum[k] = 0;
		for (int r = 0; r < count; r++)
			sum[k] += nt_figure_input(ranks[r], k);
	}
	for (size_t i = 0; i < n; i++)
		wrong += !(result[i] == sum[(first + i) % NT_FIGURE_PERIOD]);
	return wrong;
}

static size_t wrong_copy(int rank, const float *result, size_t n)
{
	size_t wrong = 0;

	for (size_t i = 0; i < n; i++)
		wrong += !(result[i] == nt_figure_input(rank, i));
	return wrong;
}

size_t nt_figure_wrong(int coll, const int *ranks, int count, int me, const float *result,
		       struct nt_counts counts)
{
	size_t wrong = 0;

	switch (coll) {
	case NT_ALLREDUCE: return wrong_sums(ranks, count, 0, result, counts.receive);
	case NT_REDUCESCATTER:
		return wrong_sums(ranks, count, (size_t)me * counts.receive, result,
				  counts.receive);
	case NT_REDUCE: return me ? 0 : wrong_sums(ranks, count, 0, result, counts.receive);
	case NT_BROADCAST: return wrong_copy(ranks[0], result, counts.receive);
	default: break;
	}
	for (int r = 0; r < count; r++)
		wrong += wrong_copy(ranks[r], result + (size_t)r * counts.send, counts.send);
	return wrong;
}
