/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/html.h"

#include <string.h>

/* In JSON these characters occur only in strings, where they may be escaped. The page is UTF-8, as
 * names from accounting are; the browser replaces what is not. */
static void put_json(FILE *out, const char *text)
{
	for (; *text; text++) {
		const unsigned char letter = (unsigned char)*text;

		if (strchr("<>&\x7f", letter))
			fprintf(out, "\\u%04x", letter);
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
