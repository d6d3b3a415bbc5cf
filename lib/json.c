/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/json.h"

#include <math.h>

static json_object *checked(json_object *value, int *rc)
{
	if (!value)
		*rc = -1;
	return value;
}

json_object *nt_json_object(int *rc)
{
	return checked(json_object_new_object(), rc);
}

json_object *nt_json_array(int *rc)
{
	return checked(json_object_new_array(), rc);
}

json_object *nt_json_decimal(double value, int digits, int *rc)
{
	char text[40];

	if (!isfinite(value))
		return NULL;
	snprintf(text, sizeof(text), "%.*g", digits, value);
	return checked(json_object_new_double_s(value, text), rc);
}

void nt_json_add(json_object *parent, const char *name, json_object *value, int *rc)
{
	int added = -1;

	if (parent)
		added = name ? json_object_object_add(parent, name, value)
			     : json_object_array_add(parent, value);
	if (added < 0) {
		json_object_put(value);
		*rc = -1;
	}
}

void nt_json_string(json_object *parent, const char *name, const char *value, int *rc)
{
	nt_json_add(parent, name, value ? checked(json_object_new_string(value), rc) : NULL, rc);
}

void nt_json_integer(json_object *parent, const char *name, int64_t value, int *rc)
{
	nt_json_add(parent, name, checked(json_object_new_int64(value), rc), rc);
}

void nt_json_bool(json_object *parent, const char *name, bool value, int *rc)
{
	nt_json_add(parent, name, checked(json_object_new_boolean(value), rc), rc);
}

void nt_json_known(json_object *parent, const char *name, json_object *value, int *rc)
{
	if (value)
		nt_json_add(parent, name, value, rc);
}

void nt_json_text(json_object *parent, const char *name, const char *text, int *rc)
{
	if (text && text[0])
		nt_json_string(parent, name, text, rc);
}

void nt_json_count(json_object *parent, const char *name, int64_t count, int *rc)
{
	if (count >= 0)
		nt_json_integer(parent, name, count, rc);
}

void nt_json_number(json_object *parent, const char *name, double value, int *rc)
{
	nt_json_known(parent, name, nt_json_decimal(value, 10, rc), rc);
}

json_object *nt_json_filled(json_object *array)
{
	if (array && json_object_array_length(array) > 0)
		return array;
	json_object_put(array);
	return NULL;
}

json_object *nt_json_member(json_object *object, const char *name)
{
	json_object *value = NULL;

	if (object)
		json_object_object_get_ex(object, name, &value);
	return value;
}

bool nt_json_take_number(json_object *value, double largest, double *out)
{
	if (!json_object_is_type(value, json_type_double) &&
	    !json_object_is_type(value, json_type_int))
		return false;
	*out = json_object_get_double(value);
	return *out >= 0 && *out <= largest; /* and no NAN */
}

int nt_json_print(FILE *out, json_object *value)
{
	const char *text = json_object_to_json_string_ext(
		value, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);

	if (!text)
		return -1;
	fprintf(out, "%s\n", text);
	return 0;
}
