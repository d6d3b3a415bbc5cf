/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/metrics/topology-json.h"

#include <string.h>
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

/* lack: what the node has less of than the others; NULL: they are not compared. */
static json_object *seen_value(const struct nt_topology_seen *seen, const char *lack, int *rc)
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
	nt_json_text(object, "lack", lack, rc);
	nt_json_text(object, "trouble", seen->trouble, rc);
	return object;
}

/* Of other communicators. */
static json_object *others_value(const struct nt_summary *summary, size_t step,
				 const struct nt_node_table *nodes, int *rc)
{
	json_object *list = nt_json_array(rc);

	for (size_t i = 0; i < summary->topology_count; i++) {
		const struct nt_topology_seen *seen = &summary->topologies[i];

		if (seen->step == step && strcmp(seen->id, nodes->item[0]->id) != 0)
			nt_json_add(list, NULL, seen_value(seen, NULL, rc), rc);
	}
	return nt_json_filled(list);
}

void nt_topology_json(json_object *object, const struct nt_summary *summary, size_t step, int *rc)
{
	struct nt_node_table nodes;
	char words[160], lack[NT_LACK_TEXT];

	if (nt_nodes_find(&nodes, summary, step, NULL) < 0) {
		*rc = -1;
	} else if (nodes.count > 0) {
		json_object *topology = nt_json_object(rc);
		json_object *list = nt_json_array(rc);

		nt_json_text(topology, "of", nt_nodes_words(&nodes, summary, words, sizeof(words)),
			     rc);
		for (size_t i = 0; i < nodes.count; i++)
			nt_json_add(list, NULL,
				    seen_value(nodes.item[i], nt_nodes_lack(&nodes, i, lack), rc),
				    rc);
		nt_json_add(topology, "nodes", list, rc);
		nt_json_known(topology, "others", others_value(summary, step, &nodes, rc), rc);
		nt_json_add(object, "topology", topology, rc);
	}
	nt_nodes_fini(&nodes);
}
