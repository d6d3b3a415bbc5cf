/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/metrics/json-fields.h"

#include <math.h>
#include "contract/reason.h"

/* To the field's decimals. */
static double rounded(const struct nt_field *field, double value)
{
	const double unit = pow(10, field->size);

	return round(value * unit) / unit;
}

static void add_times(json_object *object, const struct nt_field *field, const double *time,
		      int count, int *rc)
{
	json_object *array;

	if (isnan(time[0]))
		return;
	array = nt_json_array(rc);
	for (int i = 0; i < count && !isnan(time[i]); i++)
		nt_json_add(array, NULL, nt_json_decimal(rounded(field, time[i]), 10, rc), rc);
	nt_json_add(object, field->name, array, rc);
}

static void add_field(json_object *object, const struct nt_field *field, const void *at, int *rc)
{
	const char *name = field->name;

	switch (field->kind) {
	case NT_FIELD_COUNT:
	case NT_FIELD_TALLY: nt_json_count(object, name, *(const int64_t *)at, rc); break;
	case NT_FIELD_NUMBER:
	case NT_FIELD_TIME:
		nt_json_number(object, name, rounded(field, *(const double *)at), rc);
		break;
	case NT_FIELD_SHARE: nt_json_number(object, name, *(const double *)at, rc); break;
	case NT_FIELD_BOOL: nt_json_bool(object, name, *(const bool *)at, rc); break;
	case NT_FIELD_TEXT:
	case NT_FIELD_QUOTED: nt_json_text(object, name, at, rc); break;
	case NT_FIELD_COLL:
	case NT_FIELD_KIND:
	case NT_FIELD_ARM:
	case NT_FIELD_STATE:
	case NT_FIELD_COMM_STATE:
	case NT_FIELD_REASON: nt_json_text(object, name, nt_field_word(field, at), rc); break;
	case NT_FIELD_WHY:
		nt_json_text(object, name, ((const struct nt_reason *)at)->text, rc);
		break;
	case NT_FIELD_TIMES: add_times(object, field, at, 2, rc); break;
	case NT_FIELD_QUARTILES: add_times(object, field, at, 3, rc); break;
	case NT_FIELD_OBJECT:
	case NT_FIELD_ARRAY: break;
	}
}

void nt_json_fields(json_object *object, const struct nt_fields *fields, const void *source,
		    int *rc)
{
	for (size_t i = 0; i < fields->count; i++)
		add_field(object, &fields->field[i], (const char *)source + fields->field[i].offset,
			  rc);
}
