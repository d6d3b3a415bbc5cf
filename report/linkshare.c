/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* linkshare.c - see linkshare.h */
#include "report/linkshare.h"

#include <math.h>
#include <string.h>
#include "contract/coll.h"
#include "report/rowtime.h"

#define FULL 1.05 /* busbw and NCCL's steps of speed are no finer than that */

static bool is_ring(int arm)
{
	const int algo = nt_arm_pair(arm) / NT_PROTOS;

	return arm >= 0 && arm != NT_ARM_AUTO && algo == nt_algo_parse("RING");
}

/* Of a node's part of a communicator; NAN: not known. */
static double ring_gbps(const struct nt_topology_seen *seen)
{
	const struct nt_links *ring = &seen->ring;
	const double gbps = seen->nodes > 1 ? ring->inter_gbps : ring->intra_gbps;

	return ring->channels > 0 && gbps > 0 ? (double)ring->channels * gbps : NAN;
}

/* Is the topology that of a communicator of the row's family? */
static bool is_of(const struct nt_summary *summary, const struct nt_topology_seen *seen,
		  const struct nt_row *row)
{
	if (seen->step != row->step)
		return false;
	for (size_t i = 0; i < summary->comm_count; i++) {
		const struct nt_comm_seen *comm = &summary->comms[i];

		if (comm->step == seen->step && strcmp(comm->id, seen->id) == 0)
			return comm->family == row->family;
	}
	return false;
}

double nt_link_share(const struct nt_summary *summary, const struct nt_row *row)
{
	const double busbw_gbps = nt_row_busbw(row, NT_OF_AUTO);
	double least_gbps = NAN, share;

	if (!is_ring(row->auto_arm))
		return NAN;
	for (size_t i = 0; i < summary->topology_count; i++) {
		const struct nt_topology_seen *seen = &summary->topologies[i];

		if (is_of(summary, seen, row))
			least_gbps = fmin(least_gbps, ring_gbps(seen));
	}
	share = busbw_gbps / least_gbps;
	if (!(share > 0 && share <= FULL))
		return NAN;
	return fmin(share, 1);
}
