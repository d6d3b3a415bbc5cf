/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* deadline.c - see deadline.h */
#include "tuner/deadline.h"

#include <string.h>

#define DIGITS 11 /* until the year 5138 */

uint64_t nt_deadline_us(const char *text, int64_t wall_s, uint64_t now_us)
{
	const size_t digits = text ? strspn(text, "0123456789") : 0;
	int64_t end_s = 0;

	if (digits == 0 || digits > DIGITS || text[digits] != '\0')
		return 0;
	for (size_t i = 0; i < digits; i++)
		end_s = end_s * 10 + (text[i] - '0');
	/* The job is past its end, or the wall clock is wrong. */
	if (wall_s <= 0 || end_s <= wall_s)
		return 0;
	return now_us + (uint64_t)(end_s - wall_s) * 1000000;
}
