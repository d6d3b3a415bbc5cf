/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/late-nodes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/compare.h"
#include "lib/json.h"
#include "lib/number.h"
#include "lib/table.h"
#include "report/model/longform-search.h"
#include "report/model/topology-compare.h"

#define NODES_MAX 65536
#define LINES_MAX 40

void nt_late_nodes_init(struct nt_late_nodes *nodes)
{
	memset(nodes, 0, sizeof(*nodes));
	nt_names_init(&nodes->names, NODES_MAX);
}

void nt_late_nodes_fini(struct nt_late_nodes *nodes)
{
	nt_names_fini(&nodes->names);
	free(nodes->node);
	nt_late_nodes_init(nodes);
}

/* NULL: no room. */
static struct nt_late_node *node_of(struct nt_late_nodes *nodes, const struct nt_streamed_job *job,
				    const char *name)
{
	struct nt_late_node *node;
	char key[NT_NAME_BYTES];
	int number;

	snprintf(key, sizeof(key), "%s/%s", job->cluster, name);
	number = nt_names_item(&nodes->names, key, &nodes->node, sizeof(*node));
	if (number < 0)
		return NULL;
	node = &nodes->node[number];
	if (node->seen != nodes->jobs) {
		snprintf(node->cluster, sizeof(node->cluster), "%s", job->cluster);
		snprintf(node->name, sizeof(node->name), "%s", name);
		node->seen = nodes->jobs;
		node->jobs++;
	}
	return node;
}

static void note_job(struct nt_late_node *node, const struct nt_streamed_job *job)
{
	if (node->late + node->slower == 0)
		snprintf(node->user, sizeof(node->user), "%s", job->user);
	else if (strcmp(node->user, job->user) != 0)
		node->user[0] = '\0';
	snprintf(node->newest, sizeof(node->newest), "%s", job->label);
}

/* A job counts once for a node, even if it has several steps. */
static void add_late(struct nt_late_nodes *nodes, const struct nt_streamed_job *job,
		     const struct nt_step *step)
{
	struct nt_late_node *node = node_of(nodes, job, step->late_node);

	if (!node || node->seen_late == nodes->jobs)
		return;
	note_job(node, job);
	node->seen_late = nodes->jobs;
	node->late++;
	node->late_us += nt_or_zero(step->late_us);
}

static int add_slower(struct nt_late_nodes *nodes, const struct nt_streamed_job *job,
		      const struct nt_summary *summary, size_t step, struct nt_error *err)
{
	struct nt_node_table table;
	char lack[NT_LACK_TEXT];
	int rc = nt_nodes_find(&table, summary, step, err);

	for (size_t i = 0; rc == 0 && i < table.count; i++) {
		struct nt_late_node *node = node_of(nodes, job, table.item[i]->node);

		if (!node || !nt_nodes_lack(&table, i, lack)[0] || node->seen_slower == nodes->jobs)
			continue;
		note_job(node, job);
		node->seen_slower = nodes->jobs;
		node->slower++;
	}
	nt_nodes_fini(&table);
	return rc;
}

static int add_step(struct nt_late_nodes *nodes, const struct nt_streamed_job *job,
		    const struct nt_summary *summary, size_t at, struct nt_error *err)
{
	const struct nt_step *step = &summary->steps[at];

	for (size_t i = 0; i < summary->node_count && nt_summary_latest(summary, at); i++) {
		if (summary->nodes[i].step == at && summary->nodes[i].records > 0)
			(void)node_of(nodes, job, summary->nodes[i].name);
	}
	if (step->late_node[0])
		add_late(nodes, job, step);
	return add_slower(nodes, job, summary, at, err);
}

/* Of a task of an array only the short record: its label is not its number. */
static int read_job(struct nt_summary *summary, const struct nt_streamed_job *job,
		    struct nt_error *err)
{
	const char *text = job->text[NT_STREAMED_ADMINCOMMENT];
	const size_t bytes = job->text_bytes[NT_STREAMED_ADMINCOMMENT];
	struct nt_long_job long_job = { .user = job->user };
	uint64_t number;

	if (nt_summary_holding(text, bytes) != NT_HOLDS_RECORD)
		return 0;
	if (nt_summary_parse(summary, text, bytes, NULL, err) < 0)
		return -1;
	if (nt_number_read(job->label, UINT32_MAX, &number) != job->label + strlen(job->label))
		return 0;
	long_job.job = (uint32_t)number;
	return nt_long_prefer(summary, &long_job, text, bytes, err) < 0 ? -1 : 0;
}

int nt_late_nodes_add(struct nt_late_nodes *nodes, const struct nt_streamed_job *job,
		      struct nt_error *err)
{
	struct nt_summary summary;
	size_t known = 0;
	int rc = 0;

	nodes->jobs++;
	nt_summary_init(&summary);
	if (job->end_s != 0)
		rc = read_job(&summary, job, err);
	for (size_t i = 0; i < summary.step_count && rc == 0; i++)
		rc = add_step(nodes, job, &summary, i, err);
	for (size_t i = 0; i < summary.step_count; i++)
		known += !isnan(summary.steps[i].waiting) || summary.steps[i].late[0];
	nodes->measured += known > 0 || summary.topology_count > 0;
	nt_summary_fini(&summary);
	return rc;
}

/* ---- out */

static int64_t worst(const struct nt_late_node *node)
{
	return node->late > node->slower ? node->late : node->slower;
}

static int by_frequency(const void *left, const void *right)
{
	const struct nt_late_node *a = left, *b = right;

	NT_COMPARE(worst(b), worst(a));
	NT_COMPARE_TEXT(a->cluster, b->cluster);
	return strcmp(a->name, b->name);
}

/* Returns how many to show. The numbers of the names are no longer valid. */
static size_t sort(struct nt_late_nodes *nodes)
{
	size_t told = 0;

	if (nodes->names.count > 0)
		qsort(nodes->node, nodes->names.count, sizeof(nodes->node[0]), by_frequency);
	while (told < nodes->names.count && worst(&nodes->node[told]) >= NT_LATE_NODES_JOBS)
		told++;
	return told;
}

static double mean_us(const struct nt_late_node *node)
{
	return node->late > 0 ? node->late_us / (double)node->late : NAN;
}

int nt_late_nodes_text(FILE *out, struct nt_late_nodes *nodes, struct nt_error *err)
{
	static const char *const columns[] = { "-NODE",	     "LATE\njobs",	    "SLOWER\njobs",
					       "OF\njobs",   "OTHERS WAIT\na call", "-USER",
					       "-NEWEST JOB" };
	struct nt_table table = NT_TABLE(columns, 0);
	const size_t told = sort(nodes);
	char us[32];

	if (told == 0) {
		fprintf(out,
			"No node was late or slower than its like in %d jobs or more, of "
			"%" PRId64 " with measurements.\n",
			NT_LATE_NODES_JOBS, nodes->measured);
		return 0;
	}
	fprintf(out,
		"Nodes whose ranks others waited for (late), or with fewer channels or slower links "
		"than\nmost others (slower), in %d jobs or more of %" PRId64
		" with measurements:\n",
		NT_LATE_NODES_JOBS, nodes->measured);
	for (size_t i = 0; i < told && i < LINES_MAX; i++) {
		const struct nt_late_node *node = &nodes->node[i];

		nt_cell(&table, "%s", node->name);
		nt_cell(&table, "%" PRId64, node->late);
		nt_cell(&table, "%" PRId64, node->slower);
		nt_cell(&table, "%" PRId64, node->jobs);
		nt_cell(&table, "%s",
			node->late ? nt_time_text(mean_us(node), us, sizeof(us)) : "-");
		nt_cell(&table, "%s", node->user[0] ? node->user : "several");
		nt_cell(&table, "%s", node->newest);
	}
	if (nt_table_print(out, &table, err) < 0)
		return -1;
	if (told > LINES_MAX)
		fprintf(out, "... and %zu more (--json has all)\n", told - LINES_MAX);
	return 0;
}

int nt_late_nodes_json(FILE *out, struct nt_late_nodes *nodes, json_object *compared,
		       struct nt_error *err)
{
	const size_t told = sort(nodes);
	int rc = 0;
	json_object *object = nt_json_object(&rc), *array = nt_json_array(&rc);

	nt_json_integer(object, "jobs", (int64_t)nodes->jobs, &rc);
	nt_json_integer(object, "measured", nodes->measured, &rc);
	for (size_t i = 0; i < told; i++) {
		const struct nt_late_node *node = &nodes->node[i];
		json_object *item = nt_json_object(&rc);

		nt_json_text(item, "cluster", node->cluster, &rc);
		nt_json_text(item, "node", node->name, &rc);
		nt_json_integer(item, "jobs", node->jobs, &rc);
		nt_json_integer(item, "late", node->late, &rc);
		nt_json_integer(item, "slower", node->slower, &rc);
		nt_json_number(item, "late_us", mean_us(node), &rc);
		nt_json_text(item, "user", node->user, &rc);
		nt_json_text(item, "newest", node->newest, &rc);
		nt_json_add(array, NULL, item, &rc);
	}
	nt_json_add(object, "nodes", array, &rc);
	nt_json_known(object, "compared", compared, &rc);
	if (rc == 0)
		rc = nt_json_print(out, object);
	json_object_put(object);
	return rc == 0 ? 0 : nt_error_set(err, "no memory for the summary");
}
