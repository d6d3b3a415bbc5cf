/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/jsonvalue.h"

#include <math.h>
#include <stdio.h>
#include "contract/coll.h"
#include "record/reason.h"

json_object *nt_value_text(const char *text)
{
	return text && text[0] ? json_object_new_string(text) : NULL;
}

json_object *nt_value_count(int64_t count)
{
	return count >= 0 ? json_object_new_int64(count) : NULL;
}

json_object *nt_value_decimal(double value)
{
	char text[40];

	if (!isfinite(value))
		return NULL;
	snprintf(text, sizeof(text), "%.10g", value);
	return json_object_new_double_s(value, text);
}

json_object *nt_value_arm(int arm)
{
	return json_object_new_string(nt_arm_name(arm));
}

int nt_value_add(json_object *object, const char *name, json_object *value)
{
	int rc = object ? json_object_object_add(object, name, value) : -1;

	if (rc < 0)
		json_object_put(value);
	return rc;
}

int nt_value_append(json_object *array, json_object *value)
{
	int rc = array ? json_object_array_add(array, value) : -1;

	if (rc < 0)
		json_object_put(value);
	return rc;
}

static json_object *times_value(const double *time, int count)
{
	json_object *array = json_object_new_array();

	for (int i = 0; i < count; i++)
		(void)nt_value_append(array, nt_value_decimal(time[i]));
	return array;
}

static json_object *field_value(const struct nt_field *field, const void *at)
{
	switch (field->kind) {
	case NT_FIELD_COUNT:
	case NT_FIELD_TALLY: return nt_value_count(*(const int64_t *)at);
	case NT_FIELD_NUMBER:
	case NT_FIELD_TIME:
	case NT_FIELD_SHARE: return nt_value_decimal(*(const double *)at);
	case NT_FIELD_BOOL: return json_object_new_boolean(*(const bool *)at);
	case NT_FIELD_TEXT:
	case NT_FIELD_QUOTED: return nt_value_text(at);
	case NT_FIELD_COLL: return nt_value_text(nt_coll_name(*(const int *)at));
	case NT_FIELD_ARM: return *(const int *)at >= 0 ? nt_value_arm(*(const int *)at) : NULL;
	case NT_FIELD_REASON: return nt_value_text(nt_reason_code(*(const int *)at));
	case NT_FIELD_TIMES: return times_value(at, 2);
	case NT_FIELD_QUARTILES: return times_value(at, 3);
	case NT_FIELD_OBJECT:
	case NT_FIELD_ARRAY: break;
	}
	return NULL;
}

int nt_value_add_fields(json_object *object, const struct nt_fields *fields, const void *source)
{
	int rc = 0;

	for (size_t i = 0; i < fields->count; i++) {
		const struct nt_field *field = &fields->field[i];

		if (field->kind == NT_FIELD_OBJECT || field->kind == NT_FIELD_ARRAY)
			continue;
		rc |= nt_value_add(object, field->name,
				   field_value(field, (const char *)source + field->offset));
	}
	return rc;
}
