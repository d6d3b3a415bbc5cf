/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/printable.h"

#include <string.h>

static char is_printable(char c)
{
	return c >= 0x20 && c <= 0x7e ? c : '?';
}

int nt_printable_copy(char *out, size_t out_bytes, const char *text, size_t text_bytes)
{
	size_t i;

	for (i = 0; i < text_bytes && i + 1 < out_bytes; i++)
		out[i] = is_printable(text[i]);
	out[i] = '\0';
	return i == text_bytes ? 0 : -1;
}

char *nt_printable(char *text)
{
	for (char *c = text; *c; c++)
		*c = is_printable(*c);
	return text;
}

char *nt_printable_json(char *text)
{
	static const char from[] = "\"\\{}|", to[] = "'/():";

	for (char *c = nt_printable(text); *c; c++) {
		const char *found = strchr(from, *c);

		if (found)
			*c = to[found - from];
	}
	return text;
}

const char *nt_shown(struct nt_shown *shown, const char *text)
{
	(void)nt_printable_copy(shown->text, sizeof(shown->text), text, strlen(text));
	return shown->text;
}
