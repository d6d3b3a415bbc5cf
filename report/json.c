/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A job's summary as JSON. The members and their order are an interface: add at the end, never
 * change. */
#include "report/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "contract/coll.h"
#include "report/jsonvalue.h"
#include "report/rowtext.h"
#include "report/rowtime.h"
#include "report/topology.h"

/* One object of the array, seen as a row, a remark or a count of what was left out. */
struct item {
	const char *job;
	const char *step;
	const struct nt_row *row; /* NULL but for a row */
	const char *state;
	const char *why;
	int64_t more; /* -1 but for a count */
	const struct nt_step *launch; /* NULL but for a step's launch profile */
	const struct nt_family *family; /* NULL but for a row */
	const struct nt_remark *remark; /* NULL but for a remark */
	const struct nt_topology_seen *topology; /* NULL but for a node's */
};

static int add_row(json_object *object, const struct nt_row *row)
{
	int rc = 0;

	rc |= nt_value_add(object, "ranks", row ? nt_value_count(row->ranks) : NULL);
	rc |= nt_value_add(object, "nodes", row ? nt_value_count(row->nodes) : NULL);
	rc |= nt_value_add(object, "collective",
			   row ? nt_value_text(nt_coll_name(row->coll)) : NULL);
	rc |= nt_value_add(object, "bytes", row ? nt_value_count((int64_t)row->bytes) : NULL);
	rc |= nt_value_add(object, "auto_arm", row ? nt_value_arm(row->auto_arm) : NULL);
	rc |= nt_value_add(object, "chosen_arm", row ? nt_value_arm(row->arm) : NULL);
	rc |= nt_value_add(object, "auto_us", row ? nt_value_decimal(row->auto_us) : NULL);
	rc |= nt_value_add(object, "arm_us", row ? nt_value_decimal(row->arm_us) : NULL);
	rc |= nt_value_add(object, "gain_percent",
			   row ? nt_value_decimal(row->gain_percent) : NULL);
	rc |= nt_value_add(object, "p", row ? nt_value_decimal(row->p) : NULL);
	rc |= nt_value_add(object, "samples", row ? nt_value_count(row->samples) : NULL);
	rc |= nt_value_add(object, "calls", row ? nt_value_count(row->calls) : NULL);
	rc |= nt_value_add(object, "spent_calls", row ? nt_value_count(row->spent_calls) : NULL);
	rc |= nt_value_add(object, "spent_ms", row ? nt_value_decimal(row->spent_ms) : NULL);
	rc |= nt_value_add(object, "saved_ms", row ? nt_value_decimal(row->saved_ms) : NULL);
	rc |= nt_value_add(object, "rechecks", row ? nt_value_count(row->rechecks) : NULL);
	rc |= nt_value_add(object, "rollbacks", row ? nt_value_count(row->rollbacks) : NULL);
	rc |= nt_value_add(object, "auto_own_us", row ? nt_value_decimal(row->auto_own_us) : NULL);
	rc |= nt_value_add(object, "arm_own_us", row ? nt_value_decimal(row->arm_own_us) : NULL);
	rc |= nt_value_add(object, "auto_period_us",
			   row ? nt_value_decimal(row->auto_period_us) : NULL);
	rc |= nt_value_add(object, "arm_period_us",
			   row ? nt_value_decimal(row->arm_period_us) : NULL);
	return rc;
}

/* What a step's NCCL was started with, an object of its own. */
static json_object *launch_value(const struct nt_step *step)
{
	json_object *object = step ? json_object_new_object() : NULL;
	int rc = 0;

	if (!object)
		return NULL;
	rc |= nt_value_add(object, "profile", nt_value_text(step->launch));
	rc |= nt_value_add(object, "set", nt_value_text(step->set));
	rc |= nt_value_add(object, "left", nt_value_text(step->left));
	rc |= nt_value_add(object, "expected", nt_value_decimal(step->expected));
	rc |= nt_value_add(object, "measured", nt_value_decimal(step->measured));
	rc |= nt_value_add(object, "step_p25_us", nt_value_decimal(step->step_us[0]));
	rc |= nt_value_add(object, "step_us", nt_value_decimal(step->step_us[1]));
	rc |= nt_value_add(object, "step_p75_us", nt_value_decimal(step->step_us[2]));
	rc |= nt_value_add(object, "steps", nt_value_count(step->steps));
	rc |= nt_value_add(object, "remark", nt_value_text(step->remark));
	if (rc == 0)
		return object;
	json_object_put(object);
	return NULL;
}

/* Why, by its code and in words, and what to do. */
static int add_reason(json_object *object, const struct item *item)
{
	struct nt_said said = { .reason = NT_REASON_NONE };
	int rc = 0;

	if (item->row)
		nt_row_say(&said, item->row);
	else if (item->remark && item->remark->kind == NT_REMARK_WHY)
		nt_remark_say(&said, item->remark);
	rc |= nt_value_add(object, "reason", nt_value_text(nt_reason_code(said.reason)));
	rc |= nt_value_add(object, "says", nt_value_text(said.says));
	rc |= nt_value_add(object, "advice", nt_value_text(said.type));
	return rc;
}

/* What came to rows later. */
static int add_more_of_row(json_object *object, const struct item *item)
{
	const struct nt_row *row = item->row;
	const struct nt_family *family = item->family;
	int best = row && nt_arm_valid(row->best_arm) ? row->best_arm : -1;
	int rc = 0;

	rc |= nt_value_add(object, "comm_name", family ? nt_value_text(family->name) : NULL);
	rc |= nt_value_add(object, "parallel",
			   family ? nt_value_text(nt_parallel_name((int)family->parallel)) : NULL);
	rc |= nt_value_add(object, "comms", row ? nt_value_count(row->comms) : NULL);
	rc |= nt_value_add(object, "best_other_arm", best >= 0 ? nt_value_arm(best) : NULL);
	rc |= nt_value_add(object, "share", row ? nt_value_decimal(row->share) : NULL);
	rc |= nt_value_add(object, "decided_calls", row ? nt_value_count(row->decided) : NULL);
	rc |= nt_value_add(object, "changes", row ? nt_value_count(row->changes) : NULL);
	rc |= nt_value_add(object, "from", row ? nt_value_text(row->from) : NULL);
	rc |= nt_value_add(object, "auto_predicted_us",
			   row ? nt_value_decimal(row->auto_predicted_us) : NULL);
	rc |= nt_value_add(object, "arm_predicted_us",
			   row ? nt_value_decimal(row->arm_predicted_us) : NULL);
	rc |= nt_value_add(object, "auto_own_p25_us",
			   row ? nt_value_decimal(row->auto_own_p25_us) : NULL);
	rc |= nt_value_add(object, "auto_own_p75_us",
			   row ? nt_value_decimal(row->auto_own_p75_us) : NULL);
	rc |= nt_value_add(object, "arm_own_p25_us",
			   row ? nt_value_decimal(row->arm_own_p25_us) : NULL);
	rc |= nt_value_add(object, "arm_own_p75_us",
			   row ? nt_value_decimal(row->arm_own_p75_us) : NULL);
	rc |= nt_value_add(object, "auto_busbw_gbps",
			   row ? nt_value_decimal(nt_row_busbw(row, NT_OF_AUTO)) : NULL);
	rc |= nt_value_add(object, "arm_busbw_gbps",
			   row ? nt_value_decimal(nt_row_busbw(row, NT_OF_ARM)) : NULL);
	return rc;
}

static int add_item(json_object *array, const struct item *item)
{
	json_object *object = json_object_new_object();
	int rc = 0;

	if (!object)
		return -1;
	rc |= nt_value_add(object, "job", nt_value_text(item->job));
	rc |= nt_value_add(object, "step", nt_value_text(item->step));
	rc |= add_row(object, item->row);
	rc |= nt_value_add(object, "state", nt_value_text(item->state));
	rc |= nt_value_add(object, "why", nt_value_text(item->why));
	rc |= nt_value_add(object, "more", nt_value_count(item->more));
	rc |= nt_value_add(object, "launch", launch_value(item->launch));
	rc |= add_reason(object, item);
	rc |= add_more_of_row(object, item);
	rc |= nt_value_add(object, "topology",
			   item->topology ? nt_topology_value(item->topology) : NULL);
	if (rc == 0)
		rc = json_object_array_add(array, object);
	if (rc != 0)
		json_object_put(object);
	return rc;
}

static int add_rows(json_object *array, const char *job, const struct nt_summary *summary)
{
	int rc = 0;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_row *row = &summary->rows[i];

		rc |= add_item(array, &(struct item){ .job = job,
						      .step = summary->steps[row->step].name,
						      .row = row,
						      .state = row->state,
						      .more = -1,
						      .family = &summary->families[row->family] });
	}
	return rc;
}

/* What NCCL found of each node. */
static int add_topologies(json_object *array, const char *job, const struct nt_summary *summary)
{
	int rc = 0;

	for (size_t i = 0; i < summary->topology_count; i++) {
		const struct nt_topology_seen *seen = &summary->topologies[i];

		rc |= add_item(array, &(struct item){ .job = job,
						      .step = summary->steps[seen->step].name,
						      .state = "topology",
						      .why = seen->trouble,
						      .more = -1,
						      .topology = seen });
	}
	return rc;
}

int nt_summary_json(json_object *array, const char *job, const struct nt_summary *summary,
		    struct nt_error *err)
{
	int rc = add_rows(array, job, summary);

	for (size_t i = 0; i < summary->remark_count; i++) {
		const struct nt_remark *remark = &summary->remarks[i];

		rc |= add_item(array,
			       &(struct item){ .job = job,
					       .step = remark->step,
					       .state = remark->kind == NT_REMARK_WHY ? "untuned"
										      : "damaged",
					       .why = remark->text,
					       .more = -1,
					       .remark = remark });
	}
	for (size_t i = 0; i < summary->step_count; i++) {
		const struct nt_step *step = &summary->steps[i];

		if (step->more > 0)
			rc |= add_item(array, &(struct item){ .job = job,
							      .step = step->name,
							      .state = "left_out",
							      .more = step->more });
	}
	if (summary->more_steps > 0)
		rc |= add_item(array, &(struct item){ .job = job,
						      .state = "left_out",
						      .more = summary->more_steps });
	for (size_t i = 0; i < summary->step_count; i++) {
		const struct nt_step *step = &summary->steps[i];

		if (step->launch[0])
			rc |= add_item(array, &(struct item){ .job = job,
							      .step = step->name,
							      .state = "launched",
							      .why = step->from,
							      .more = -1,
							      .launch = step });
	}
	rc |= add_topologies(array, job, summary);
	return rc == 0 ? 0 : nt_error_set(err, "no memory for the report");
}
