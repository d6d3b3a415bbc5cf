/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The reading half. */
#include "record/topology.h"

#include "record/read.h"

/* A list of at most max objects. */
struct list {
	const char *name;
	const struct nt_fields *fields;
	char *items;
	size_t item_bytes, max;
	size_t *count;
};

static int read_item(const struct list *list, json_object *value, struct nt_error *err)
{
	void *item = list->items + *list->count * list->item_bytes;

	if (!json_object_is_type(value, json_type_object))
		return nt_error_set(err, "%s: not a list of objects", list->name);
	nt_fields_clear(list->fields, item);
	if (nt_fields_read(list->fields, value, item, NT_READ_TO_SHOW, err) < 0)
		return -1;
	(*list->count)++;
	return 0;
}

static int read_list(const struct list *list, json_object *object, struct nt_error *err)
{
	json_object *array;

	if (!json_object_object_get_ex(object, list->name, &array))
		return 0;
	if (!json_object_is_type(array, json_type_array))
		return nt_error_set(err, "%s: not a list", list->name);
	if (json_object_array_length(array) > list->max)
		return nt_error_set(err, "%s: more than %zu", list->name, list->max);
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		if (read_item(list, json_object_array_get_idx(array, i), err) < 0)
			return -1;
	}
	return 0;
}

int nt_topology_read(struct nt_topology *topology, json_object *value, struct nt_error *err)
{
	const struct list lists[] = {
		{ NT_TOPOLOGY_GRAPHS, &nt_graph_fields, (char *)topology->graph,
		  sizeof(topology->graph[0]), NT_GRAPHS_MAX, &topology->graph_count },
		{ NT_TOPOLOGY_GPU_LIST, &nt_gpu_fields, (char *)topology->gpu,
		  sizeof(topology->gpu[0]), NT_TOPOLOGY_GPUS, &topology->gpu_count },
		{ NT_TOPOLOGY_NIC_LIST, &nt_nic_fields, (char *)topology->nic,
		  sizeof(topology->nic[0]), NT_TOPOLOGY_NICS, &topology->nic_count },
	};

	nt_topology_clear(topology);
	if (!json_object_is_type(value, json_type_object))
		return nt_error_set(err, "topology: not an object");
	if (nt_fields_read(&nt_topology_fields, value, topology, NT_READ_TO_SHOW, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (read_list(&lists[i], value, err) < 0)
			return -1;
	}
	return 0;
}
