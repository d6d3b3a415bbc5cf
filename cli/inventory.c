/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/inventory.h"

#include <stdbool.h>
#include <string.h>
#include "lib/json.h"

#define MODELS_MAX 32 /* different ones in a node; more appear only at their places */
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

static void add_model(json_object *array, const struct model *model, int *rc)
{
	json_object *object = nt_json_object(rc);
	char id[ITEM_MAX];

	snprintf(id, sizeof(id), "%04x:%04x", model->vendor, model->device);
	nt_json_string(object, "kind", kind_name(model->kind), rc);
	nt_json_string(object, "id", id, rc);
	nt_json_integer(object, "count", model->count, rc);
	nt_json_add(array, NULL, object, rc);
}

/* What follows the place. */
static const char *add_place(json_object *places, const char *at, int *rc)
{
	json_object *place = nt_json_object(rc), *numa;
	json_object *open[DEPTH_MAX + 1] = { nt_json_array(rc) };
	struct model model;
	char text[ITEM_MAX];
	int depth = 0;
	int bytes = 0;

	numa = json_object_new_string_len(at + 1, (int)strcspn(at + 1, ":"));
	*rc |= numa ? 0 : -1;
	nt_json_add(place, "numa", numa, rc);
	for (at = read_place(at, &bytes); *at != ';'; at += *at == ',') {
		for (; *at == '('; at++)
			open[++depth] = nt_json_array(rc);
		at = read_device(at, &model);
		snprintf(text, sizeof(text), "%s %04x:%04x", kind_name(model.kind), model.vendor,
			 model.device);
		nt_json_string(open[depth], NULL, text, rc);
		for (; *at == ')'; at++, depth--)
			nt_json_add(open[depth - 1], NULL, open[depth], rc);
	}
	nt_json_add(place, "devices", open[0], rc);
	nt_json_add(places, NULL, place, rc);
	return at + 1;
}

int nt_inventory_json(json_object *object, const char *material)
{
	struct inventory inventory;
	json_object *devices, *places;
	int rc = 0;

	if (read_inventory(&inventory, material) < 0)
		return -1;
	devices = nt_json_array(&rc);
	places = nt_json_array(&rc);
	for (size_t i = 0; i < inventory.model_count; i++)
		add_model(devices, &inventory.models[i], &rc);
	for (const char *at = inventory.places; *at;)
		at = add_place(places, at, &rc);
	nt_json_integer(object, "packages", inventory.packages, &rc);
	nt_json_integer(object, "numa_nodes", inventory.numa_nodes, &rc);
	nt_json_add(object, "devices", devices, &rc);
	nt_json_add(object, "places", places, &rc);
	return rc;
}
