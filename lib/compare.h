/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - compare several numbers and texts in turn, for qsort()
 *
 * Each macro returns from the enclosing function unless both are equal.
 */
#ifndef NT_COMPARE_H
#define NT_COMPARE_H

#include <string.h>

#define NT_COMPARE(a, b)           \
	do {                       \
		if ((a) < (b))     \
			return -1; \
		if ((a) > (b))     \
			return 1;  \
	} while (0)

#define NT_COMPARE_TEXT(a, b)                      \
	do {                                       \
		const int nt_order = strcmp(a, b); \
                                                   \
		if (nt_order != 0)                 \
			return nt_order;           \
	} while (0)

#endif
