/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Many jobs' records as one JSON object. */
#include "report/tally-print.h"

#include <inttypes.h>
#include <json.h>
#include <math.h>
#include <stdlib.h>

const char *nt_tally_by_name(enum nt_tally_by by)
{
	static const char *const names[] = {
		[NT_BY_CLUSTER] = "cluster",	   [NT_BY_PARTITION] = "partition",
		[NT_BY_ACCOUNT] = "account",	   [NT_BY_FINGERPRINT] = "fingerprint",
		[NT_BY_COLLECTIVE] = "collective", [NT_BY_SIZE] = "message_size",
		[NT_BY_REASON] = "reason",
	};

	return names[by];
}

/* Values that cannot be had for want of memory are null in the end; *rc says so. */
static void add(json_object *object, const char *name, json_object *value, int *rc)
{
	if (!value || json_object_object_add(object, name, value) < 0) {
		json_object_put(value);
		*rc = -1;
	}
}

static void add_to(json_object *array, json_object *value, int *rc)
{
	if (!value || json_object_array_add(array, value) < 0) {
		json_object_put(value);
		*rc = -1;
	}
}

/* NULL is JSON's null, and no failure. */
static void add_number(json_object *object, const char *name, double value, int decimals, int *rc)
{
	char text[40];

	if (isnan(value)) {
		*rc |= json_object_object_add(object, name, NULL);
		return;
	}
	snprintf(text, sizeof(text), "%.*f", decimals, value);
	add(object, name, json_object_new_double_s(value, text), rc);
}

static void add_count(json_object *object, const char *name, int64_t value, int *rc)
{
	add(object, name, json_object_new_int64(value), rc);
}

static void add_text(json_object *object, const char *name, const char *value, int *rc)
{
	add(object, name, json_object_new_string(value), rc);
}

/* Times are seconds of rank time. */
static void add_times(json_object *object, int64_t saved_us, int64_t spent_us, int *rc)
{
	add_number(object, "saved_rank_s", (double)saved_us / 1e6, 6, rc);
	add_number(object, "spent_rank_s", (double)spent_us / 1e6, 6, rc);
	add_number(object, "net_rank_s", (double)(saved_us - spent_us) / 1e6, 6, rc);
}

static void add_sum(json_object *object, const struct nt_tally_sum *sum, int *rc)
{
	json_object *jobs = json_object_new_object();

	for (int i = 0; jobs && i < NT_JOB_OUTCOMES; i++)
		add_count(jobs, nt_job_outcome_name((enum nt_job_outcome)i), sum->jobs[i], rc);
	add(object, "jobs", jobs, rc);
	add_count(object, "keys", sum->keys, rc);
	add_count(object, "decided", sum->decided, rc);
	add_count(object, "chosen", sum->chosen, rc);
	add_count(object, "calls", sum->calls, rc);
	add_times(object, sum->saved_us, sum->spent_us, rc);
	add_number(object, "comm_rank_s", (double)sum->comm_us / 1e6, 6, rc);
}

static json_object *groups_value(const struct nt_tally_groups *groups, int *rc)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; array && i < groups->names.count; i++) {
		json_object *object = json_object_new_object();

		if (object) {
			add_text(object, "cluster", groups->group[i].cluster, rc);
			add_text(object, "name", groups->group[i].name, rc);
			add_sum(object, &groups->group[i].sum, rc);
		}
		add_to(array, object, rc);
	}
	return array;
}

static json_object *top_value(const struct nt_tally_top *top, int *rc)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; array && i < top->count; i++) {
		const struct nt_tally_job *job = &top->job[i];
		json_object *object = json_object_new_object();

		if (object) {
			add_text(object, "job", job->label, rc);
			add_text(object, "cluster", job->cluster, rc);
			add_text(object, "partition", job->partition, rc);
			add_text(object, "user", job->user, rc);
			add_times(object, job->saved_us, job->spent_us, rc);
		}
		add_to(array, object, rc);
	}
	return array;
}

static json_object *profile_value(const struct nt_speedups *speedups,
				  const struct nt_speedup_item *item, int *rc)
{
	const struct nt_speedup_place *place = &speedups->place[item->place];
	json_object *object = json_object_new_object();

	if (!object)
		return NULL;
	add_text(object, "launch_profile", item->profile, rc);
	add_text(object, "cluster", place->cluster, rc);
	add_text(object, "fingerprint", place->fingerprint, rc);
	add_text(object, "fabric", place->fabric, rc);
	add_count(object, "nodes", place->nodes, rc);
	add_count(object, "ranks_per_node", place->per_node, rc);
	add_count(object, "measured_jobs", item->jobs, rc);
	add_count(object, "measured_users", (int64_t)item->voices, rc);
	add_number(object, "times_as_fast", nt_speedup_of(item), 3, rc);
	add_number(object, "least", item->least, 3, rc);
	add_number(object, "most", item->most, 3, rc);
	add_count(object, "default_jobs", place->default_jobs, rc);
	add_number(object, "default_rank_s", (double)place->default_us / 1e6, 6, rc);
	add_number(object, "worth_rank_s", nt_speedup_worth_us(speedups, item) / 1e6, 6, rc);
	return object;
}

static json_object *profiles_value(const struct nt_speedups *speedups, int *rc)
{
	const struct nt_speedup_item **items = nt_speedup_by_worth(speedups);
	json_object *array = items ? json_object_new_array() : NULL;

	for (size_t i = 0; array && i < speedups->item_names.count; i++)
		add_to(array, profile_value(speedups, items[i], rc), rc);
	free(items);
	return array;
}

int nt_tally_json(FILE *out, const struct nt_tally_view *view, struct nt_error *err)
{
	const struct nt_tally *tally = view->tally;
	const struct nt_tally_sum total = nt_tally_total(tally);
	json_object *object = json_object_new_object();
	json_object *by = json_object_new_object();
	int rc = object && by ? 0 : -1;

	if (rc == 0) {
		add_count(object, "since", view->since_s, &rc);
		add_count(object, "until", view->until_s, &rc);
		add_sum(object, &total, &rc);
		add_count(object, "users", (int64_t)tally->users.count, &rc);
		add_count(object, "left_out", tally->left_out, &rc);
		for (int i = 0; i < NT_TALLY_BYS; i++)
			add(by, nt_tally_by_name((enum nt_tally_by)i),
			    groups_value(&tally->by[i], &rc), &rc);
		add(object, "by", json_object_get(by), &rc);
		add(object, "best", top_value(&tally->best, &rc), &rc);
		add(object, "worst", top_value(&tally->worst, &rc), &rc);
		add(object, "profiles", profiles_value(&tally->speedups, &rc), &rc);
	}
	if (rc == 0)
		fprintf(out, "%s\n",
			json_object_to_json_string_ext(
				object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(by);
	json_object_put(object);
	return rc == 0 ? 0 : nt_error_set(err, "no memory for the summary");
}
