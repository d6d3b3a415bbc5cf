/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/metrics/csv.h"

#include <stdbool.h>
#include <string.h>
#include "lib/json.h"
#include "record/key.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* The JSON objects of a line; NULL: none. */
struct csv_line {
	json_object *job, *step, *comm, *key;
};

static void put_text(FILE *out, const char *text)
{
	bool formula = text[0] != '\0' && strchr("=+-@", text[0]) != NULL;
	bool quoted = text[strcspn(text, ",\"\r\n")] != '\0';

	if (quoted)
		fputc('"', out);
	if (formula)
		fputc('\'', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	if (quoted)
		fputc('"', out);
}

void nt_values_put(FILE *out, const char *before, json_object *value)
{
	fputs(before, out);
	if (json_object_is_type(value, json_type_string))
		put_text(out, json_object_get_string(value));
	else if (value)
		fputs(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), out);
}

/* pair: two columns. names: print their names instead of the values. */
static void put_column(FILE *out, json_object *object, const char *name, bool pair, bool names)
{
	json_object *value = nt_json_member(object, name);

	if (names && pair)
		fprintf(out, ",auto_%s,arm_%s", name, name);
	else if (names)
		fprintf(out, ",%s", name);
	else if (!pair)
		nt_values_put(out, ",", value);
	for (size_t i = 0; !names && pair && i < 2; i++)
		nt_values_put(out, ",",
			      value && i < json_object_array_length(value)
				      ? json_object_array_get_idx(value, i)
				      : NULL);
}

/* Members that are not in the record. */
static const struct {
	const char *name;
	bool pair;
} derived[] = {
	{ "call_us", true }, { "algbw_gbs", true }, { "busbw_gbs", true },
	{ "says", false },   { "advice", false },   { "more", false },
};

static void put_line(FILE *out, const struct csv_line *line, bool names)
{
	static const char *const places[] = { "ranks", "nodes", "name", "parallel" };

	nt_values_put(out, names ? "job" : "", nt_json_member(line->job, "job"));
	put_column(out, line->step, "step", false, names);
	for (size_t i = 0; i < LENGTH(places); i++)
		put_column(out, line->comm, places[i], false, names);
	for (size_t i = 0; i < nt_report_key_fields.count; i++) {
		const struct nt_field *field = &nt_report_key_fields.field[i];

		put_column(out, line->key, field->name, field->kind == NT_FIELD_TIMES, names);
	}
	for (size_t i = 0; i < LENGTH(derived); i++)
		put_column(out, line->key, derived[i].name, derived[i].pair, names);
	fputs("\r\n", out);
}

/* A line without a key. Frees members. */
static void put_other(FILE *out, const struct csv_line *line, const char *state,
		      json_object *members)
{
	struct csv_line other = { .job = line->job, .step = line->step, .key = members };

	json_object_object_add(members, "state", json_object_new_string(state));
	put_line(out, &other, false);
	json_object_put(members);
}

static json_object *with(const char *name, json_object *value)
{
	json_object *object = json_object_new_object();

	json_object_object_add(object, name, json_object_get(value));
	return object;
}

static void put_keys(FILE *out, const struct csv_line *line)
{
	json_object *comms = nt_json_member(line->step, "communicators");

	for (size_t c = 0; comms && c < json_object_array_length(comms); c++) {
		struct csv_line at = *line;
		json_object *keys;

		at.comm = json_object_array_get_idx(comms, c);
		keys = nt_json_member(at.comm, "keys");
		for (size_t k = 0; keys && k < json_object_array_length(keys); k++) {
			at.key = json_object_array_get_idx(keys, k);
			put_line(out, &at, false);
		}
	}
}

static void put_faults(FILE *out, const struct csv_line *line, json_object *of)
{
	json_object *damaged = nt_json_member(of, "damaged"), *more = nt_json_member(of, "more");

	for (size_t i = 0; damaged && i < json_object_array_length(damaged); i++)
		put_other(out, line, "damaged",
			  with("says", json_object_array_get_idx(damaged, i)));
	if (more)
		put_other(out, line, "left_out", with("more", more));
}

static void put_step(FILE *out, const struct csv_line *line)
{
	json_object *untuned = nt_json_member(line->step, "untuned");

	put_keys(out, line);
	for (size_t i = 0; untuned && i < json_object_array_length(untuned); i++) {
		json_object *why = json_object_array_get_idx(untuned, i);
		json_object *members = with("why", nt_json_member(why, "why"));

		json_object_object_add(members, "says",
				       json_object_get(nt_json_member(why, "says")));
		json_object_object_add(members, "advice",
				       json_object_get(nt_json_member(why, "advice")));
		put_other(out, line, "untuned", members);
	}
	put_faults(out, line, line->step);
	if (nt_json_member(line->step, "launch"))
		put_other(out, line, "launched", with("says", nt_json_member(line->step, "from")));
}

void nt_values_print(FILE *out, json_object *jobs)
{
	size_t count = json_object_array_length(jobs);

	if (count > 0)
		put_line(out, &(struct csv_line){ NULL, NULL, NULL, NULL }, true);
	for (size_t i = 0; i < count; i++) {
		struct csv_line line = { .job = json_object_array_get_idx(jobs, i) };
		json_object *steps = nt_json_member(line.job, "steps");

		for (size_t s = 0; steps && s < json_object_array_length(steps); s++) {
			line.step = json_object_array_get_idx(steps, s);
			put_step(out, &line);
		}
		line.step = NULL;
		put_faults(out, &line, line.job);
	}
}
