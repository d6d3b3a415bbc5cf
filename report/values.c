/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* values.c - see values.h */
#include "report/values.h"

#include <stdbool.h>
#include <string.h>

/* The members of print.h's objects that have a column: all that are no parts. Named here, since
 * where every value of one is null its kind cannot be seen. */
static bool has_column(const char *name)
{
	static const char *const parts[] = { "launch", "arms", "volume", "topology" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(name, parts[i]) == 0)
			return false;
	}
	return true;
}

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

static void put_value(FILE *out, json_object *value)
{
	if (json_object_is_type(value, json_type_string))
		put_text(out, json_object_get_string(value));
	else if (value)
		fputs(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), out);
}

static void put_line(FILE *out, json_object *object, bool names)
{
	bool first = true;

	json_object_object_foreach(object, name, value)
	{
		if (!has_column(name))
			continue;
		if (!first)
			fputc(',', out);
		first = false;
		if (names)
			put_text(out, name);
		else
			put_value(out, value);
	}
	fputs("\r\n", out);
}

void nt_values_print(FILE *out, json_object *array)
{
	size_t count = json_object_array_length(array);

	if (count > 0)
		put_line(out, json_object_array_get_idx(array, 0), true);
	for (size_t i = 0; i < count; i++)
		put_line(out, json_object_array_get_idx(array, i), false);
}
