/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h - is this JSON what a schema says? For the schemas of docs/schema: the words of JSON
 * Schema that these use, and no others, which are an error. A member that the schema does not know
 * is one, too: it may come from a later release, but not from what is built here.
 *
 * Threads:  none but the caller's.
 * Memory:   the schema is the caller's.
 * Errors:   -1, and *err says where and what.
 */
#ifndef NT_TEST_SCHEMA_H
#define NT_TEST_SCHEMA_H

#include <json.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/error.h"

#define NT_SCHEMA_DEPTH 24

struct nt_schema_at {
	char path[200];
	int depth;
};

static int nt_schema_check_at(json_object *schema, json_object *value,
			      const struct nt_schema_at *at, struct nt_error *err);

static int nt_schema_wrong(const struct nt_schema_at *at, const char *what, json_object *value,
			   struct nt_error *err)
{
	return nt_error_set(err, "%.120s is %.40s: %.60s", at->path,
			    json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), what);
}

static int nt_schema_matches(const char *pattern, const char *text)
{
	regex_t regex;
	int rc;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		return 0;
	rc = regexec(&regex, text, 0, NULL, 0);
	regfree(&regex);
	return rc == 0;
}

static int nt_schema_type_is(const char *type, json_object *value)
{
	switch (json_object_get_type(value)) {
	case json_type_object: return strcmp(type, "object") == 0;
	case json_type_array: return strcmp(type, "array") == 0;
	case json_type_string: return strcmp(type, "string") == 0;
	case json_type_boolean: return strcmp(type, "boolean") == 0;
	case json_type_int: return strcmp(type, "integer") == 0 || strcmp(type, "number") == 0;
	case json_type_double: return strcmp(type, "number") == 0;
	default: return strcmp(type, "null") == 0;
	}
}

static int nt_schema_is_one(json_object *choices, json_object *value)
{
	for (size_t i = 0; i < json_object_array_length(choices); i++) {
		if (json_object_equal(json_object_array_get_idx(choices, i), value))
			return 1;
	}
	return 0;
}

static size_t nt_schema_length(json_object *value)
{
	return json_object_is_type(value, json_type_array)
		       ? json_object_array_length(value)
		       : (size_t)json_object_get_string_len(value);
}

/* One word of the schema that looks at the value alone. 1: not such a word. */
static int nt_schema_word(const char *word, json_object *said, json_object *value)
{
	double number = json_object_get_double(said);

	if (strcmp(word, "type") == 0)
		return nt_schema_type_is(json_object_get_string(said), value) ? 0 : -1;
	if (strcmp(word, "const") == 0)
		return json_object_equal(said, value) ? 0 : -1;
	if (strcmp(word, "enum") == 0)
		return nt_schema_is_one(said, value) ? 0 : -1;
	if (strcmp(word, "minimum") == 0)
		return json_object_get_double(value) >= number ? 0 : -1;
	if (strcmp(word, "maximum") == 0)
		return json_object_get_double(value) <= number ? 0 : -1;
	if (strcmp(word, "minItems") == 0)
		return (double)nt_schema_length(value) >= number ? 0 : -1;
	if (strcmp(word, "maxItems") == 0 || strcmp(word, "maxLength") == 0)
		return (double)nt_schema_length(value) <= number ? 0 : -1;
	if (strcmp(word, "pattern") == 0)
		return nt_schema_matches(json_object_get_string(said),
					 json_object_get_string(value))
			       ? 0
			       : -1;
	return 1;
}

static json_object *nt_schema_of_member(json_object *schema, const char *name)
{
	json_object *all, *found;

	if (json_object_object_get_ex(schema, "properties", &all) &&
	    json_object_object_get_ex(all, name, &found))
		return found;
	if (!json_object_object_get_ex(schema, "patternProperties", &all))
		return NULL;
	json_object_object_foreach(all, pattern, inner)
	{
		if (nt_schema_matches(pattern, name))
			return inner;
	}
	return NULL;
}

static int nt_schema_members(json_object *schema, json_object *value, const struct nt_schema_at *at,
			     struct nt_error *err)
{
	json_object *required;

	if (json_object_object_get_ex(schema, "required", &required)) {
		for (size_t i = 0; i < json_object_array_length(required); i++) {
			const char *name = json_object_get_string(
				json_object_array_get_idx(required, i));

			if (!json_object_object_get_ex(value, name, NULL))
				return nt_error_set(err, "%.120s has no %.40s", at->path, name);
		}
	}
	json_object_object_foreach(value, name, member)
	{
		json_object *inner = nt_schema_of_member(schema, name);
		struct nt_schema_at below = { .depth = at->depth + 1 };

		snprintf(below.path, sizeof(below.path), "%.120s.%.60s", at->path, name);
		if (!inner)
			return nt_error_set(err, "%.180s is not in the schema", below.path);
		if (nt_schema_check_at(inner, member, &below, err) < 0)
			return -1;
	}
	return 0;
}

static int nt_schema_items(json_object *items, json_object *value, const struct nt_schema_at *at,
			   struct nt_error *err)
{
	for (size_t i = 0; i < json_object_array_length(value); i++) {
		struct nt_schema_at below = { .depth = at->depth + 1 };

		snprintf(below.path, sizeof(below.path), "%.120s[%zu]", at->path, i);
		if (nt_schema_check_at(items, json_object_array_get_idx(value, i), &below, err) < 0)
			return -1;
	}
	return 0;
}

static int nt_schema_check_at(json_object *schema, json_object *value,
			      const struct nt_schema_at *at, struct nt_error *err)
{
	static const char elsewhere[] = "$schema $id $comment title description properties "
					"patternProperties required items";

	if (at->depth > NT_SCHEMA_DEPTH)
		return nt_error_set(err, "%.120s is nested too deep", at->path);
	json_object_object_foreach(schema, word, said)
	{
		int rc = nt_schema_word(word, said, value);

		if (rc > 0 && !strstr(elsewhere, word))
			return nt_error_set(err, "the schema's %.40s is not known here", word);
		if (rc < 0)
			return nt_schema_wrong(at, json_object_to_json_string(said), value, err);
	}
	if (json_object_is_type(value, json_type_object))
		return nt_schema_members(schema, value, at, err);
	if (json_object_is_type(value, json_type_array)) {
		json_object *items;

		return json_object_object_get_ex(schema, "items", &items)
			       ? nt_schema_items(items, value, at, err)
			       : 0;
	}
	return 0;
}

static inline int nt_schema_check(json_object *schema, json_object *value, struct nt_error *err)
{
	const struct nt_schema_at at = { .path = "it" };

	return nt_schema_check_at(schema, value, &at, err);
}

/* What is not there yet. */
static void nt_schema_add(json_object *schema, json_object *more)
{
	json_object *own;

	json_object_object_foreach(more, name, value)
	{
		if (!json_object_object_get_ex(schema, name, &own))
			json_object_object_add(schema, name, json_object_get(value));
		else if (strcmp(name, "properties") == 0)
			nt_schema_add(own, value);
	}
}

/* What an object refers to becomes part of it; what it says itself stays. */
static int nt_schema_refer(json_object *schema, const char *directory, struct nt_error *err)
{
	json_object *ref, *file;
	char path[512];

	if (json_object_is_type(schema, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(schema); i++) {
			if (nt_schema_refer(json_object_array_get_idx(schema, i), directory, err) <
			    0)
				return -1;
		}
	}
	if (!json_object_is_type(schema, json_type_object))
		return 0;
	if (json_object_object_get_ex(schema, "$ref", &ref)) {
		snprintf(path, sizeof(path), "%.400s/%.100s", directory,
			 json_object_get_string(ref));
		file = json_object_from_file(path);
		if (!file)
			return nt_error_set(err, "%.150s cannot be read", path);
		json_object_object_del(schema, "$ref");
		nt_schema_add(schema, file);
		json_object_put(file);
	}
	json_object_object_foreach(schema, word, said)
	{
		(void)word;
		if (nt_schema_refer(said, directory, err) < 0)
			return -1;
	}
	return 0;
}

/* With all that it refers to; NULL and *err. */
static inline json_object *nt_schema_read(const char *path, struct nt_error *err)
{
	const char *slash = strrchr(path, '/');
	json_object *schema = json_object_from_file(path);
	char directory[400];

	if (!schema) {
		nt_error_set(err, "%.150s cannot be read", path);
		return NULL;
	}
	snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
	if (nt_schema_refer(schema, directory, err) == 0)
		return schema;
	json_object_put(schema);
	return NULL;
}

/* docs/schema/NAME.schema.json of the source tree; NULL and *err. */
static inline json_object *nt_schema_load(const char *name, struct nt_error *err)
{
	const char *top = getenv("top_srcdir");
	char path[512];

	snprintf(path, sizeof(path), "%s/docs/schema/%s.schema.json", top ? top : ".", name);
	return nt_schema_read(path, err);
}

/* The same for a text; schema: a name. */
static inline int nt_schema_check_text(const char *name, const char *text, struct nt_error *err)
{
	json_object *schema = nt_schema_load(name, err);
	json_object *value = schema ? json_tokener_parse(text) : NULL;
	int rc = -1;

	if (schema && !value)
		nt_error_set(err, "it is not JSON");
	if (value)
		rc = nt_schema_check(schema, value, err);
	json_object_put(value);
	json_object_put(schema);
	return rc;
}

#endif
