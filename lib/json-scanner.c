/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/json-scanner.h"

#include <ctype.h>
#include <string.h>

/* One byte, or -1 at the end. */
static int peek_at(struct nt_text text, size_t pos)
{
	return pos < text.bytes ? (unsigned char)text.at[pos] : -1;
}

static size_t skip_space(struct nt_text text, size_t pos)
{
	int c = peek_at(text, pos);

	while (c == ' ' || c == '\t' || c == '\n' || c == '\r')
		c = peek_at(text, ++pos);
	return pos;
}

static size_t skip_digits(struct nt_text text, size_t pos)
{
	int c = peek_at(text, pos);

	while (c >= '0' && c <= '9')
		c = peek_at(text, ++pos);
	return pos;
}

static int skip_escape(struct nt_text text, size_t *pos)
{
	int c = peek_at(text, ++*pos);

	if (c < 0 || !strchr("\"\\/bfnrtu", c) || c == '\0')
		return -1;
	for (int i = 0; c == 'u' && i < 4; i++) {
		int digit = peek_at(text, ++*pos);

		if (digit < 0 || !isxdigit(digit))
			return -1;
	}
	++*pos;
	return 0;
}

static int skip_string(struct nt_text text, size_t *pos)
{
	if (peek_at(text, *pos) != '"')
		return -1;
	++*pos;
	for (;;) {
		int c = peek_at(text, *pos);

		if (c < 0x20)
			return -1;
		if (c == '"')
			break;
		if (c != '\\')
			++*pos;
		else if (skip_escape(text, pos) < 0)
			return -1;
	}
	++*pos;
	return 0;
}

static int skip_number(struct nt_text text, size_t *pos)
{
	size_t at = *pos;
	size_t end;

	if (peek_at(text, at) == '-')
		at++;
	end = peek_at(text, at) == '0' ? at + 1 : skip_digits(text, at);
	if (end == at)
		return -1;
	if (peek_at(text, end) == '.') {
		at = end + 1;
		end = skip_digits(text, at);
		if (end == at)
			return -1;
	}
	if (peek_at(text, end) == 'e' || peek_at(text, end) == 'E') {
		at = end + 1;
		if (peek_at(text, at) == '+' || peek_at(text, at) == '-')
			at++;
		end = skip_digits(text, at);
		if (end == at)
			return -1;
	}
	*pos = end;
	return 0;
}

static int skip_scalar(struct nt_text text, size_t *pos)
{
	static const char *const words[] = { "true", "false", "null" };

	if (peek_at(text, *pos) == '"')
		return skip_string(text, pos);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i]);

		if (text.bytes - *pos >= length && memcmp(text.at + *pos, words[i], length) == 0) {
			*pos += length;
			return 0;
		}
	}
	return skip_number(text, pos);
}

/* "name": and the space around it. */
static int skip_name(struct nt_text text, size_t *pos)
{
	*pos = skip_space(text, *pos);
	if (skip_string(text, pos) < 0)
		return -1;
	*pos = skip_space(text, *pos);
	if (peek_at(text, *pos) != ':')
		return -1;
	*pos = skip_space(text, *pos + 1);
	return 0;
}

/* After a value: closing brackets, then a comma or nothing. 1: another value must follow; 0: the
 * end of the outermost. */
static int skip_behind(struct nt_text text, size_t *pos, const char *closers, int *depth)
{
	while (*depth > 0) {
		size_t at = skip_space(text, *pos);
		int c = peek_at(text, at);

		*pos = at + 1;
		if (c == ',')
			return 1;
		if (c != closers[*depth - 1])
			return -1;
		--*depth;
	}
	return 0;
}

/* No recursion, because the text is untrusted. */
static int skip_value(struct nt_text text, size_t *pos)
{
	char closers[NT_JSON_SCAN_DEPTH];
	int depth = 0;
	int more = 1;

	while (more > 0) {
		int c;

		if (depth > 0 && closers[depth - 1] == '}' && skip_name(text, pos) < 0)
			return -1;
		*pos = skip_space(text, *pos);
		c = peek_at(text, *pos);
		if (c == '{' || c == '[') {
			if (depth == NT_JSON_SCAN_DEPTH)
				return -1;
			closers[depth++] = c == '{' ? '}' : ']';
			*pos = skip_space(text, *pos + 1);
			if (peek_at(text, *pos) != closers[depth - 1])
				continue;
		} else if (skip_scalar(text, pos) < 0) {
			return -1;
		}
		more = skip_behind(text, pos, closers, &depth);
	}
	return more;
}

bool nt_json_scan_is(struct nt_text text, char first)
{
	size_t pos = skip_space(text, 0);

	if (peek_at(text, pos) != first || skip_value(text, &pos) < 0)
		return false;
	return skip_space(text, pos) == text.bytes;
}

void nt_json_scan_begin(struct nt_json_scanner *scan, struct nt_text text)
{
	scan->text = text;
	scan->pos = skip_space(text, 0);
	scan->open = false;
}

int nt_json_scan_next(struct nt_json_scanner *scan, struct nt_json_member *member)
{
	int c = peek_at(scan->text, scan->pos);
	size_t start;

	if (!scan->open && c != '{')
		return -1;
	if (scan->open && c == '}')
		return 0;
	if (scan->open && c != ',')
		return -1;
	start = skip_space(scan->text, scan->pos + 1);
	if (!scan->open && peek_at(scan->text, start) == '}') {
		scan->open = true;
		scan->pos = start;
		return 0;
	}
	scan->open = true;
	scan->pos = start;
	if (skip_string(scan->text, &scan->pos) < 0)
		return -1;
	member->name.at = scan->text.at + start + 1;
	member->name.bytes = scan->pos - start - 2;
	scan->pos = start;
	if (skip_name(scan->text, &scan->pos) < 0)
		return -1;
	start = scan->pos;
	if (skip_value(scan->text, &scan->pos) < 0)
		return -1;
	member->value.at = scan->text.at + start;
	member->value.bytes = scan->pos - start;
	scan->pos = skip_space(scan->text, scan->pos);
	return 1;
}

bool nt_json_scan_member(struct nt_text text, const char *name, struct nt_text *value)
{
	struct nt_json_member member;
	struct nt_json_scanner scan;
	bool found = false;

	nt_json_scan_begin(&scan, text);
	while (nt_json_scan_next(&scan, &member) > 0) {
		if (nt_text_is(member.name, name)) {
			*value = member.value;
			found = true;
		}
	}
	return found;
}

size_t nt_json_scan_count(struct nt_text text)
{
	struct nt_json_member member;
	struct nt_json_scanner scan;
	size_t count = 0;

	nt_json_scan_begin(&scan, text);
	while (nt_json_scan_next(&scan, &member) > 0)
		count++;
	return count;
}

bool nt_json_scan_text(struct nt_text array, size_t *pos, struct nt_text *text)
{
	const char *end = array.at + array.bytes, *close;
	const char *open = memchr(array.at + *pos, '"', array.bytes - *pos);

	close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
	if (!close)
		return false;
	*text = (struct nt_text){ open + 1, (size_t)(close - open - 1) };
	*pos = (size_t)(close + 1 - array.at);
	return true;
}

bool nt_text_is(struct nt_text text, const char *word)
{
	return strlen(word) == text.bytes && memcmp(text.at, word, text.bytes) == 0;
}

bool nt_text_begins(struct nt_text text, const char *with)
{
	return text.bytes >= strlen(with) && memcmp(text.at, with, strlen(with)) == 0;
}

struct nt_text nt_text_of(const char *string)
{
	return (struct nt_text){ string, strlen(string) };
}
