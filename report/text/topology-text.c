/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a step's nodes. Equal nodes share a line. */
#include "report/model/topology-compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/plural.h"
#include "lib/table.h"
#include "lib/wrap.h"

#define LINES_MAX 16 /* of one step */

struct node_line {
	const struct nt_topology_seen *seen;
	const struct nt_topology_seen *second; /* an equal node; NULL: none */
	size_t like; /* number of equal nodes */
};

static const char *const columns[] = { "-NODE",		"GPUS",		 "NVLINKS\nPER GPU",
				       "NICS",		"Gbit/s\nTOTAL", "-RINGS\nx GB/s",
				       "-TREES\nx GB/s" };

/* "16 x 24 NVL/PIX": channels, GB/s of one, paths inside the node and to others. */
static void add_links(struct nt_table *table, const struct nt_links *links, bool several)
{
	double gbs = several ? links->inter_gbs : links->intra_gbs;

	if (links->channels <= 0 || isnan(gbs))
		nt_cell(table, "-");
	else
		nt_cell(table, "%" PRId64 " x %.4g %.6s%s%.6s", links->channels, gbs, links->intra,
			several ? "/" : "", several ? links->inter : "");
}

static void add_row(struct nt_table *table, const struct node_line *line)
{
	const struct nt_topology_seen *seen = line->seen;

	if (line->like == 1)
		nt_cell(table, "%.16s, %.16s", seen->node, line->second->node);
	else if (line->like > 0)
		nt_cell(table, "%.16s and %zu more", seen->node, line->like);
	else
		nt_cell(table, "%.40s", seen->node);
	nt_cell_count(table, seen->gpus);
	nt_cell_count(table, seen->nvlinks);
	nt_cell_count(table, seen->nics);
	if (seen->nics_mbps < 0)
		nt_cell(table, "-");
	else
		nt_cell(table, "%g", (double)seen->nics_mbps / 1e3);
	add_links(table, &seen->ring, seen->nodes > 1);
	add_links(table, &seen->tree, seen->nodes > 1);
	if (seen->trouble[0])
		nt_table_note(table, "    read in part: ", 4, seen->trouble);
}

static bool same_links(const struct nt_links *a, const struct nt_links *b)
{
	return a->channels == b->channels &&
	       (a->channels <= 0 ||
		(a->intra_gbs == b->intra_gbs && a->inter_gbs == b->inter_gbs &&
		 strcmp(a->intra, b->intra) == 0 && strcmp(a->inter, b->inter) == 0));
}

static bool is_alike(const struct nt_topology_seen *a, const struct nt_topology_seen *b)
{
	return a->gpus == b->gpus && a->nics == b->nics && a->nvlinks == b->nvlinks &&
	       a->nics_mbps == b->nics_mbps && same_links(&a->ring, &b->ring) &&
	       same_links(&a->tree, &b->tree) && strcmp(a->trouble, b->trouble) == 0;
}

/* Returns the number of lines; *left: nodes without one. */
static size_t gather(struct node_line line[LINES_MAX], const struct nt_node_table *nodes,
		     size_t *left)
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
			line[count++] = (struct node_line){ .seen = nodes->item[i] };
		} else {
			(*left)++;
		}
	}
	return count;
}

static int print_step(FILE *out, const struct nt_summary *summary, size_t step,
		      const struct nt_node_table *nodes, struct nt_error *err)
{
	struct nt_table table = NT_TABLE(columns, 0);
	struct node_line line[LINES_MAX];
	char text[320], words[160];
	size_t left, count = gather(line, nodes, &left);

	snprintf(text, sizeof(text),
		 "Step %s, what NCCL found on each node for %s:", summary->steps[step].name,
		 nt_nodes_words(nodes, summary, words, sizeof(words)));
	fputc('\n', out);
	nt_wrap(out, "", 2, text);
	table.max_columns = NT_WRAP_COLUMNS;
	for (size_t i = 0; i < count; i++)
		add_row(&table, &line[i]);
	if (nt_table_print(out, &table, err) < 0)
		return -1;
	if (left > 0)
		fprintf(out, "and %zu more node%s\n", left, nt_plural(left));
	nt_wrap(out, "", 0,
		"RINGS, TREES: channels, GB/s of each, longest path inside the node/to others.");
	return 0;
}

int nt_topology_print(FILE *out, const struct nt_summary *summary, struct nt_error *err)
{
	struct nt_node_table nodes;
	int rc = 0;

	for (size_t i = 0; i < summary->step_count && rc == 0; i++) {
		rc = nt_nodes_find(&nodes, summary, i, err);
		if (rc == 0 && nodes.count > 0)
			rc = print_step(out, summary, i, &nodes, err);
		nt_nodes_fini(&nodes);
	}
	return rc;
}
