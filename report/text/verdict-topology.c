/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences on nodes with fewer channels or slower links, and on what calls make of these. */
#include "report/text/verdict-maker.h"

#include <math.h>
#include <stdio.h>
#include "contract/coll.h"
#include "lib/table.h"
#include "record/row-time.h"
#include "report/model/topology-compare.h"
#include "report/text/words.h"

static void say_poorer(struct nt_maker *maker, const struct nt_node_table *nodes, size_t which,
		       const char *lack)
{
	const struct nt_topology_seen *seen = nodes->item[which];
	char type[200], step[NT_STEP_PREFIX];

	snprintf(type, sizeof(type),
		 "NCCL limits all nodes to the slowest one. Check %.40s (nvidia-smi nvlink "
		 "-s, ibstat) or leave it out: --exclude=%.40s",
		 seen->node, seen->node);
	nt_maker_say(maker, NT_SENTENCE_TOPOLOGY, type,
		     "%sNode %s has fewer channels or slower links than %s: %s.",
		     nt_maker_prefix(maker->summary, seen->step, step), seen->node,
		     nodes->count == 2 ? "the other one" : "most others", lack);
}

static void say_step(struct nt_maker *maker, const struct nt_node_table *nodes)
{
	char lack[NT_LACK_TEXT];
	size_t told = 0, more = 0;

	for (size_t i = 0; i < nodes->count; i++) {
		if (!nt_nodes_lack(nodes, i, lack)[0])
			continue;
		if (told++ < NT_TOLD_MAX)
			say_poorer(maker, nodes, i, lack);
		else
			more++;
	}
	if (more > 0)
		nt_maker_say(maker, NT_SENTENCE_TOPOLOGY, "",
			     "%zu more node%s fewer channels or slower links than most others.",
			     more, more == 1 ? " has" : "s have");
}

void nt_maker_topology(struct nt_maker *maker)
{
	struct nt_node_table nodes;

	for (size_t i = 0; i < maker->summary->step_count; i++) {
		if (nt_nodes_find(&nodes, maker->summary, i, NULL) < 0)
			maker->no_memory = true;
		say_step(maker, &nodes);
		nt_nodes_fini(&nodes);
	}
}

/* ---- how near calls come to the links */

#define FULL 1.05 /* busbw and NCCL's steps of speed are no finer than that */

static bool is_ring(int arm)
{
	const int algo = nt_arm_pair(arm) / NT_PROTOS;

	return arm >= 0 && arm != NT_ARM_BASELINE && algo == nt_algo_parse("RING");
}

/* How much of its rings' bandwidth the busbw of NCCL's own choice uses: 0 to 1. NAN: the choice is
 * not a ring, a figure is unknown, or the share is over 1, so NCCL's figure must be wrong.
 *
 * The bandwidth of rings is NCCL's own figure from its graph dump (topology=on): channels times the
 * speed of one, on the slowest node. Only the dump tells which NICs NCCL selected. NCCL assumes 10
 * Gbit/s for networks of unknown speed (src/graph/topo.cc, ncclTopoAddNet), so a share can be too
 * large. */
static double link_share(const struct nt_summary *summary, const struct nt_key *row)
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

/* The largest row where NCCL's choice stays. */
void nt_maker_links(struct nt_maker *maker)
{
	const struct nt_summary *summary = maker->summary;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];
		const bool last = i + 1 == summary->row_count || row->step != row[1].step ||
				  row->family != row[1].family || row->coll != row[1].coll;
		const double share = link_share(summary, row);
		char step[NT_STEP_PREFIX], shape[160], size[24];

		if (!last || isnan(share) || !nt_row_is(row, NT_KEYSTATE_KEPT))
			continue;
		nt_maker_say(maker, NT_SENTENCE_STAYS, "",
			     "%s%s on %s: at %s NCCL reaches %.0f %% of its rings' bandwidth.",
			     nt_maker_prefix(summary, row->step, step), nt_coll_name(row->coll),
			     nt_family_words(&summary->families[row->family], shape, sizeof(shape)),
			     nt_size_text(row->bytes, size, sizeof(size)), 100 * share);
	}
}
