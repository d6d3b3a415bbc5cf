/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trim.h - remove the blanks around a text; what a text ends with
 *
 * Threads:  pure.
 * Memory:   nt_trim cuts the text; its result points into it.
 */
#ifndef NT_TRIM_H
#define NT_TRIM_H

#include <stdbool.h>
#include <string.h>

#define NT_BLANKS " \t\r\n"

static inline char *nt_trim(char *text)
{
	size_t length;

	text += strspn(text, NT_BLANKS);
	length = strlen(text);
	while (length > 0 && strchr(NT_BLANKS, text[length - 1]) != NULL)
		text[--length] = '\0';
	return text;
}

/* Of a text that is longer than this. */
static inline bool nt_ends_with(const char *text, const char *end)
{
	const size_t bytes = strlen(text), end_bytes = strlen(end);

	return bytes > end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

#endif
