/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/metrics/compare-json.h"

#include <math.h>
#include <string.h>
#include "contract/coll.h"
#include "lib/json.h"
#include "report/model/row-time.h"

/* null: not known. */
static json_object *text_pair(const char *a, const char *b, int *rc)
{
	json_object *array = nt_json_array(rc);

	nt_json_string(array, NULL, a && a[0] ? a : NULL, rc);
	nt_json_string(array, NULL, b && b[0] ? b : NULL, rc);
	return array;
}

/* To a ten-thousandth. */
static json_object *number_pair(const double value[2], int *rc)
{
	json_object *array = nt_json_array(rc);

	for (int i = 0; i < 2; i++)
		nt_json_add(array, NULL, nt_json_decimal(round(value[i] * 1e4) / 1e4, 10, rc), rc);
	return array;
}

static json_object *times_value(const struct nt_time_pair *times, int *rc)
{
	json_object *object = nt_json_object(rc);

	nt_json_add(object, "us", number_pair(times->us, rc), rc);
	nt_json_add(object, "p25_us", number_pair(times->low_us, rc), rc);
	nt_json_add(object, "p75_us", number_pair(times->high_us, rc), rc);
	nt_json_number(object, "change_percent", round(times->change_percent * 100) / 100, rc);
	nt_json_string(object, "noise", nt_noise_name(nt_pair_noise(times)), rc);
	return object;
}

static json_object *settings_value(const struct nt_step_pair *pair, int *rc)
{
	json_object *array = nt_json_array(rc);

	for (size_t i = 0; i < nt_setting_count; i++) {
		char room[2][NT_SETTING_TEXT];
		const char *text[2] = { "", "" };
		json_object *object;

		for (int j = 0; j < 2; j++) {
			if (pair->side[j])
				text[j] = nt_setting_text(i, pair->side[j], room[j]);
		}
		if (!text[0][0] && !text[1][0])
			continue;
		object = nt_json_object(rc);
		nt_json_string(object, "name", nt_setting_code(i), rc);
		nt_json_add(object, "values", text_pair(text[0], text[1], rc), rc);
		if (text[0][0] && text[1][0])
			nt_json_bool(object, "same", strcmp(text[0], text[1]) == 0, rc);
		nt_json_add(array, NULL, object, rc);
	}
	return array;
}

static json_object *calls_pair(const struct nt_key_pair *keys, int *rc)
{
	json_object *array = nt_json_array(rc);

	for (int i = 0; i < 2; i++) {
		const int64_t calls = keys->key[i] ? keys->key[i]->calls : -1;

		nt_json_add(array, NULL, calls >= 0 ? nt_json_decimal((double)calls, 16, rc) : NULL,
			    rc);
	}
	return array;
}

static json_object *arms_pair(const struct nt_key_pair *keys, int *rc)
{
	json_object *array = nt_json_array(rc);

	for (int i = 0; i < 2; i++) {
		const struct nt_key *key = keys->key[i];

		nt_json_string(array, NULL, key ? nt_arm_name(nt_key_arm_in_force(key)) : NULL, rc);
	}
	return array;
}

static json_object *key_value(const struct nt_step_pair *pair, const struct nt_key_pair *keys,
			      int *rc)
{
	const int from = keys->key[0] ? 0 : 1;
	const struct nt_key *key = keys->key[from];
	json_object *object = nt_json_object(rc);
	double busbw_gbs[2] = { NAN, NAN };
	struct nt_time_pair times;

	for (int i = 0; i < 2; i++) {
		if (keys->key[i])
			busbw_gbs[i] = nt_row_busbw(keys->key[i], nt_row_in_force(keys->key[i]));
	}
	nt_pair_key_time(&times, keys);
	nt_json_string(object, "coll", nt_coll_name(key->coll), rc);
	nt_json_integer(object, "bytes", key->bytes, rc);
	nt_json_integer(object, "ranks", key->ranks, rc);
	nt_json_integer(object, "nodes", key->nodes, rc);
	nt_json_text(object, "name", pair->side[from]->summary->families[key->family].name, rc);
	nt_json_add(object, "arms", arms_pair(keys, rc), rc);
	nt_json_add(object, "calls", calls_pair(keys, rc), rc);
	nt_json_bool(object, "call_own", keys->own, rc);
	nt_json_add(object, "call", times_value(&times, rc), rc);
	nt_json_add(object, "busbw_gbs", number_pair(busbw_gbs, rc), rc);
	return object;
}

static const char *step_of(const struct nt_step_side *side)
{
	return side ? side->summary->steps[side->at].name : NULL;
}

static json_object *pair_value(const struct nt_step_pair *pair, int *rc)
{
	const struct nt_step_side *a = pair->side[0], *b = pair->side[1];
	json_object *object = nt_json_object(rc), *keys = nt_json_array(rc);
	struct nt_time_pair times;

	nt_pair_step_time(&times, pair);
	nt_json_add(object, "jobs", text_pair(a ? a->job : NULL, b ? b->job : NULL, rc), rc);
	nt_json_add(object, "steps", text_pair(step_of(a), step_of(b), rc), rc);
	nt_json_add(object, "step", times_value(&times, rc), rc);
	nt_json_add(object, "settings", settings_value(pair, rc), rc);
	for (size_t i = 0; i < pair->key_count; i++)
		nt_json_add(keys, NULL, key_value(pair, &pair->keys[i], rc), rc);
	nt_json_add(object, "keys", keys, rc);
	return object;
}

int nt_job_comparison_json(FILE *out, const char *const job[2],
			   const struct nt_job_comparison *comparison, struct nt_error *err)
{
	int rc = 0;
	json_object *object = nt_json_object(&rc), *steps = nt_json_array(&rc);

	nt_json_integer(object, "v", NT_COMPARE_VERSION, &rc);
	nt_json_add(object, "jobs", text_pair(job[0], job[1], &rc), &rc);
	for (size_t i = 0; i < comparison->count; i++)
		nt_json_add(steps, NULL, pair_value(&comparison->pairs[i], &rc), &rc);
	nt_json_add(object, "steps", steps, &rc);
	if (rc == 0)
		rc = nt_json_print(out, object);
	json_object_put(object);
	return rc == 0 ? 0 : nt_error_set(err, "no memory for the comparison");
}
