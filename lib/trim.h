/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trim.h - remove the blanks around a text
 *
 * Threads:  pure.
 * Memory:   cuts the text; the result points into it.
 */
#ifndef NT_TRIM_H
#define NT_TRIM_H

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

#endif
