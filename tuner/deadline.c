/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/deadline.h"

#include <stddef.h>
#include "lib/number.h"

#define END_S_MAX UINT64_C(99999999999) /* in the year 5138 */

uint64_t nt_deadline_us(const char *text, int64_t wall_s, uint64_t now_us)
{
	uint64_t end_s;

	if (!text || nt_number_parse(text, 0, END_S_MAX, &end_s) < 0)
		return 0;
	/* The job is past its end, or the clock is wrong. */
	if (wall_s <= 0 || end_s <= (uint64_t)wall_s)
		return 0;
	return now_us + (end_s - (uint64_t)wall_s) * 1000000;
}
