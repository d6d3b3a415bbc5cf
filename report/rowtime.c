/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rowtime.c - see rowtime.h */
#include "report/rowtime.h"

#include <math.h>

bool nt_row_is_tuned(const struct nt_row *row)
{
	return row->arm != NT_ARM_AUTO;
}

/* A time of one side alone compares with nothing, unless there is only one. */
bool nt_row_has_own(const struct nt_row *row)
{
	if (isnan(row->auto_own_us))
		return false;
	return !isnan(row->arm_own_us) || isnan(row->arm_us);
}

double nt_row_us(const struct nt_row *row, enum nt_row_side side)
{
	if (nt_row_has_own(row))
		return row->own_us[side];
	return side == NT_SIDE_AUTO ? row->auto_us : row->arm_us;
}

double nt_row_gain(const struct nt_row *row)
{
	double auto_us = nt_row_us(row, NT_SIDE_AUTO), arm_us = nt_row_us(row, NT_SIDE_ARM);

	if (isnan(auto_us) || isnan(arm_us) || auto_us <= 0)
		return row->gain_percent;
	return 100 * (auto_us - arm_us) / auto_us;
}

double nt_row_saving_rate(const struct nt_row *row)
{
	if (!nt_row_is_tuned(row) || isnan(row->auto_us) || isnan(row->arm_us) ||
	    isnan(row->arm_period_us) || row->arm_period_us <= 0)
		return NAN;
	return (row->auto_us - row->arm_us) / row->arm_period_us;
}
