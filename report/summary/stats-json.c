/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Totals over many jobs as one JSON object. */
#include "report/summary/stats-print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "lib/json.h"

const char *nt_site_stats_by_name(enum nt_site_stats_by by)
{
	static const char *const names[] = {
		[NT_BY_CLUSTER] = "cluster",
		[NT_BY_PARTITION] = "partition",
		[NT_BY_USER] = "user",
		[NT_BY_NCCL] = "nccl",
	};

	return names[by];
}

/* NAN is null. */
static void add_number(json_object *object, const char *name, double value, int decimals, int *rc)
{
	json_object *number = NULL;
	char text[40];

	snprintf(text, sizeof(text), "%.*f", decimals, value);
	if (!isnan(value)) {
		number = json_object_new_double_s(value, text);
		*rc |= number ? 0 : -1;
	}
	nt_json_add(object, name, number, rc);
}

static void add_times(json_object *object, int64_t saved_us, int64_t spent_us, int *rc)
{
	add_number(object, "saved_rank_s", (double)saved_us / 1e6, 6, rc);
	add_number(object, "spent_rank_s", (double)spent_us / 1e6, 6, rc);
	add_number(object, "net_rank_s", (double)(saved_us - spent_us) / 1e6, 6, rc);
}

static void add_sum(json_object *object, const struct nt_site_stats_sum *sum, int *rc)
{
	json_object *jobs = nt_json_object(rc);

	for (int i = 0; i < NT_JOB_OUTCOMES; i++)
		nt_json_integer(jobs, nt_job_outcome_name((enum nt_job_outcome)i), sum->jobs[i],
				rc);
	nt_json_add(object, "jobs", jobs, rc);
	nt_json_integer(object, "keys", sum->keys, rc);
	nt_json_integer(object, "decided", sum->decided, rc);
	nt_json_integer(object, "chosen", sum->chosen, rc);
	nt_json_integer(object, "calls", sum->calls, rc);
	add_times(object, sum->saved_us, sum->spent_us, rc);
	add_number(object, "comm_rank_s", (double)sum->comm_us / 1e6, 6, rc);
	add_number(object, "launch_saved_rank_s", (double)sum->launch_us / 1e6, 6, rc);
	add_number(object, "calibration_rank_s", (double)sum->calibration_us / 1e6, 6, rc);
}

static json_object *classes_value(const struct nt_site_stats_classes *classes, int *rc)
{
	json_object *array = nt_json_array(rc);

	for (size_t i = 0; i < classes->names.count; i++) {
		json_object *object = nt_json_object(rc);

		nt_json_string(object, "cluster", classes->class[i].cluster, rc);
		nt_json_string(object, "name", classes->class[i].name, rc);
		add_sum(object, &classes->class[i].sum, rc);
		nt_json_add(array, NULL, object, rc);
	}
	return array;
}

static json_object *all_value(const struct nt_site_stats_view *view, int *rc)
{
	const struct nt_site_stats *tally = view->tally;
	const struct nt_site_stats_sum total = nt_site_stats_total(tally);
	json_object *object = nt_json_object(rc), *by = nt_json_object(rc);

	nt_json_integer(object, "since", view->since_s, rc);
	nt_json_integer(object, "until", view->until_s, rc);
	add_sum(object, &total, rc);
	nt_json_integer(object, "users", (int64_t)tally->users.count, rc);
	nt_json_integer(object, "left_out", tally->left_out, rc);
	for (int i = 0; i < NT_SITE_STATS_BYS; i++)
		nt_json_add(by, nt_site_stats_by_name((enum nt_site_stats_by)i),
			    classes_value(&tally->by[i], rc), rc);
	nt_json_add(object, "by", by, rc);
	return object;
}

int nt_site_stats_json(FILE *out, const struct nt_site_stats_view *view, struct nt_error *err)
{
	int rc = 0;
	json_object *object = all_value(view, &rc);

	if (rc == 0)
		rc = nt_json_print(out, object);
	json_object_put(object);
	return rc == 0 ? 0 : nt_error_set(err, "no memory for the summary");
}
