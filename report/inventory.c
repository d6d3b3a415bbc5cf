/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Read what a fingerprint is made of, and write it again. */
#include "report/inventory.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MODELS_MAX 32 /* different ones in a node; more are printed at their places only */
#define DEPTH_MAX 16 /* of bridges in bridges */
#define ITEM_MAX 24
#define ORDER "gsn"

struct model {
	char kind;
	unsigned vendor, device, count;
};

struct inventory {
	unsigned packages, numa_nodes;
	const char *places; /* the rest of the text */
	struct model models[MODELS_MAX];
	size_t model_count;
};

static const char *kind_name(char kind)
{
	return kind == 'g' ? "GPU" : (kind == 's' ? "NVSwitch" : "NIC");
}

/* "g10de:2335"; what follows it, or NULL. */
static const char *read_device(const char *at, struct model *model)
{
	int used = 0;

	if (!*at || !strchr(ORDER, *at) ||
	    sscanf(at + 1, "%4x:%4x%n", &model->vendor, &model->device, &used) != 2 || used != 9)
		return NULL;
	model->kind = *at;
	model->count = 1;
	return at + 1 + used;
}

/* "@0-1:"; what follows it, or NULL. */
static const char *read_place(const char *at, int *list_bytes)
{
	size_t bytes = *at == '@' ? strspn(at + 1, "0123456789,-") : 0;

	if (*at != '@' || at[1 + bytes] != ':')
		return NULL;
	*list_bytes = (int)bytes;
	return at + bytes + 2;
}

static void count_model(struct inventory *inventory, const struct model *model)
{
	size_t i = 0;

	while (i < inventory->model_count && (inventory->models[i].vendor != model->vendor ||
					      inventory->models[i].device != model->device ||
					      inventory->models[i].kind != model->kind))
		i++;
	if (i == MODELS_MAX)
		return;
	if (i < inventory->model_count)
		inventory->models[i].count++;
	else
		inventory->models[inventory->model_count++] = *model;
}

/* Devices and brackets up to the ';' that ends a place; what follows it, or NULL. */
static const char *count_place(struct inventory *inventory, const char *at)
{
	struct model model;
	int depth = 0;

	for (;;) {
		while (*at == '(') {
			at++;
			depth++;
		}
		at = depth <= DEPTH_MAX ? read_device(at, &model) : NULL;
		if (!at)
			return NULL;
		count_model(inventory, &model);
		while (*at == ')' && depth > 0) {
			at++;
			depth--;
		}
		if (*at == ';' && depth == 0)
			return at + 1;
		if (*at++ != ',')
			return NULL;
	}
}

static int read_inventory(struct inventory *inventory, const char *material)
{
	const char *at;
	int used = 0;
	int bytes;

	memset(inventory, 0, sizeof(*inventory));
	if (sscanf(material, "packages=%u;numa=%u;%n", &inventory->packages, &inventory->numa_nodes,
		   &used) != 2 ||
	    used == 0)
		return -1;
	inventory->places = at = material + used;
	while (*at) {
		at = read_place(at, &bytes);
		if (at)
			at = count_place(inventory, at);
		if (!at)
			return -1;
	}
	return 0;
}

/* ---- for people */

static void print_model(FILE *out, const struct model *model)
{
	fprintf(out, NT_INVENTORY_LABEL "%u x %04x:%04x\n", kind_name(model->kind), model->count,
		model->vendor, model->device);
}

static void print_models(FILE *out, const struct inventory *inventory)
{
	for (const char *kind = ORDER; *kind; kind++) {
		bool found = false;

		for (size_t i = 0; i < inventory->model_count; i++) {
			if (inventory->models[i].kind != *kind)
				continue;
			print_model(out, &inventory->models[i]);
			found = true;
		}
		if (!found)
			fprintf(out, NT_INVENTORY_LABEL "none\n", kind_name(*kind));
	}
}

/* One line for each device or bracket; the text is known to be right. */
static const char *print_place(FILE *out, const char *at)
{
	struct model model;
	char label[40];
	int bytes = 0;
	int depth = 0;

	snprintf(label, sizeof(label), "NUMA %.*s", (int)strcspn(at + 1, ":"), at + 1);
	at = read_place(at, &bytes);
	while (*at != ';') {
		if (depth == 0)
			fprintf(out, NT_INVENTORY_LABEL, label);
		for (; *at == '('; at++, depth++)
			fputc('(', out);
		at = read_device(at, &model);
		fprintf(out, "%s %04x:%04x", kind_name(model.kind), model.vendor, model.device);
		for (; *at == ')'; at++, depth--)
			fputc(')', out);
		fputs(depth == 0 ? "\n" : ", ", out);
		at += *at == ',';
	}
	return at + 1;
}

int nt_inventory_print(FILE *out, const char *material)
{
	struct inventory inventory;

	if (read_inventory(&inventory, material) < 0)
		return -1;
	fprintf(out, NT_INVENTORY_LABEL "%u\n", "packages", inventory.packages);
	fprintf(out, NT_INVENTORY_LABEL "%u\n", "NUMA nodes", inventory.numa_nodes);
	print_models(out, &inventory);
	for (const char *at = inventory.places; *at;)
		at = print_place(out, at);
	return 0;
}

/* ---- for programs */

static int add(json_object *object, const char *key, json_object *value)
{
	if (value && json_object_object_add(object, key, value) == 0)
		return 0;
	json_object_put(value);
	return -1;
}

static int append(json_object *array, json_object *value)
{
	if (value && json_object_array_add(array, value) == 0)
		return 0;
	json_object_put(value);
	return -1;
}

static int append_model(json_object *array, const struct model *model)
{
	json_object *object = json_object_new_object();
	char id[ITEM_MAX];
	int rc;

	if (!object)
		return -1;
	snprintf(id, sizeof(id), "%04x:%04x", model->vendor, model->device);
	rc = add(object, "kind", json_object_new_string(kind_name(model->kind)));
	rc |= add(object, "id", json_object_new_string(id));
	rc |= add(object, "count", json_object_new_int64(model->count));
	rc |= append(array, object);
	return rc ? -1 : 0;
}

/* Into place, which is in the array already. */
static const char *fill_place(json_object *place, const char *at)
{
	json_object *open[DEPTH_MAX + 1] = { json_object_new_array() };
	struct model model;
	char item[ITEM_MAX];
	int depth = 0;
	int bytes = 0;
	int rc;

	rc = add(place, "numa", json_object_new_string_len(at + 1, (int)strcspn(at + 1, ":")));
	rc |= add(place, "devices", open[0]);
	for (at = read_place(at, &bytes); rc == 0 && *at != ';'; at += *at == ',') {
		for (; rc == 0 && *at == '('; at++, depth++) {
			open[depth + 1] = json_object_new_array();
			rc = append(open[depth], open[depth + 1]);
		}
		if (rc < 0)
			break;
		at = read_device(at, &model);
		snprintf(item, sizeof(item), "%s %04x:%04x", kind_name(model.kind), model.vendor,
			 model.device);
		rc = append(open[depth], json_object_new_string(item));
		for (; *at == ')'; at++)
			depth--;
	}
	return rc == 0 ? at + 1 : NULL;
}

static int add_lists(json_object *object, const struct inventory *inventory)
{
	json_object *devices = json_object_new_array();
	json_object *places = json_object_new_array();
	int rc = add(object, "devices", devices) | add(object, "places", places);

	for (size_t i = 0; rc == 0 && i < inventory->model_count; i++)
		rc = append_model(devices, &inventory->models[i]);
	for (const char *at = inventory->places; rc == 0 && *at;) {
		json_object *place = json_object_new_object();

		rc = append(places, place);
		at = rc == 0 ? fill_place(place, at) : at;
		if (!at)
			return -1;
	}
	return rc;
}

json_object *nt_inventory_json(const char *material)
{
	struct inventory inventory;
	json_object *object;

	if (read_inventory(&inventory, material) < 0)
		return NULL;
	object = json_object_new_object();
	if (object && add(object, "packages", json_object_new_int64(inventory.packages)) == 0 &&
	    add(object, "numa_nodes", json_object_new_int64(inventory.numa_nodes)) == 0 &&
	    add_lists(object, &inventory) == 0)
		return object;
	json_object_put(object);
	return NULL;
}
