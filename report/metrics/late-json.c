/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/metrics/late-json.h"

static json_object *times_value(const double *value, unsigned count, int *rc)
{
	json_object *array = nt_json_array(rc);

	for (unsigned i = 0; i < count; i++)
		nt_json_add(array, NULL, nt_json_decimal(value[i], 6, rc), rc);
	return array;
}

static json_object *ranks_value(const struct nt_summary *summary, const struct nt_lateness *late,
				int *rc)
{
	json_object *array = nt_json_array(rc);

	for (size_t i = 0; i < late->row_count; i++) {
		const struct nt_late_row *row = &late->row[i];
		json_object *object = nt_json_object(rc);

		nt_json_count(object, "rank", row->rank, rc);
		nt_json_text(object, "node", summary->nodes[row->node].name, rc);
		nt_json_add(object, "us", times_value(row->us, late->slices, rc), rc);
		nt_json_add(array, NULL, object, rc);
	}
	return array;
}

void nt_late_json(json_object *object, const struct nt_summary *summary,
		  const struct nt_comm_seen *comm, int *rc)
{
	const struct nt_lateness *late = comm->lateness;
	json_object *value;

	if (!late)
		return;
	value = nt_json_object(rc);
	nt_json_count(value, "calls", (int64_t)late->calls, rc);
	nt_json_number(value, "waiting", late->waiting, rc);
	nt_json_text(value, "late", nt_late_name(late->kind), rc);
	nt_json_count(value, "rank", late->rank, rc);
	nt_json_text(value, "node", late->node >= 0 ? summary->nodes[late->node].name : "", rc);
	nt_json_count(value, "late_calls", late->late_calls > 0 ? (int64_t)late->late_calls : -1,
		      rc);
	nt_json_number(value, "late_us", late->late_us, rc);
	nt_json_add(value, "from_s", times_value(late->from_s, late->slices, rc), rc);
	nt_json_add(value, "ranks", ranks_value(summary, late, rc), rc);
	nt_json_add(object, "lateness", value, rc);
}
