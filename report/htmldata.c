/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* htmldata.c - what the page shows of a job: see report/html.h; report/html/data.js reads it */
#include "report/html.h"

#include <math.h>
#include "contract/coll.h"
#include "record/bandwidth.h"
#include "report/jsonvalue.h"
#include "report/print.h"
#include "report/topology.h"
#include "report/verdict.h"

static json_object *pair_value(double of_auto, double of_arm)
{
	json_object *pair = json_object_new_array();

	(void)nt_value_append(pair, nt_value_decimal(of_auto));
	(void)nt_value_append(pair, nt_value_decimal(of_arm));
	return pair;
}

static json_object *arms_value(const struct nt_summary *summary, const struct nt_row *row)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; i < row->arm_count; i++) {
		const struct nt_arm_tried *arm = &summary->arms[row->first_arm + i];
		json_object *object = json_object_new_object();

		(void)nt_value_add(object, "arm", nt_value_arm(arm->arm));
		(void)nt_value_add(object, "us", nt_value_decimal(arm->us));
		(void)nt_value_add(object, "p25_us", nt_value_decimal(arm->p25_us));
		(void)nt_value_add(object, "p75_us", nt_value_decimal(arm->p75_us));
		(void)nt_value_add(object, "min_us", nt_value_decimal(arm->min_us));
		(void)nt_value_add(object, "max_us", nt_value_decimal(arm->max_us));
		(void)nt_value_add(object, "samples", nt_value_count(arm->samples));
		(void)nt_value_add(object, "predicted_us", nt_value_decimal(arm->predicted_us));
		(void)nt_value_append(array, object);
	}
	return array;
}

static int complete_row(json_object *object, const struct nt_summary *summary,
			const struct nt_row *row)
{
	double us[] = { nt_row_call_us(row, NT_OF_AUTO), nt_row_call_us(row, NT_OF_ARM) };
	json_object *record = json_object_new_object();
	/* As bandwidths are in the rest of the report: not of a time to the next call. */
	double bytes = nt_row_own_known(row) ? (double)row->bytes : NAN;
	int rc = 0;

	rc |= nt_value_add_fields(record, &nt_row_fields, row);
	rc |= nt_value_add(object, "record", record);
	rc |= nt_value_add(object, "call_us", pair_value(us[0], us[1]));
	rc |= nt_value_add(object, "call_own", json_object_new_boolean(nt_row_own_known(row)));
	rc |= nt_value_add(object, "algbw_gbps",
			   pair_value(nt_algbw_gbps(bytes, us[0]), nt_algbw_gbps(bytes, us[1])));
	rc |= nt_value_add(object, "arms", arms_value(summary, row));
	return rc;
}

/* Rows, then remarks and what was left out: an object each, as `report --json` has them. */
static json_object *items_value(const struct nt_summary *summary, const char *job,
				struct nt_error *err)
{
	json_object *items = json_object_new_array();
	int rc = items ? nt_summary_json(items, job, summary, err) : -1;

	for (size_t i = 0; rc == 0 && i < summary->row_count; i++)
		rc = complete_row(json_object_array_get_idx(items, i), summary, &summary->rows[i]);
	if (rc == 0)
		return items;
	json_object_put(items);
	return NULL;
}

static json_object *steps_value(const struct nt_summary *summary)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; i < summary->step_count; i++) {
		json_object *object = json_object_new_object();

		(void)nt_value_add(object, "step", nt_value_text(summary->steps[i].name));
		(void)nt_value_add_fields(object, &nt_step_fields, &summary->steps[i]);
		(void)nt_value_add(object, "whole",
				   json_object_new_boolean(summary->steps[i].whole));
		(void)nt_value_append(array, object);
	}
	return array;
}

/* Nodes in the order of their first rank, each with the ranks on it. */
static json_object *places_value(const struct nt_summary *summary, const struct nt_comm_seen *comm)
{
	json_object *array = json_object_new_array();
	json_object *by_node = json_object_new_object();

	for (size_t i = 0; i < comm->place_count; i++) {
		const struct nt_place_seen *place = &summary->places[comm->first_place + i];
		const char *node = summary->nodes[place->node].name;
		json_object *ranks, *object;

		if (!json_object_object_get_ex(by_node, node, &ranks)) {
			object = json_object_new_object();
			ranks = json_object_new_array();
			(void)nt_value_add(by_node, node, json_object_get(ranks));
			(void)nt_value_add(object, "node", nt_value_text(node));
			(void)nt_value_add(object, "ranks", ranks);
			(void)nt_value_append(array, object);
		}
		(void)nt_value_append(ranks, nt_value_count(place->rank));
	}
	json_object_put(by_node);
	return array;
}

static json_object *volumes_value(const struct nt_summary *summary, const struct nt_comm_seen *comm)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; i < comm->volume_count; i++) {
		const struct nt_volume *volume = &summary->volumes[comm->first_volume + i];
		json_object *object = json_object_new_object();

		(void)nt_value_add(object, "collective", nt_value_text(nt_coll_name(volume->coll)));
		(void)nt_value_add(object, "calls", nt_value_count(volume->calls));
		(void)nt_value_add(object, "bytes", nt_value_decimal(volume->bytes));
		(void)nt_value_add(object, "inside_bytes", nt_value_decimal(volume->inside_bytes));
		(void)nt_value_add(object, "between_bytes",
				   nt_value_decimal(volume->between_bytes));
		(void)nt_value_append(array, object);
	}
	return array;
}

static json_object *comms_value(const struct nt_summary *summary)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; i < summary->comm_count; i++) {
		const struct nt_comm_seen *comm = &summary->comms[i];
		const struct nt_family *family = comm->family < summary->family_count
							 ? &summary->families[comm->family]
							 : NULL;
		json_object *object = json_object_new_object();

		(void)nt_value_add(object, "step", nt_value_text(summary->steps[comm->step].name));
		(void)nt_value_add(object, "id", nt_value_text(comm->id));
		(void)nt_value_add(object, "name", nt_value_text(comm->name));
		(void)nt_value_add(object, "ranks", nt_value_count(comm->ranks));
		(void)nt_value_add(object, "nodes", nt_value_count(comm->nodes));
		(void)nt_value_add(
			object, "parallel",
			nt_value_text(family ? nt_parallel_name((int)family->parallel) : NULL));
		(void)nt_value_add(object, "state", nt_value_text(comm->state));
		(void)nt_value_add(object, "why", nt_value_text(comm->why));
		(void)nt_value_add(object, "places", places_value(summary, comm));
		(void)nt_value_add(object, "volumes", volumes_value(summary, comm));
		(void)nt_value_append(array, object);
	}
	return array;
}

/* A node's figures, as `report --json` has them, and what it has less than the others. */
static json_object *node_value(const struct nt_nodes *nodes, size_t which)
{
	json_object *object = nt_topology_value(nodes->item[which]);
	char lack[NT_LACK_TEXT];

	if (!object)
		return NULL;
	(void)nt_value_add(object, "lack", nt_value_text(nt_nodes_lack(nodes, which, lack)));
	(void)nt_value_add(object, "trouble", nt_value_text(nodes->item[which]->trouble));
	return object;
}

static int add_topology(json_object *array, const struct nt_summary *summary, size_t step,
			struct nt_error *err)
{
	json_object *object, *list;
	struct nt_nodes nodes;
	char words[160];
	int rc = nt_nodes_find(&nodes, summary, step, err);

	if (rc == 0 && nodes.count > 0) {
		object = json_object_new_object();
		list = json_object_new_array();
		(void)nt_value_add(object, "step", nt_value_text(summary->steps[step].name));
		(void)nt_value_add(
			object, "of",
			nt_value_text(nt_nodes_words(&nodes, summary, words, sizeof(words))));
		for (size_t i = 0; i < nodes.count; i++)
			rc |= nt_value_append(list, node_value(&nodes, i));
		(void)nt_value_add(object, "list", list);
		(void)nt_value_append(array, object);
	}
	nt_nodes_fini(&nodes);
	return rc;
}

/* Of each step the largest communicator's nodes. NULL: no memory. */
static json_object *topology_value(const struct nt_summary *summary, struct nt_error *err)
{
	json_object *array = json_object_new_array();
	int rc = 0;

	for (size_t i = 0; i < summary->step_count && rc == 0; i++)
		rc = add_topology(array, summary, i, err);
	if (rc == 0)
		return array;
	json_object_put(array);
	return NULL;
}

/* NULL: no memory. */
static json_object *verdict_value(const struct nt_summary *summary, struct nt_error *err)
{
	struct nt_verdict_text verdict = { NULL, 0 };
	json_object *array;

	if (nt_verdict_make(&verdict, summary, err) < 0)
		return NULL;
	array = json_object_new_array();
	for (size_t i = 0; i < verdict.count; i++) {
		json_object *object = json_object_new_object();

		(void)nt_value_add(object, "text", nt_value_text(verdict.items[i].text));
		(void)nt_value_add(object, "type", nt_value_text(verdict.items[i].type));
		(void)nt_value_append(array, object);
	}
	nt_verdict_fini(&verdict);
	return array;
}

int nt_html_add(json_object *jobs, const char *job, const struct nt_summary *summary,
		struct nt_error *err)
{
	json_object *items = items_value(summary, job, err);
	json_object *object = items ? json_object_new_object() : NULL;
	int rc = 0;

	if (!object) {
		json_object_put(items);
		return nt_error_set(err, "no memory for the report");
	}
	rc |= nt_value_add(object, "job", nt_value_text(job));
	rc |= nt_value_add(object, "verdict", verdict_value(summary, err));
	rc |= nt_value_add(object, "steps", steps_value(summary));
	rc |= nt_value_add(object, "report", items);
	rc |= nt_value_add(object, "communicators", comms_value(summary));
	rc |= nt_value_add(object, "topology", topology_value(summary, err));
	rc |= nt_value_append(jobs, object);
	return rc == 0 ? 0 : nt_error_set(err, "no memory for the report");
}
