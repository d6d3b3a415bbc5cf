/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/row-time.h"

#include <math.h>
#include <string.h>
#include "contract/coll.h"
#include "record/step.h"

#define TIME_LEAST_US 1e-6 /* less is too short to compare */

/* ---- bandwidths and volumes */

double nt_algbw_gbs(double bytes, double us)
{
	return bytes > 0 && us > 0 ? bytes / us / 1e3 : NAN;
}

double nt_busbw_gbs(int coll, double ranks, double bytes, double us)
{
	return nt_algbw_gbs(bytes, us) * nt_coll_bus_factor(coll, ranks);
}

/* Each link of a ring carries the same. */
void nt_ring_volume(int coll, double ranks, double nodes, double bytes, double *inside_bytes,
		    double *between_bytes)
{
	double link = nt_coll_bus_factor(coll, ranks) * bytes;
	double links = coll == NT_BROADCAST || coll == NT_REDUCE ? ranks - 1 : ranks;
	double crossing = nodes > 1 ? (links < ranks ? nodes - 1 : nodes) : 0;

	*inside_bytes = ranks > 1 ? link * (links - crossing) : 0;
	*between_bytes = ranks > 1 ? link * crossing : 0;
}

void nt_p2p_volume(int kind, double ranks, double nodes, double bytes, double *inside_bytes,
		   double *between_bytes)
{
	const double here = nodes > 0 ? ranks / nodes : NAN;

	*inside_bytes = *between_bytes = NAN;
	if (kind == NT_P2P_ALLTOALL) {
		*inside_bytes = bytes * (here - 1) / ranks;
		*between_bytes = bytes * (ranks - here) / ranks;
	} else if (nodes == 1) {
		*inside_bytes = bytes;
		*between_bytes = 0;
	} else if (nodes == ranks) {
		*inside_bytes = 0;
		*between_bytes = bytes;
	}
}

/* ---- a row */

enum nt_which nt_row_in_force(const struct nt_key *row)
{
	return row->arm != NT_ARM_BASELINE ? NT_OF_ARM : NT_OF_AUTO;
}

bool nt_row_duration_known(const struct nt_key *row)
{
	return !isnan(row->auto_own_us) && isnan(row->arm_us) == isnan(row->arm_own_us);
}

double nt_row_own_us(const struct nt_key *row, enum nt_which which)
{
	return nt_row_duration_known(row) ? row->own_us[which] : NAN;
}

double nt_row_all_us(const struct nt_key *row)
{
	const double calls = row->rank_calls > 0 ? (double)row->rank_calls
						 : (double)row->calls * row->ranks;

	return row->calls > 0 ? nt_row_own_us(row, nt_row_in_force(row)) * calls : NAN;
}

double nt_row_call_us(const struct nt_key *row, enum nt_which which)
{
	return nt_row_duration_known(row) ? row->own_us[which] : row->us[which];
}

bool nt_row_is(const struct nt_key *row, enum nt_keystate state)
{
	return row->state == (int)state;
}

bool nt_row_is_tuned(const struct nt_key *row)
{
	return row->arm != NT_ARM_BASELINE;
}

double nt_row_gain(const struct nt_key *row)
{
	double auto_us = nt_row_call_us(row, NT_OF_AUTO), arm_us = nt_row_call_us(row, NT_OF_ARM);

	if (isnan(auto_us) || isnan(arm_us) || auto_us < TIME_LEAST_US)
		return row->gain_percent;
	return 100 * (auto_us - arm_us) / auto_us;
}

double nt_row_busbw(const struct nt_key *row, enum nt_which which)
{
	return nt_busbw_gbs(row->coll, row->ranks, (double)row->bytes, nt_row_own_us(row, which));
}

/* Mean time from one call of a communicator to its next; median_us if that is not known. */
static double average_us(const struct nt_key *row, const struct nt_step *step, double median_us)
{
	double comms = row->comms > 1 ? (double)row->comms : 1;

	if (step->steps <= 0 || !(step->step_us[1] > 0) || row->calls <= 0)
		return median_us;
	return (double)step->steps * step->step_us[1] * comms / (double)row->calls;
}

double nt_row_saving_rate(const struct nt_key *row, const struct nt_step *step)
{
	double comms = row->comms > 1 && row->same > 0 ? (double)row->same : 1;
	double us = average_us(row, step, row->arm_period_us);

	if (!nt_row_is_tuned(row) || isnan(row->auto_us) || isnan(row->arm_us) || !(us > 0))
		return NAN;
	return comms * (row->auto_us - row->arm_us) / us;
}

double nt_row_period_us(const struct nt_key *row, const struct nt_step *step)
{
	return average_us(row, step, row->auto_period_us);
}

double nt_row_decided_s(const struct nt_key *row, const struct nt_step *step)
{
	double us = nt_row_period_us(row, step);

	if (row->decided < 0 || isnan(us))
		return NAN;
	return (double)row->decided * us / 1e6;
}

double nt_step_calibration_ms(const struct nt_step *step)
{
	return step->calibration_s > 0 ? step->calibration_s * 1e3 : 0;
}

double nt_step_launch_ms(const struct nt_step *step)
{
	if (!step->launch[0] || strcmp(step->launch, "default") == 0 || !(step->measured > 0) ||
	    step->steps <= 0 || !(step->step_us[1] > 0))
		return NAN;
	return (double)step->steps * step->step_us[1] * (step->measured - 1) / 1e3;
}
