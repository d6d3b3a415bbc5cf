/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* topology-json.c - see topology-json.h */
#include "report/metrics/topology-json.h"

#include "report/model/topology-compare.h"

static json_object *links_value(const struct nt_links *links, int *rc)
{
	json_object *object;

	if (links->channels <= 0)
		return NULL;
	object = nt_json_object(rc);
	nt_json_count(object, "channels", links->channels, rc);
	nt_json_number(object, "intra_gbs", links->intra_gbs, rc);
	nt_json_number(object, "inter_gbs", links->inter_gbs, rc);
	nt_json_text(object, "intra", links->intra, rc);
	nt_json_text(object, "inter", links->inter, rc);
	return object;
}

static json_object *seen_value(const struct nt_topology_seen *seen, int *rc)
{
	json_object *object = nt_json_object(rc);

	nt_json_text(object, "node", seen->node, rc);
	nt_json_text(object, "id", seen->id, rc);
	nt_json_count(object, "ranks", seen->ranks, rc);
	nt_json_count(object, "nodes", seen->nodes, rc);
	nt_json_count(object, "gpus", seen->gpus, rc);
	nt_json_count(object, "nvlinks", seen->nvlinks, rc);
	nt_json_count(object, "pcie_lanes", seen->gpu_lanes, rc);
	nt_json_number(object, "pcie_gts", seen->gpu_gts, rc);
	nt_json_count(object, "nics", seen->nics, rc);
	nt_json_count(object, "nics_mbps", seen->nics_mbps, rc);
	nt_json_known(object, "ring", links_value(&seen->ring, rc), rc);
	nt_json_known(object, "tree", links_value(&seen->tree, rc), rc);
	return object;
}

/* A node's figures, and what it has less than the others. */
static json_object *node_value(const struct nt_node_table *nodes, size_t which, int *rc)
{
	json_object *object = seen_value(nodes->item[which], rc);
	char lack[NT_LACK_TEXT];

	nt_json_text(object, "lack", nt_nodes_lack(nodes, which, lack), rc);
	nt_json_text(object, "trouble", nodes->item[which]->trouble, rc);
	return object;
}

static bool is_in(const struct nt_node_table *nodes, const struct nt_topology_seen *seen)
{
	for (size_t i = 0; i < nodes->count; i++) {
		if (nodes->item[i] == seen)
			return true;
	}
	return false;
}

/* What was found for other communicators. */
static json_object *others_value(const struct nt_summary *summary, size_t step,
				 const struct nt_node_table *nodes, int *rc)
{
	json_object *list = nt_json_array(rc);

	for (size_t i = 0; i < summary->topology_count; i++) {
		const struct nt_topology_seen *seen = &summary->topologies[i];
		json_object *object;

		if (seen->step != step || is_in(nodes, seen))
			continue;
		object = seen_value(seen, rc);
		nt_json_text(object, "trouble", seen->trouble, rc);
		nt_json_add(list, NULL, object, rc);
	}
	return nt_json_filled(list);
}

/* The nodes of the step's largest communicator, then those of the others. */
void nt_topology_json(json_object *object, const struct nt_summary *summary, size_t step, int *rc)
{
	struct nt_node_table nodes;
	char words[160];

	if (nt_nodes_find(&nodes, summary, step, NULL) < 0) {
		*rc = -1;
	} else if (nodes.count > 0) {
		json_object *topology = nt_json_object(rc);
		json_object *list = nt_json_array(rc);

		nt_json_text(topology, "of", nt_nodes_words(&nodes, summary, words, sizeof(words)),
			     rc);
		for (size_t i = 0; i < nodes.count; i++)
			nt_json_add(list, NULL, node_value(&nodes, i, rc), rc);
		nt_json_add(topology, "nodes", list, rc);
		nt_json_known(topology, "others", others_value(summary, step, &nodes, rc), rc);
		nt_json_add(object, "topology", topology, rc);
	}
	nt_nodes_fini(&nodes);
}
