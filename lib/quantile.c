/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/quantile.h"

#include <stdlib.h>

#define SORT_OF(type, name)                                         \
	static int by_##name(const void *left, const void *right)   \
	{                                                           \
		const type a = *(const type *)left;                 \
		const type b = *(const type *)right;                \
                                                                    \
		return (a > b) - (a < b);                           \
	}                                                           \
                                                                    \
	void nt_sort_##name(type *values, size_t count)             \
	{                                                           \
		qsort(values, count, sizeof(values[0]), by_##name); \
	}

SORT_OF(float, floats)
SORT_OF(double, doubles)
SORT_OF(uint32_t, u32)
SORT_OF(uint64_t, u64)

double nt_quantile_floats(const float *sorted, size_t count, double share)
{
	const double at = count > 0 ? share * (double)(count - 1) : 0;
	const size_t below = (size_t)at;

	if (count == 0)
		return 0;
	if (below + 1 >= count)
		return (double)sorted[count - 1];
	return (double)sorted[below] +
	       (at - (double)below) * (double)(sorted[below + 1] - sorted[below]);
}
