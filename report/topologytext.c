/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* topology.h's table. Nodes that are alike share a line. */
#include "report/topology.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report/table.h"
#include "report/wrap.h"

#define LINES_MAX 16 /* of one step */

struct line {
	const struct nt_topology_seen *seen;
	const struct nt_topology_seen *second; /* another one that is as it; NULL: there is none */
	size_t like; /* others that are */
};

#define SEEN(line) (((const struct line *)(line))->seen)

static void print_node(char *cell, const void *line)
{
	const struct nt_topology_seen *second = ((const struct line *)line)->second;
	size_t like = ((const struct line *)line)->like;

	if (like == 1)
		snprintf(cell, NT_CELL_MAX, "%.16s, %.16s", SEEN(line)->node, second->node);
	else if (like > 0)
		snprintf(cell, NT_CELL_MAX, "%.16s and %zu more", SEEN(line)->node, like);
	else
		snprintf(cell, NT_CELL_MAX, "%.40s", SEEN(line)->node);
}

static void print_gpus(char *cell, const void *line)
{
	nt_cell_count(cell, SEEN(line)->gpus);
}

static void print_nvlinks(char *cell, const void *line)
{
	nt_cell_count(cell, SEEN(line)->nvlinks);
}

static void print_nics(char *cell, const void *line)
{
	nt_cell_count(cell, SEEN(line)->nics);
}

static void print_network(char *cell, const void *line)
{
	int64_t mbps = SEEN(line)->nics_mbps;

	if (mbps < 0)
		snprintf(cell, NT_CELL_MAX, "-");
	else
		snprintf(cell, NT_CELL_MAX, "%g", (double)mbps / 1e3);
}

/* "16 x 24, NVL/PIX": channels, GB/s of one, paths inside the node and to others. */
static void print_links(char *cell, const struct nt_links *links, bool several)
{
	double gbps = several ? links->inter_gbps : links->intra_gbps;

	if (links->channels <= 0 || isnan(gbps))
		snprintf(cell, NT_CELL_MAX, "-");
	else
		snprintf(cell, NT_CELL_MAX, "%" PRId64 " x %.4g %.6s%s%.6s", links->channels, gbps,
			 links->intra, several ? "/" : "", several ? links->inter : "");
}

static void print_rings(char *cell, const void *line)
{
	print_links(cell, &SEEN(line)->ring, SEEN(line)->nodes > 1);
}

static void print_trees(char *cell, const void *line)
{
	print_links(cell, &SEEN(line)->tree, SEEN(line)->nodes > 1);
}

static const struct nt_column columns[] = {
	{ { "", "NODE" }, true, print_node },
	{ { "", "GPUS" }, false, print_gpus },
	{ { "NVLINKS", "OF ONE" }, false, print_nvlinks },
	{ { "", "NICS" }, false, print_nics },
	{ { "Gbit/s", "IN ALL" }, false, print_network },
	{ { "RINGS", "x GB/s" }, true, print_rings },
	{ { "TREES", "x GB/s" }, true, print_trees },
};

static const struct nt_table table = {
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(columns[0]),
	.row_bytes = sizeof(struct line),
};

static void print_trouble(FILE *out, const void *line)
{
	if (SEEN(line)->trouble[0])
		nt_wrap(out, "    not all could be read: ", 4, SEEN(line)->trouble);
}

static const struct nt_table_notes notes = { .max_columns = NT_WRAP_COLUMNS,
					     .below = print_trouble };

static bool same_links(const struct nt_links *a, const struct nt_links *b)
{
	return a->channels == b->channels &&
	       (a->channels <= 0 ||
		(a->intra_gbps == b->intra_gbps && a->inter_gbps == b->inter_gbps &&
		 strcmp(a->intra, b->intra) == 0 && strcmp(a->inter, b->inter) == 0));
}

static bool is_alike(const struct nt_topology_seen *a, const struct nt_topology_seen *b)
{
	return a->gpus == b->gpus && a->nics == b->nics && a->nvlinks == b->nvlinks &&
	       a->nics_mbps == b->nics_mbps && same_links(&a->ring, &b->ring) &&
	       same_links(&a->tree, &b->tree) && strcmp(a->trouble, b->trouble) == 0;
}

/* The number of lines; *left: nodes that have none. */
static size_t gather(struct line line[LINES_MAX], const struct nt_nodes *nodes, size_t *left)
{
	size_t count = 0;

	*left = 0;
	for (size_t i = 0; i < nodes->count; i++) {
		size_t k = 0;

		while (k < count && !is_alike(line[k].seen, nodes->item[i]))
			k++;
		if (k < count) {
			line[k].second = nodes->item[i];
			line[k].like++;
		} else if (count < LINES_MAX) {
			line[count++] = (struct line){ .seen = nodes->item[i] };
		} else {
			(*left)++;
		}
	}
	return count;
}

static int print_step(FILE *out, const struct nt_summary *summary, size_t step,
		      const struct nt_nodes *nodes, struct nt_error *err)
{
	struct line line[LINES_MAX];
	char text[320], words[160];
	size_t left, count = gather(line, nodes, &left);

	snprintf(text, sizeof(text),
		 "Step %s, what NCCL found on each node for %s:", summary->steps[step].name,
		 nt_nodes_words(nodes, summary, words, sizeof(words)));
	fputc('\n', out);
	nt_wrap(out, "", 2, text);
	if (nt_table_print_noted(out, &table, &notes, line, count, err) < 0)
		return -1;
	if (left > 0)
		fprintf(out, "and %zu more nodes\n", left);
	nt_wrap(out, "", 0,
		"RINGS, TREES: channels, GB/s of one, the farthest paths inside a node/to others.");
	return 0;
}

int nt_topology_print(FILE *out, const struct nt_summary *summary, struct nt_error *err)
{
	struct nt_nodes nodes;
	int rc = 0;

	for (size_t i = 0; i < summary->step_count && rc == 0; i++) {
		rc = nt_nodes_find(&nodes, summary, i, err);
		if (rc == 0 && nodes.count > 0)
			rc = print_step(out, summary, i, &nodes, err);
		nt_nodes_fini(&nodes);
	}
	return rc;
}
