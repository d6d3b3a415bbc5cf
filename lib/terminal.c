/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/terminal.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>
#include "lib/write-all.h"

#define PIECE_BYTES 4096

static char passing(char c)
{
	return (c >= 0x20 && c <= 0x7e) || c == '\n' || c == '\t' ? c : '?';
}

/* A carriage return passes only before a line end, as in CSV; elsewhere it would hide text.
 * *returned: one is pending. */
static size_t clean(char *piece, char c, bool *returned)
{
	size_t n = 0;

	if (*returned)
		piece[n++] = c == '\n' ? '\r' : '?';
	*returned = c == '\r';
	if (!*returned)
		piece[n++] = passing(c);
	return n;
}

static ssize_t write_clean(void *cookie, const char *text, size_t bytes)
{
	char piece[PIECE_BYTES];
	size_t done = 0;

	while (done < bytes) {
		size_t n = 0;

		while (n + 2 <= sizeof(piece) && done < bytes)
			n += clean(piece + n, text[done++], cookie);
		if (nt_write_all(STDOUT_FILENO, piece, n) < 0)
			return 0;
	}
	return (ssize_t)bytes;
}

void nt_terminal_clean(void)
{
	static bool returned;
	FILE *stream = fopencookie(&returned, "w", (cookie_io_functions_t){ .write = write_clean });

	if (!stream)
		return;
	if (isatty(STDOUT_FILENO))
		setvbuf(stream, NULL, _IOLBF, 0);
	stdout = stream;
}
