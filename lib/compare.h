/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - order for qsort() by several numbers, the first that differs */
#ifndef NT_COMPARE_H
#define NT_COMPARE_H

/* Returns from the function that compares, unless both are equal. */
#define NT_COMPARE(a, b)                           \
	do {                                       \
		if ((a) != (b))                    \
			return (a) < (b) ? -1 : 1; \
	} while (0)

#endif
