/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences on nodes with fewer channels or slower links. */
#include "report/text/verdict-maker.h"

#include <stdio.h>
#include "report/model/topology-compare.h"

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
