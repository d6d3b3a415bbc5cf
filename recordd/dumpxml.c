/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recordd/dumpxml.h"

#include <errno.h>
#include <expat.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/number.h"
#include "lib/printable.h"

/* 2.9 deprecates the one of 32 bits. */
#if XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION < 9
#define XML_GetCurrentLineNumber64 XML_GetCurrentLineNumber
#endif

#define NUMBER_MAX 1e9
#define LOCAL_ID UINT64_C(0x00ffffffffffffff) /* the rest is the system's (topo.h:122) */
#define WHOLE_MAX 999999999999
#define DEVICES_MAX 1000000

/* The properties that an element has from those around it. */
struct scope {
	char pci[24];
	double gts;
	int64_t lanes, numa;
};

struct xml_reader {
	XML_Parser parser;
	struct nt_topology *topology;
	const char *root;
	void (*begin)(struct xml_reader *reader, const char *name, const char **attributes);
	size_t elements;
	unsigned depth;
	struct scope scope[NT_DUMP_DEPTH + 1]; /* by depth */
	struct nt_graph *graph; /* the newest; NULL: none, or it had no room */
	struct nt_graph_path *path;
	struct nt_gpu *gpu;
	struct nt_error error; /* "": none */
};

/* ---- attributes */

static const char *find(const char **attributes, const char *name)
{
	for (; attributes[0]; attributes += 2) {
		if (strcmp(attributes[0], name) == 0)
			return attributes[1];
	}
	return NULL;
}

/* A decimal number from 0; -1: missing or invalid. */
static int64_t whole(const char **attributes, const char *name)
{
	const char *text = find(attributes, name);
	uint64_t value;

	return text && nt_number_parse(text, 0, WHOLE_MAX, &value) == 0 ? (int64_t)value : -1;
}

static int64_t tally(const char **attributes, const char *name)
{
	int64_t value = whole(attributes, name);

	return value > 0 ? value : 0;
}

/* NAN: missing or invalid. A blank and a unit may follow. */
static double number(const char **attributes, const char *name)
{
	const char *text = find(attributes, name);
	char *end = NULL;
	double value = NAN;

	if (text && strchr("0123456789.", *text))
		value = strtod(text, &end);
	if (!text || end == text || (*text && end && *end && *end != ' ') || !(value >= 0) ||
	    value > NUMBER_MAX)
		return NAN;
	return value;
}

/* A device of a graph, 0x1a; -1: missing or invalid. */
static int64_t device(const char **attributes)
{
	const char *text = find(attributes, "dev");
	uint64_t value;
	char *end;

	if (!text || !strchr("0123456789", *text) || !*text)
		return -1;
	errno = 0;
	value = strtoull(text, &end, 16) & LOCAL_ID;
	return errno || *end || value > DEVICES_MAX ? -1 : (int64_t)value;
}

static void text_of(char *out, size_t out_bytes, const char **attributes, const char *name)
{
	const char *text = find(attributes, name);

	out[0] = '\0';
	if (text)
		nt_printable_copy(out, out_bytes, text, strnlen(text, out_bytes - 1));
}

/* ---- graphs */

static const char *const graph_names[] = { NT_GRAPH_RING, NT_GRAPH_TREE, "collnet_chain", "nvls",
					   "collnet_direct" };

static void begin_graph(struct xml_reader *reader, const char **attributes)
{
	struct nt_topology *topology = reader->topology;
	int64_t id = whole(attributes, "id"), channels = whole(attributes, "nchannels");
	struct nt_graph *graph;

	reader->graph = NULL;
	reader->path = NULL;
	if (id < 0 || id >= NT_GRAPHS_MAX || channels <= 0)
		return; /* NCCL did not search for it */
	if (topology->graph_count == NT_GRAPHS_MAX) {
		topology->left_out++;
		return;
	}
	graph = &topology->graph[topology->graph_count++];
	nt_fields_clear(&nt_graph_fields, graph);
	graph->path_count = 0;
	snprintf(graph->name, sizeof(graph->name), "%s", graph_names[id]);
	graph->channels = channels;
	graph->pattern = whole(attributes, "pattern");
	graph->intra_gbs = number(attributes, "speedintra");
	graph->inter_gbs = number(attributes, "speedinter");
	graph->inter_us = number(attributes, "latencyinter");
	text_of(graph->intra, sizeof(graph->intra), attributes, "typeintra");
	text_of(graph->inter, sizeof(graph->inter), attributes, "typeinter");
	graph->cross_nic = tally(attributes, "crossnic");
	graph->same_channels = tally(attributes, "samechannels");
	reader->graph = graph;
}

static void begin_path(struct xml_reader *reader)
{
	struct nt_graph *graph = reader->graph;

	reader->path = NULL;
	if (!graph)
		return;
	if (graph->path_count == NT_PATHS_MAX) {
		reader->topology->left_out++;
		return;
	}
	reader->path = &graph->path[graph->path_count++];
	memset(reader->path, 0, sizeof(*reader->path));
	reader->path->in = reader->path->out = -1;
}

/* A NIC before the GPUs is the way in, one after them the way out. */
static void add_to_path(struct xml_reader *reader, bool is_net, int64_t dev)
{
	struct nt_graph_path *path = reader->path;

	if (!path || dev < 0)
		return;
	if (is_net && path->count == 0 && path->in < 0)
		path->in = dev;
	else if (is_net)
		path->out = dev;
	else if (path->count < NT_PATH_GPUS)
		path->gpu[path->count++] = (int32_t)dev;
	else
		reader->topology->left_out++;
}

static void begin_in_graphs(struct xml_reader *reader, const char *name, const char **attributes)
{
	if (reader->depth == 2 && strcmp(name, "graph") == 0)
		begin_graph(reader, attributes);
	else if (reader->depth == 3 && strcmp(name, "channel") == 0)
		begin_path(reader);
	else if (reader->depth == 4 && (strcmp(name, "net") == 0 || strcmp(name, "gpu") == 0))
		add_to_path(reader, name[0] == 'n', device(attributes));
}

/* ---- devices */

static void begin_pci(struct scope *scope, const char **attributes)
{
	text_of(scope->pci, sizeof(scope->pci), attributes, "busid");
	scope->gts = number(attributes, "link_speed");
	scope->lanes = whole(attributes, "link_width");
	/* In a virtual machine, which hides the link. */
	if (scope->lanes == 0)
		scope->lanes = -1;
}

static void begin_gpu(struct xml_reader *reader, const struct scope *scope, const char **attributes)
{
	struct nt_topology *topology = reader->topology;
	int64_t dev = whole(attributes, "dev");
	struct nt_gpu *gpu;

	reader->gpu = NULL;
	if (dev < 0 || topology->gpu_count == NT_TOPOLOGY_GPUS) {
		topology->left_out += dev >= 0;
		return;
	}
	gpu = &topology->gpu[topology->gpu_count++];
	nt_fields_clear(&nt_gpu_fields, gpu);
	gpu->dev = dev;
	gpu->rank = whole(attributes, "rank");
	gpu->sm = whole(attributes, "sm");
	gpu->gdr = whole(attributes, "gdr");
	gpu->nvlinks = 0;
	gpu->pcie_gts = scope->gts;
	gpu->pcie_lanes = scope->lanes;
	gpu->numa = scope->numa;
	memcpy(gpu->pci, scope->pci, sizeof(gpu->pci));
	reader->gpu = gpu;
}

static void begin_net(struct xml_reader *reader, const struct scope *scope, const char **attributes)
{
	struct nt_topology *topology = reader->topology;
	int64_t dev = whole(attributes, "dev");
	struct nt_nic *nic;

	if (dev < 0 || topology->nic_count == NT_TOPOLOGY_NICS) {
		topology->left_out += dev >= 0;
		return;
	}
	nic = &topology->nic[topology->nic_count++];
	nt_fields_clear(&nt_nic_fields, nic);
	nic->dev = dev;
	text_of(nic->name, sizeof(nic->name), attributes, "name");
	nic->port = whole(attributes, "port");
	nic->mbps = whole(attributes, "speed");
	nic->gdr = whole(attributes, "gdr");
	nic->coll = tally(attributes, "coll");
	nic->pcie_gts = scope->gts;
	nic->pcie_lanes = scope->lanes;
	nic->numa = scope->numa;
	memcpy(nic->pci, scope->pci, sizeof(nic->pci));
}

static void begin_in_system(struct xml_reader *reader, const char *name, const char **attributes)
{
	struct scope *scope = &reader->scope[reader->depth];
	int64_t count = tally(attributes, "count");

	*scope = scope[-1];
	if (strcmp(name, "cpu") == 0)
		scope->numa = whole(attributes, "numaid");
	else if (strcmp(name, "pci") == 0)
		begin_pci(scope, attributes);
	else if (strcmp(name, "gpu") == 0)
		begin_gpu(reader, scope, attributes);
	else if (strcmp(name, "net") == 0)
		begin_net(reader, scope, attributes);
	else if (strcmp(name, "nvlink") == 0 && reader->gpu && count < NUMBER_MAX)
		reader->gpu->nvlinks += count;
	else if (strcmp(name, "c2c") == 0 && reader->gpu && count < NUMBER_MAX)
		reader->gpu->c2c += count;
}

/* ---- expat */

static void stop(struct xml_reader *reader, const char *why)
{
	if (!reader->error.text[0])
		nt_error_set(&reader->error, "%s", why);
	XML_StopParser(reader->parser, XML_FALSE);
}

static void XMLCALL on_start(void *data, const XML_Char *name, const XML_Char **attributes)
{
	struct xml_reader *reader = data;

	/* Expat may call this a few times more after XML_StopParser(). */
	if (reader->error.text[0])
		return;
	if (++reader->elements > NT_DUMP_ELEMENTS) {
		stop(reader, "it has too many elements");
	} else if (++reader->depth > NT_DUMP_DEPTH) {
		stop(reader, "its elements are nested too deep");
	} else if (reader->depth > 1) {
		reader->begin(reader, name, (const char **)(uintptr_t)attributes);
	} else if (strcmp(name, reader->root) != 0 ||
		   whole((const char **)(uintptr_t)attributes, "version") != 1) {
		stop(reader, "it is not what NCCL writes");
	} else {
		reader->scope[1] = (struct scope){ .gts = NAN, .lanes = -1, .numa = -1 };
	}
}

static void XMLCALL on_end(void *data, const XML_Char *name)
{
	struct xml_reader *reader = data;

	if (strcmp(name, "gpu") == 0)
		reader->gpu = NULL;
	if (reader->depth > 0)
		reader->depth--;
}

/* Without a document type no entity can be declared. */
static void XMLCALL on_doctype(void *data, const XML_Char *name, const XML_Char *system_id,
			       const XML_Char *public_id, int has_internal_subset)
{
	(void)name;
	(void)system_id;
	(void)public_id;
	(void)has_internal_subset;
	stop(data, "it has a document type, which NCCL does not write");
}

static int parse(struct xml_reader *reader, const char *text, size_t bytes, struct nt_error *err)
{
	if (bytes > NT_DUMP_BYTES)
		return nt_error_set(err, "it is longer than %zu bytes", NT_DUMP_BYTES);
	reader->parser = XML_ParserCreate(NULL);
	if (!reader->parser)
		return nt_error_set(err, "no memory to read it");
	XML_SetUserData(reader->parser, reader);
	XML_SetElementHandler(reader->parser, on_start, on_end);
	XML_SetStartDoctypeDeclHandler(reader->parser, on_doctype);
	if (XML_Parse(reader->parser, text, (int)bytes, XML_TRUE) != XML_STATUS_OK &&
	    !reader->error.text[0])
		nt_error_set(&reader->error, "line %lu: %s",
			     (unsigned long)XML_GetCurrentLineNumber64(reader->parser),
			     XML_ErrorString(XML_GetErrorCode(reader->parser)));
	XML_ParserFree(reader->parser);
	return reader->error.text[0] ? nt_error_set(err, "%s", reader->error.text) : 0;
}

int nt_dump_read_graphs(struct nt_topology *topology, const char *text, size_t bytes,
			struct nt_error *err)
{
	struct xml_reader reader = { .topology = topology,
				     .root = "graphs",
				     .begin = begin_in_graphs };

	return parse(&reader, text, bytes, err);
}

int nt_dump_read_system(struct nt_topology *topology, const char *text, size_t bytes,
			struct nt_error *err)
{
	struct xml_reader reader = { .topology = topology,
				     .root = "system",
				     .begin = begin_in_system };

	return parse(&reader, text, bytes, err);
}
