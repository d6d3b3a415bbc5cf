/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/link-share.h"

#include <math.h>
#include "contract/coll.h"
#include "report/model/row-time.h"
#include "report/model/topology-compare.h"

#define FULL 1.05 /* busbw and NCCL's steps of speed are no finer than that */

static bool is_ring(int arm)
{
	const int algo = nt_arm_pair(arm) / NT_PROTOS;

	return arm >= 0 && arm != NT_ARM_BASELINE && algo == nt_algo_parse("RING");
}

double nt_link_share(const struct nt_summary *summary, const struct nt_key *row)
{
	const double busbw_gbs = nt_row_busbw(row, NT_OF_AUTO);
	double least_gbs = NAN, share;

	if (!is_ring(row->auto_arm))
		return NAN;
	for (size_t i = 0; i < summary->topology_count; i++) {
		const struct nt_topology_seen *seen = &summary->topologies[i];
		const struct nt_comm_seen *comm = nt_topology_comm(summary, seen);
		const double gbs = nt_topology_ring_gbs(seen);

		if (comm && comm->step == row->step && comm->family == row->family && gbs > 0)
			least_gbs = fmin(least_gbs, gbs);
	}
	share = busbw_gbs / least_gbs;
	if (!(share > 0 && share <= FULL))
		return NAN;
	return fmin(share, 1);
}
