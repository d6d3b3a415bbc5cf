/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* topology.h's figures as JSON. */
#include "report/topology.h"

#include "report/jsonvalue.h"

static json_object *links_value(const struct nt_links *links)
{
	json_object *object = links->channels > 0 ? json_object_new_object() : NULL;
	int rc = 0;

	if (!object)
		return NULL;
	rc |= nt_value_add(object, "channels", nt_value_count(links->channels));
	rc |= nt_value_add(object, "intra_gbps", nt_value_decimal(links->intra_gbps));
	rc |= nt_value_add(object, "inter_gbps", nt_value_decimal(links->inter_gbps));
	rc |= nt_value_add(object, "intra", nt_value_text(links->intra));
	rc |= nt_value_add(object, "inter", nt_value_text(links->inter));
	if (rc == 0)
		return object;
	json_object_put(object);
	return NULL;
}

json_object *nt_topology_value(const struct nt_topology_seen *seen)
{
	json_object *object = json_object_new_object();
	int rc = 0;

	if (!object)
		return NULL;
	rc |= nt_value_add(object, "node", nt_value_text(seen->node));
	rc |= nt_value_add(object, "id", nt_value_text(seen->id));
	rc |= nt_value_add(object, "ranks", nt_value_count(seen->ranks));
	rc |= nt_value_add(object, "nodes", nt_value_count(seen->nodes));
	rc |= nt_value_add(object, "gpus", nt_value_count(seen->gpus));
	rc |= nt_value_add(object, "nvlinks", nt_value_count(seen->nvlinks));
	rc |= nt_value_add(object, "pcie_lanes", nt_value_count(seen->gpu_lanes));
	rc |= nt_value_add(object, "pcie_gts", nt_value_decimal(seen->gpu_gts));
	rc |= nt_value_add(object, "nics", nt_value_count(seen->nics));
	rc |= nt_value_add(object, "nics_mbps", nt_value_count(seen->nics_mbps));
	rc |= nt_value_add(object, "ring", links_value(&seen->ring));
	rc |= nt_value_add(object, "tree", links_value(&seen->tree));
	if (rc == 0)
		return object;
	json_object_put(object);
	return NULL;
}
