/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/html.h"

#include <stdint.h>
#include <string.h>

#define REPLACEMENT 0xfffd

/* The code of the character at text, which is not ASCII, and its bytes. A byte that is not UTF-8 is
 * replaced. */
static uint32_t character(const char *text, size_t *bytes)
{
	const unsigned char *at = (const unsigned char *)text;
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t want = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
	uint32_t code = at[0] & (0xffu >> (want + 1));

	*bytes = 1;
	if (at[0] < 0xc0 || at[0] > 0xf4)
		return REPLACEMENT;
	for (size_t i = 1; i < want; i++) {
		if ((at[i] & 0xc0) != 0x80) /* also at the end of text */
			return REPLACEMENT;
		code = code << 6 | (at[i] & 0x3f);
	}
	if (code < least[want] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return REPLACEMENT;
	*bytes = want;
	return code;
}

static void put_escaped(FILE *out, uint32_t code)
{
	if (code >= 0x10000) {
		code -= 0x10000;
		fprintf(out, "\\u%04x", (unsigned)(0xd800 + (code >> 10)));
		code = 0xdc00 + (code & 0x3ff);
	}
	fprintf(out, "\\u%04x", (unsigned)code);
}

/* In JSON these characters occur only in strings, where they may be escaped. */
static void put_json(FILE *out, const char *text)
{
	size_t bytes;

	for (; *text; text += bytes) {
		unsigned char letter = (unsigned char)*text;

		bytes = 1;
		if (letter >= 0x80)
			put_escaped(out, character(text, &bytes));
		else if (letter == '<' || letter == '>' || letter == '&' || letter == 0x7f)
			put_escaped(out, letter);
		else
			putc(letter, out);
	}
}

void nt_html_write(FILE *out, json_object *jobs)
{
	const char *text = json_object_to_json_string_ext(
		jobs, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

	fputs(nt_html_head, out);
	fprintf(out, "{\"version\":\"%s\",\"jobs\":", PACKAGE_VERSION);
	put_json(out, text ? text : "[]");
	putc('}', out);
	fputs(nt_html_tail, out);
}
