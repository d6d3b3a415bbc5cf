/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/wrap.h"

#include <stdbool.h>
#include <string.h>

void nt_wrap(FILE *out, const char *first, int rest, const char *text)
{
	int column = (int)strlen(first);
	bool begun = false; /* the line has a word */

	fputs(first, out);
	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		int bytes = (int)strcspn(text, " ");

		if (begun && column + 1 + bytes > NT_WRAP_COLUMNS) {
			fprintf(out, "\n%*s", rest, "");
			column = rest;
			begun = false;
		}
		column += fprintf(out, "%s%.*s", begun ? " " : "", bytes, text);
		begun = true;
		text += bytes;
	}
	fputc('\n', out);
}
