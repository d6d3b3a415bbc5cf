/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A job's summary as JSON. The members and their order are an interface: add at the end, never
 * change. */
#include "report/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "contract/coll.h"
#include "report/rowtext.h"
#include "report/rowtime.h"

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
};

static json_object *text_value(const char *text)
{
	return text && text[0] ? json_object_new_string(text) : NULL;
}

static json_object *count_value(int64_t count)
{
	return count >= 0 ? json_object_new_int64(count) : NULL;
}

/* The record's own decimals, not those of a double's 17 digits. */
static json_object *decimal_value(double value)
{
	char text[40];

	if (isnan(value))
		return NULL;
	snprintf(text, sizeof(text), "%.10g", value);
	return json_object_new_double_s(value, text);
}

static json_object *arm_value(int arm)
{
	return json_object_new_string(nt_arm_name(arm));
}

/* A NULL value is JSON's null; a value that could not be allocated reads the same, which is not
 * wrong. */
static int add(json_object *object, const char *name, json_object *value)
{
	int rc = json_object_object_add(object, name, value);

	if (rc < 0)
		json_object_put(value);
	return rc;
}

static int add_row(json_object *object, const struct nt_row *row)
{
	int rc = 0;

	rc |= add(object, "ranks", row ? count_value(row->ranks) : NULL);
	rc |= add(object, "nodes", row ? count_value(row->nodes) : NULL);
	rc |= add(object, "collective", row ? text_value(nt_coll_name(row->coll)) : NULL);
	rc |= add(object, "bytes", row ? count_value((int64_t)row->bytes) : NULL);
	rc |= add(object, "auto_arm", row ? arm_value(row->auto_arm) : NULL);
	rc |= add(object, "chosen_arm", row ? arm_value(row->arm) : NULL);
	rc |= add(object, "auto_us", row ? decimal_value(row->auto_us) : NULL);
	rc |= add(object, "arm_us", row ? decimal_value(row->arm_us) : NULL);
	rc |= add(object, "gain_percent", row ? decimal_value(row->gain_percent) : NULL);
	rc |= add(object, "p", row ? decimal_value(row->p) : NULL);
	rc |= add(object, "samples", row ? count_value(row->samples) : NULL);
	rc |= add(object, "calls", row ? count_value(row->calls) : NULL);
	rc |= add(object, "spent_calls", row ? count_value(row->spent_calls) : NULL);
	rc |= add(object, "spent_ms", row ? decimal_value(row->spent_ms) : NULL);
	rc |= add(object, "saved_ms", row ? decimal_value(row->saved_ms) : NULL);
	rc |= add(object, "rechecks", row ? count_value(row->rechecks) : NULL);
	rc |= add(object, "rollbacks", row ? count_value(row->rollbacks) : NULL);
	rc |= add(object, "auto_own_us", row ? decimal_value(row->auto_own_us) : NULL);
	rc |= add(object, "arm_own_us", row ? decimal_value(row->arm_own_us) : NULL);
	rc |= add(object, "auto_period_us", row ? decimal_value(row->auto_period_us) : NULL);
	rc |= add(object, "arm_period_us", row ? decimal_value(row->arm_period_us) : NULL);
	return rc;
}

/* What a step's NCCL was started with, an object of its own. */
static json_object *launch_value(const struct nt_step *step)
{
	json_object *object = step ? json_object_new_object() : NULL;
	int rc = 0;

	if (!object)
		return NULL;
	rc |= add(object, "profile", text_value(step->launch));
	rc |= add(object, "set", text_value(step->set));
	rc |= add(object, "left", text_value(step->left));
	rc |= add(object, "expected", decimal_value(step->expected));
	rc |= add(object, "measured", decimal_value(step->measured));
	rc |= add(object, "step_p25_us", decimal_value(step->step_us[0]));
	rc |= add(object, "step_us", decimal_value(step->step_us[1]));
	rc |= add(object, "step_p75_us", decimal_value(step->step_us[2]));
	rc |= add(object, "steps", count_value(step->steps));
	rc |= add(object, "remark", text_value(step->remark));
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
	rc |= add(object, "reason", text_value(nt_reason_code(said.reason)));
	rc |= add(object, "says", text_value(said.says));
	rc |= add(object, "advice", text_value(said.type));
	return rc;
}

/* What came to rows later. */
static int add_more_of_row(json_object *object, const struct item *item)
{
	const struct nt_row *row = item->row;
	const struct nt_family *family = item->family;
	int best = row && nt_arm_valid(row->best_arm) ? row->best_arm : -1;
	int rc = 0;

	rc |= add(object, "comm_name", family ? text_value(family->name) : NULL);
	rc |= add(object, "parallel",
		  family ? text_value(nt_parallel_name((int)family->parallel)) : NULL);
	rc |= add(object, "comms", row ? count_value(row->comms) : NULL);
	rc |= add(object, "best_other_arm", best >= 0 ? arm_value(best) : NULL);
	rc |= add(object, "share", row ? decimal_value(row->share) : NULL);
	rc |= add(object, "decided_calls", row ? count_value(row->decided) : NULL);
	rc |= add(object, "changes", row ? count_value(row->changes) : NULL);
	rc |= add(object, "from", row ? text_value(row->from) : NULL);
	rc |= add(object, "auto_predicted_us", row ? decimal_value(row->auto_predicted_us) : NULL);
	rc |= add(object, "arm_predicted_us", row ? decimal_value(row->arm_predicted_us) : NULL);
	rc |= add(object, "auto_own_p25_us", row ? decimal_value(row->auto_own_p25_us) : NULL);
	rc |= add(object, "auto_own_p75_us", row ? decimal_value(row->auto_own_p75_us) : NULL);
	rc |= add(object, "arm_own_p25_us", row ? decimal_value(row->arm_own_p25_us) : NULL);
	rc |= add(object, "arm_own_p75_us", row ? decimal_value(row->arm_own_p75_us) : NULL);
	rc |= add(object, "auto_busbw_gbps",
		  row ? decimal_value(nt_row_busbw(row, NT_OF_AUTO)) : NULL);
	rc |= add(object, "arm_busbw_gbps",
		  row ? decimal_value(nt_row_busbw(row, NT_OF_ARM)) : NULL);
	return rc;
}

static int add_item(json_object *array, const struct item *item)
{
	json_object *object = json_object_new_object();
	int rc = 0;

	if (!object)
		return -1;
	rc |= add(object, "job", text_value(item->job));
	rc |= add(object, "step", text_value(item->step));
	rc |= add_row(object, item->row);
	rc |= add(object, "state", text_value(item->state));
	rc |= add(object, "why", text_value(item->why));
	rc |= add(object, "more", count_value(item->more));
	rc |= add(object, "launch", launch_value(item->launch));
	rc |= add_reason(object, item);
	rc |= add_more_of_row(object, item);
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
	return rc == 0 ? 0 : nt_error_set(err, "no memory for the report");
}
