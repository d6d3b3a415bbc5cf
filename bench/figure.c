/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/figure.h"

#include <stdlib.h>
#include "contract/coll.h"
#include "lib/quantile.h"

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
	} else if (coll == NT_P2P_ALLTOALL) {
		c.call = share;
		c.send = c.receive = share * (size_t)ranks;
	}
	c.bytes = (c.send > c.receive ? c.send : c.receive) * sizeof(float);
	return c;
}

struct nt_quartiles nt_figure_quartiles(float *values, size_t count)
{
	struct nt_quartiles q = { .samples = count };

	if (count == 0)
		return q;
	nt_sort_floats(values, count);
	q.median = nt_quantile_floats(values, count, 0.5);
	q.p25 = nt_quantile_floats(values, count, 0.25);
	q.p75 = nt_quantile_floats(values, count, 0.75);
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

struct nt_piece nt_figure_piece(struct nt_counts counts, size_t most, unsigned number)
{
	struct nt_piece piece = { .count = counts.receive < most ? counts.receive : most };
	const size_t offsets = counts.receive - piece.count + 1;

	piece.first = (offsets - 1 + (size_t)number * 2654435761u) % offsets;
	return piece;
}

/* Element i must be period[i % NT_FIGURE_PERIOD]. */
static size_t wrong_in(const float *period, size_t first, const float *result, size_t n)
{
	size_t k = first % NT_FIGURE_PERIOD, wrong = 0;

	for (size_t i = 0; i < n; i++) {
		wrong += !(result[i] == period[k]);
		k = k + 1 < NT_FIGURE_PERIOD ? k + 1 : 0;
	}
	return wrong;
}

static size_t wrong_sums(const int *ranks, int count, size_t first, const float *result, size_t n)
{
	float sum[NT_FIGURE_PERIOD];

	for (size_t k = 0; k < NT_FIGURE_PERIOD; k++) {
		sum[k] = 0;
		for (int r = 0; r < count; r++)
			sum[k] += nt_figure_input(ranks[r], k);
	}
	return wrong_in(sum, first, result, n);
}

/* Parts of `each` elements, in order of ranks: copies of the rank's data from element `from` on. */
static size_t wrong_copies(const int *ranks, size_t each, size_t from, const float *result,
			   struct nt_piece piece)
{
	const size_t end = piece.first + piece.count;
	size_t wrong = 0;

	for (size_t at = piece.first; at < end;) {
		const size_t next = (at / each + 1) * each < end ? (at / each + 1) * each : end;

		wrong += wrong_sums(&ranks[at / each], 1, from + at % each,
				    result + (at - piece.first), next - at);
		at = next;
	}
	return wrong;
}

size_t nt_figure_wrong(int coll, const int *ranks, int count, int me, const float *result,
		       struct nt_counts counts, struct nt_piece piece)
{
	const size_t before = coll == NT_REDUCESCATTER ? (size_t)me * counts.receive : 0;

	if (coll == NT_REDUCE && me)
		return 0;
	if (coll == NT_BROADCAST || coll == NT_ALLGATHER)
		return wrong_copies(ranks, counts.send, 0, result, piece);
	if (coll == NT_P2P_ALLTOALL)
		return wrong_copies(ranks, counts.call, (size_t)me * counts.call, result, piece);
	if (coll == NT_P2P_SENDRECV)
		return wrong_copies(&ranks[(me + count - 1) % count], counts.send, 0, result,
				    piece);
	return wrong_sums(ranks, count, before + piece.first, result, piece.count);
}
