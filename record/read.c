/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The text may be a user's: nothing in it is trusted. */
#include "record/read.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include "contract/names.h"
#include "lib/printable.h"

static const char *const wanted[] = {
	[NT_FIELD_COUNT] = "a whole number from 0",
	[NT_FIELD_TALLY] = "a whole number from 0",
	[NT_FIELD_NUMBER] = "a number",
	[NT_FIELD_TIME] = "a number from 0",
	[NT_FIELD_SHARE] = "a number from 0 to 1",
	[NT_FIELD_BOOL] = "true or false",
	[NT_FIELD_COLL] = "a collective as NCCL spells it",
	[NT_FIELD_KIND] = "a collective as NCCL spells it, Send, Recv, SendRecv or AllToAll",
	[NT_FIELD_ARM] = "AUTO or ALGORITHM/PROTOCOL",
	[NT_FIELD_STATE] = "a state of a key",
	[NT_FIELD_COMM_STATE] = "a state of a communicator",
	[NT_FIELD_REASON] = "a word",
	[NT_FIELD_WHY] = "a reason",
	[NT_FIELD_TIMES] = "one or two numbers from 0",
	[NT_FIELD_QUARTILES] = "three numbers from 0",
	[NT_FIELD_OBJECT] = "an object",
	[NT_FIELD_ARRAY] = "an array",
};

static int refuse(const struct nt_field *field, json_object *value, struct nt_error *err)
{
	const char *text = json_object_to_json_string_ext(
		value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	char shown[48];

	if (!text)
		text = "?";
	if (nt_printable_copy(shown, sizeof(shown), text, strlen(text)) < 0)
		memcpy(shown + sizeof(shown) - 4, "...", 4);
	if (field->kind == NT_FIELD_TEXT || field->kind == NT_FIELD_QUOTED)
		return nt_error_set(err, "%s is %s (want a text of less than %d characters)",
				    field->name, shown, field->size);
	return nt_error_set(err, "%s is %s (want %s)", field->name, shown, wanted[field->kind]);
}

static int read_number(enum nt_field_kind kind, json_object *value, double *out)
{
	double number;

	if (!json_object_is_type(value, json_type_int) &&
	    !json_object_is_type(value, json_type_double))
		return -1;
	number = json_object_get_double(value);
	if (!nt_number_fits(kind, number))
		return -1;
	*out = number;
	return 0;
}

static int read_count(json_object *value, int64_t *out)
{
	int64_t count = json_object_get_int64(value);

	if (!json_object_is_type(value, json_type_int) || count < 0 || count > NT_COUNT_MAX)
		return -1;
	*out = count;
	return 0;
}

static int read_text(json_object *value, char *out, size_t out_bytes, enum nt_reading how)
{
	int rc;

	if (!json_object_is_type(value, json_type_string))
		return -1;
	rc = nt_printable_copy(out, out_bytes, json_object_get_string(value),
			       (size_t)json_object_get_string_len(value));
	if (how == NT_READ_TO_SHOW)
		return rc;
	nt_printable_json(out);
	return 0;
}

static int read_word(enum nt_field_kind kind, json_object *value, int *out)
{
	if (!json_object_is_type(value, json_type_string))
		return -1;
	*out = nt_field_parse(kind, json_object_get_string(value));
	return *out < 0 ? -1 : 0;
}

static int read_why(json_object *value, struct nt_reason *out)
{
	if (!json_object_is_type(value, json_type_string))
		return -1;
	nt_reason_read(out, json_object_get_string(value),
		       (size_t)json_object_get_string_len(value));
	return 0;
}

static int read_times(json_object *value, size_t least, size_t most, double *out)
{
	double read[3];
	size_t count;

	if (!json_object_is_type(value, json_type_array))
		return -1;
	count = json_object_array_length(value);
	if (count < least || count > most)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (read_number(NT_FIELD_TIME, json_object_array_get_idx(value, i), &read[i]) < 0)
			return -1;
	}
	memcpy(out, read, count * sizeof(read[0]));
	return 0;
}

static int read_part(json_object *value, enum json_type type, json_object **out)
{
	if (!json_object_is_type(value, type))
		return -1;
	*out = value;
	return 0;
}

static int read_value(const struct nt_field *field, json_object *value, void *member,
		      enum nt_reading how)
{
	switch (field->kind) {
	case NT_FIELD_COUNT:
	case NT_FIELD_TALLY: return read_count(value, member);
	case NT_FIELD_NUMBER:
	case NT_FIELD_TIME:
	case NT_FIELD_SHARE: return read_number(field->kind, value, member);
	case NT_FIELD_BOOL:
		if (!json_object_is_type(value, json_type_boolean))
			return -1;
		*(bool *)member = json_object_get_boolean(value);
		return 0;
	case NT_FIELD_QUOTED:
	case NT_FIELD_TEXT: return read_text(value, member, (size_t)field->size, how);
	case NT_FIELD_COLL:
	case NT_FIELD_KIND:
	case NT_FIELD_ARM:
	case NT_FIELD_STATE:
	case NT_FIELD_COMM_STATE:
	case NT_FIELD_REASON: return read_word(field->kind, value, member);
	case NT_FIELD_WHY: return read_why(value, member);
	case NT_FIELD_TIMES: return read_times(value, 1, 2, member);
	case NT_FIELD_QUARTILES: return read_times(value, 3, 3, member);
	case NT_FIELD_OBJECT: return read_part(value, json_type_object, member);
	case NT_FIELD_ARRAY: return read_part(value, json_type_array, member);
	}
	return -1;
}

int nt_field_read(const struct nt_field *field, json_object *value, void *target,
		  enum nt_reading how, struct nt_error *err)
{
	if (read_value(field, value, (char *)target + field->offset, how) < 0)
		return refuse(field, value, err);
	return 0;
}

/* In its strict mode json-c 0.18 refuses every character that is not ASCII. */
static int parse_flags(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if ((unsigned char)text[i] >= 0x80)
			return 0;
	}
	return JSON_TOKENER_STRICT;
}

int nt_json_parse(const char *text, size_t text_bytes, json_object **object, struct nt_error *err)
{
	struct json_tokener *tokener = json_tokener_new_ex(NT_RECORD_DEPTH + 1);
	enum json_tokener_error error;
	size_t end;

	*object = NULL;
	if (!tokener || text_bytes > INT_MAX) {
		json_tokener_free(tokener);
		return nt_error_set(err, "no memory for %zu bytes of JSON", text_bytes);
	}
	json_tokener_set_flags(tokener, parse_flags(text, text_bytes));
	*object = json_tokener_parse_ex(tokener, text, (int)text_bytes);
	error = json_tokener_get_error(tokener);
	end = json_tokener_get_parse_end(tokener);
	json_tokener_free(tokener);
	if (error == json_tokener_continue)
		return nt_error_set(err, "ends in the middle, after %zu bytes", text_bytes);
	if (error != json_tokener_success)
		return nt_error_set(err, "at byte %zu: %s", end, json_tokener_error_desc(error));
	while (end < text_bytes && isspace((unsigned char)text[end]))
		end++;
	if (end < text_bytes)
		return nt_error_set(err, "at byte %zu: text after the end", end);
	return 0;
}

int nt_version_check(json_object *object, struct nt_error *err)
{
	json_object *version;

	if (!json_object_object_get_ex(object, "v", &version))
		return nt_error_set(err, "v is missing");
	if (json_object_is_type(version, json_type_int) &&
	    json_object_get_int64(version) == NT_RECORD_VERSION)
		return 0;
	return nt_error_set(err, "v is %.16s (this nccl-tune reads version %d)",
			    json_object_to_json_string_ext(version, JSON_C_TO_STRING_PLAIN),
			    NT_RECORD_VERSION);
}

const struct nt_field *nt_field_find(const struct nt_fields *fields, const char *name)
{
	for (size_t i = 0; i < fields->count; i++) {
		if (strcmp(fields->field[i].name, name) == 0)
			return &fields->field[i];
	}
	return NULL;
}

static int find_missing(const struct nt_fields *fields, json_object *object, struct nt_error *err)
{
	for (size_t i = 0; i < fields->count; i++) {
		const struct nt_field *field = &fields->field[i];

		if (field->need == NT_MUST && !json_object_object_get_ex(object, field->name, NULL))
			return nt_error_set(err, "%s is missing", field->name);
	}
	return 0;
}

int nt_fields_read(const struct nt_fields *fields, json_object *object, void *target,
		   enum nt_reading how, struct nt_error *err)
{
	if (!json_object_is_type(object, json_type_object))
		return nt_error_set(err, "not an object");
	json_object_object_foreach(object, name, value)
	{
		const struct nt_field *field = nt_field_find(fields, name);

		if (field && nt_field_read(field, value, target, how, err) < 0)
			return -1;
	}
	return how == NT_READ_TO_SHOW ? find_missing(fields, object, err) : 0;
}

int nt_fields_read_item(const struct nt_fields *fields, json_object *array, size_t at, void *target,
			enum nt_reading how, struct nt_error *err)
{
	nt_fields_clear(fields, target);
	return nt_fields_read(fields, json_object_array_get_idx(array, at), target, how, err);
}
