/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/bandwidth.h"

#include <math.h>
#include "contract/coll.h"
#include "record/step.h"

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
