/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/ini.h"

#include <ini.h>
#include <stdbool.h>
#include <string.h>

struct reading {
	const char *name, *at, *end;
	unsigned line;
	nt_ini_take *take;
	void *context;
	bool failed;
	struct nt_error *err;
};

static void fail_at(struct reading *r, const char *what)
{
	if (!r->failed)
		nt_error_set(r->err, "%.80s:%u: %s", r->name, r->line, what);
	r->failed = true;
}

static bool is_plain(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] < ' ' || text[i] > '~')
			return false;
	}
	return true;
}

/* "[name]", perhaps with a comment. */
static void open_section(struct reading *r, const char *line, size_t length)
{
	const char *close = memchr(line, ']', length);
	char name[NT_INI_NAME_MAX + 1];
	struct nt_error why;
	size_t bytes, rest;

	if (!close) {
		fail_at(r, "want [section] with a ']' at its end");
		return;
	}
	bytes = (size_t)(close - line) - 1;
	rest = strspn(close + 1, " ");
	if (bytes > NT_INI_NAME_MAX) {
		fail_at(r, "the name of a section is longer than 48 bytes");
	} else if (close[1 + rest] != '\0' && close[1 + rest] != ';' && close[1 + rest] != '#') {
		fail_at(r, "want [section] and nothing after it");
	} else {
		memcpy(name, line + 1, bytes);
		name[bytes] = '\0';
		if (r->take(r->context, r->line, name, NULL, NULL, &why) < 0)
			fail_at(r, why.text);
	}
}

static bool is_blank(const char *line)
{
	return line[strspn(line, " ")] == '\0';
}

static void look_at(struct reading *r, const char *line, size_t length)
{
	const bool indented = line[0] == ' ';
	const char *first = line + strspn(line, " ");

	if (!is_plain(line, length))
		fail_at(r, "the line has a character that is not printable ASCII");
	else if (line[0] == '[')
		open_section(r, line, length);
	else if (indented && first[0] != '\0' && first[0] != ';' && first[0] != '#')
		fail_at(r, "the line begins with a blank; a value must be on one line");
	else if (!is_blank(line) && first[0] != ';' && first[0] != '#' && !strchr(line, '='))
		fail_at(r, "want [section] or key = value");
}

/* Tabs become blanks, so that a message with a value moves no cursor. */
static void drop_blanks(char *line, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (line[i] == '\t')
			line[i] = ' ';
	}
}

/* inih asks for one line at a time, so the number is known. */
static char *next_line(char *out, int size, void *stream)
{
	struct reading *r = stream;
	const char *end;
	size_t length;

	if (r->failed || r->at >= r->end)
		return NULL;
	end = memchr(r->at, '\n', (size_t)(r->end - r->at));
	length = (size_t)((end ? end : r->end) - r->at);
	r->line++;
	if (length > NT_INI_LINE_MAX || length + 2 > (size_t)size) {
		fail_at(r, "the line is longer than 190 bytes");
		return NULL;
	}
	memcpy(out, r->at, length);
	out[length] = '\0';
	r->at += length + (end ? 1 : 0);
	drop_blanks(out, length);
	look_at(r, out, length);
	if (r->failed)
		return NULL;
	out[length] = '\n';
	out[length + 1] = '\0';
	return out;
}

static int take_pair(void *context, const char *section, const char *key, const char *value
#if defined(INI_HANDLER_LINENO) && INI_HANDLER_LINENO
		     ,
		     int line
#endif
)
{
	struct reading *r = context;
	struct nt_error why;

#if defined(INI_HANDLER_LINENO) && INI_HANDLER_LINENO
	(void)line;
#endif
	if (r->failed)
		return 0;
	/* Some builds of inih report sections. */
	if (!key)
		return 1;
	if (r->take(r->context, r->line, section, key, value ? value : "", &why) < 0)
		fail_at(r, why.text);
	return !r->failed;
}

int nt_ini_read(const char *name, const char *text, size_t bytes, nt_ini_take *take, void *context,
		struct nt_error *err)
{
	struct reading r = {
		.name = name,
		.at = text,
		.end = text + bytes,
		.take = take,
		.context = context,
		.err = err,
	};
	int rc;

	if (bytes > NT_INI_FILE_MAX)
		return nt_error_set(err, "%.80s: longer than %d bytes", name, NT_INI_FILE_MAX);
	rc = ini_parse_stream(next_line, &r, take_pair, &r);
	if (r.failed)
		return -1;
	if (rc != 0)
		return nt_error_set(err, "%.80s:%d: not understood", name, rc);
	return 0;
}
