/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Hash what hwloc sees of the node's GPUs and NICs. */
#include "spank/step/node-fingerprint.h"

#include <hwloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/append.h"
#include "lib/hash.h"

#define KINDS_MAX 32 /* different models in one description */
#define INFO_VIRTUAL "nt-virtual-function"
#define VENDOR_NVIDIA 0x10de
#define VENDOR_ASPEED 0x1a03 /* consoles of servers, not for computing */
#define VENDOR_MATROX 0x102b

/* 'g' GPU or accelerator, 's' NVSwitch, 'n' NIC, 0 anything else. */
static char kind_of(hwloc_obj_t object)
{
	const struct hwloc_pcidev_attr_s *pci = &object->attr->pcidev;
	unsigned base = pci->class_id >> 8;

	if (hwloc_obj_get_info_by_name(object, INFO_VIRTUAL))
		return '\0';
	if (base == 0x03 && pci->vendor_id != VENDOR_ASPEED && pci->vendor_id != VENDOR_MATROX)
		return 'g';
	if (base == 0x12 || pci->class_id == 0x0b40)
		return 'g';
	if (pci->class_id == 0x0680 && pci->vendor_id == VENDOR_NVIDIA)
		return 's';
	return base == 0x02 || pci->class_id == 0x0c06 ? 'n' : '\0';
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static char *describe(hwloc_obj_t object);

/* The descriptions of all I/O children, sorted and joined. NULL: no memory. */
static char *describe_children(hwloc_obj_t object, size_t *count)
{
	char **texts = calloc(object->io_arity + 1, sizeof(*texts));
	char *joined = NULL;
	size_t joined_bytes = 0;
	FILE *stream = open_memstream(&joined, &joined_bytes);
	bool failed = !texts || !stream;

	*count = 0;
	for (hwloc_obj_t child = object->io_first_child; child && !failed;
	     child = child->next_sibling) {
		texts[*count] = describe(child);
		failed = !texts[*count];
		if (!failed && texts[*count][0])
			++*count;
		else
			free(texts[*count]);
	}
	if (!failed)
		qsort(texts, *count, sizeof(*texts), compare_texts);
	for (size_t i = 0; texts && i < *count; i++) {
		if (!failed)
			fprintf(stream, "%s%s", i > 0 ? "," : "", texts[i]);
		free(texts[i]);
	}
	free(texts);
	if (stream && fclose(stream) != 0)
		failed = true;
	if (!failed)
		return joined;
	free(joined);
	return NULL;
}

/* A device, or brackets around the devices that share a bridge; a chain of bridges to one device
 * is left out. "": nothing that counts; NULL: no memory. */
static char *describe(hwloc_obj_t object)
{
	const struct hwloc_pcidev_attr_s *pci = &object->attr->pcidev;
	char *below;
	char *text = NULL;
	size_t count;

	if (object->type == HWLOC_OBJ_PCI_DEVICE) {
		if (!kind_of(object))
			return strdup("");
		if (asprintf(&text, "%c%04x:%04x", kind_of(object), pci->vendor_id,
			     pci->device_id) < 0)
			return NULL;
		return text;
	}
	if (object->type != HWLOC_OBJ_BRIDGE)
		return strdup("");
	below = describe_children(object, &count);
	if (!below || count < 2)
		return below;
	if (asprintf(&text, "(%s)", below) < 0)
		text = NULL;
	free(below);
	return text;
}

/* "@0:(g10de:2335,n15b3:1021);" for each object with devices. */
static int write_objects(FILE *stream, hwloc_obj_t object)
{
	char *near = NULL;
	char *devices;
	size_t count;

	devices = describe_children(object, &count);
	if (!devices)
		return -1;
	if (count > 0) {
		if (hwloc_bitmap_list_asprintf(&near, object->nodeset) < 0) {
			free(devices);
			return -1;
		}
		fprintf(stream, "@%s:%s;", near, devices);
		free(near);
	}
	free(devices);
	for (hwloc_obj_t child = object->first_child; child; child = child->next_sibling) {
		if (write_objects(stream, child) < 0)
			return -1;
	}
	return 0;
}

struct model {
	char kind;
	unsigned vendor, device, count;
};

static size_t count_models(struct hwloc_topology *topology, struct model *models)
{
	hwloc_obj_t object = NULL;
	size_t count = 0;

	while ((object = hwloc_get_next_pcidev(topology, object)) != NULL) {
		const struct hwloc_pcidev_attr_s *pci = &object->attr->pcidev;
		size_t i = 0;

		if (!kind_of(object))
			continue;
		while (i < count &&
		       (models[i].vendor != pci->vendor_id || models[i].device != pci->device_id))
			i++;
		if (i == KINDS_MAX)
			continue;
		if (i == count)
			models[count++] = (struct model){ kind_of(object), pci->vendor_id,
							  pci->device_id, 0 };
		models[i].count++;
	}
	return count;
}

/* GPUs first, then switches, then NICs. */
static void write_text(struct hwloc_topology *topology, char *text, size_t text_bytes)
{
	static const char order[] = "gsn";
	struct model models[KINDS_MAX];
	size_t count = count_models(topology, models);

	text[0] = '\0';
	for (const char *kind = order; *kind; kind++)
		for (size_t i = 0; i < count; i++)
			if (models[i].kind == *kind)
				nt_append(text, text_bytes, "%ux%04x:%04x ", models[i].count,
					  models[i].vendor, models[i].device);
	nt_append(text, text_bytes, "%d packages %d NUMA nodes",
		  hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE),
		  hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE));
}

uint64_t nt_fingerprint_hash(const char *material)
{
	uint64_t value = nt_hash64_text(material);

	return value ? value : 1;
}

static int make_material(struct hwloc_topology *topology, char **material, struct nt_error *err)
{
	size_t bytes = 0;
	FILE *stream;
	int rc;

	*material = NULL;
	stream = open_memstream(material, &bytes);
	if (!stream)
		return nt_error_set(err, "no memory for the fingerprint");
	fprintf(stream, "packages=%d;numa=%d;",
		hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE),
		hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE));
	rc = write_objects(stream, hwloc_get_root_obj(topology));
	if (fclose(stream) != 0)
		rc = -1;
	if (rc == 0)
		return 0;
	free(*material);
	*material = NULL;
	return nt_error_set(err, "no memory for the fingerprint");
}

int nt_fingerprint_of(struct hwloc_topology *topology, uint64_t *out, char *text, size_t text_bytes,
		      struct nt_error *err)
{
	char *material;

	if (make_material(topology, &material, err) < 0)
		return -1;
	*out = nt_fingerprint_hash(material);
	free(material);
	write_text(topology, text, text_bytes);
	return 0;
}

/* Virtual functions do not count, as administrators change their number; their card does. In a
 * virtual machine they have no physical function, and count as cards. */
static void mark_virtual(struct hwloc_topology *topology)
{
	hwloc_obj_t object = NULL;
	char path[80];

	while ((object = hwloc_get_next_pcidev(topology, object)) != NULL) {
		const struct hwloc_pcidev_attr_s *pci = &object->attr->pcidev;

		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%04x:%02x:%02x.%x/physfn",
			 (unsigned)pci->domain, pci->bus, pci->dev, pci->func);
		if (access(path, F_OK) == 0)
			(void)hwloc_obj_add_info(object, INFO_VIRTUAL, "1");
	}
}

/* sysfs is enough: other sources cost time (binding to each CPU, GPU libraries) and depend on the
 * packages installed. A container's or a job's limits must not hide a part of the node. Which
 * devices hwloc finds important depends on its version, so keep all; kind_of() decides. */
static int load(struct hwloc_topology *topology)
{
	static const char *const sources[] = { "x86",  "pci",  "opencl",    "cuda",
					       "nvml", "rsmi", "levelzero", "gl" };

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		(void)hwloc_topology_set_components(
			topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, sources[i]);
	if (hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) < 0 ||
	    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) < 0 ||
	    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PACKAGE,
					   HWLOC_TYPE_FILTER_KEEP_ALL) < 0 ||
	    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PCI_DEVICE,
					   HWLOC_TYPE_FILTER_KEEP_ALL) < 0 ||
	    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_BRIDGE, HWLOC_TYPE_FILTER_KEEP_ALL) <
		    0)
		return -1;
	return hwloc_topology_load(topology);
}

static hwloc_topology_t open_machine(struct nt_error *err)
{
	hwloc_topology_t topology;

	if (hwloc_topology_init(&topology) < 0) {
		nt_error_set(err, "hwloc: %m");
		return NULL;
	}
	if (load(topology) < 0) {
		nt_error_set(err, "hwloc: %m");
		hwloc_topology_destroy(topology);
		return NULL;
	}
	mark_virtual(topology);
	return topology;
}

int nt_fingerprint_compute(uint64_t *out, char *text, size_t text_bytes, struct nt_error *err)
{
	hwloc_topology_t topology = open_machine(err);
	int rc;

	if (!topology)
		return -1;
	rc = nt_fingerprint_of(topology, out, text, text_bytes, err);
	hwloc_topology_destroy(topology);
	return rc;
}

int nt_fingerprint_explain(char **material, struct nt_error *err)
{
	hwloc_topology_t topology = open_machine(err);
	int rc;

	if (!topology)
		return -1;
	rc = make_material(topology, material, err);
	hwloc_topology_destroy(topology);
	return rc;
}
