/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/stacks.h"

#include <stdio.h>
#include <string.h>
#include "lib/append.h"
#include "lib/printable.h"
#include "record/read.h"

#define LINE_MAX_BYTES 400
#define TOP_FRAMES 5

#define STACKS_ROW(...) NT_FIELD_ROW(struct nt_stacks, __VA_ARGS__)
const struct nt_fields nt_stacks_fields = NT_FIELDS(NT_STACKS_FIELDS(STACKS_ROW));

size_t nt_stacks_format(const struct nt_stacks *stacks, const char *text, char *out,
			size_t out_bytes)
{
	char line[LINE_MAX_BYTES];
	struct nt_json_writer put;

	nt_json_put_begin(&put, out, out_bytes, 2);
	nt_json_put_open(&put, NULL, '{');
	nt_fields_put(&put, &nt_stacks_fields, stacks);
	nt_json_put_open(&put, NT_STACKS_LINES, '[');
	while (*text) {
		const size_t bytes = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)bytes, text);
		nt_json_put_quoted(&put, NULL, line);
		text += bytes + (text[bytes] == '\n');
	}
	nt_json_put_close(&put);
	nt_json_put_close(&put);
	return put.used;
}

static bool are_texts(json_object *array)
{
	for (size_t i = 0; array && i < json_object_array_length(array); i++) {
		if (!json_object_is_type(json_object_array_get_idx(array, i), json_type_string))
			return false;
	}
	return true;
}

int nt_stacks_read(struct nt_stacks *stacks, struct nt_text value)
{
	json_object *object = NULL;
	int rc = -1;

	nt_fields_clear(&nt_stacks_fields, stacks);
	if (nt_json_parse(value.at, value.bytes, &object, NULL) == 0 &&
	    json_object_is_type(object, json_type_object) &&
	    nt_fields_read(&nt_stacks_fields, object, stacks, NT_READ_TO_SHOW, NULL) == 0 &&
	    are_texts(stacks->line_array))
		rc = 0;
	stacks->line_array = rc == 0 ? json_object_get(stacks->line_array) : NULL;
	json_object_put(object);
	return rc;
}

/* gdb: "#1  0x00007f0c in recv_bytes () from ...", py-spy: "    recv_bytes (pipe.py:31)" */
static void add_frame(const char *line, char out[NT_STACKS_TOP])
{
	const bool numbered = line[0] == '#';
	const char *in;

	line += strspn(line, numbered ? "#0123456789 " : " ");
	in = numbered && line[0] == 'x' ? strstr(line, " in ") : NULL;
	line = in ? in + 4 : line;
	nt_append(out, NT_STACKS_TOP, "%s%.*s", out[0] ? " < " : "",
		  (int)strcspn(line, numbered ? " " : ""), line);
}

const char *nt_stacks_top(const struct nt_stacks *stacks, char out[NT_STACKS_TOP])
{
	const size_t count = stacks->line_array ? json_object_array_length(stacks->line_array) : 0;
	size_t frames = 0;

	out[0] = '\0';
	for (size_t i = 1; i < count && frames < TOP_FRAMES; i++) {
		const char *line = json_object_get_string(
			json_object_array_get_idx(stacks->line_array, i));

		if (!line[0] || strncmp(line, "Thread ", 7) == 0)
			break;
		add_frame(line, out);
		frames++;
	}
	return nt_printable(out);
}
