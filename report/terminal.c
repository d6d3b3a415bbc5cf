/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.c - see terminal.h */
#include "report/terminal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#define PIECE_BYTES 4096

static char passing(char c)
{
	return (c >= 0x20 && c <= 0x7e) || c == '\n' || c == '\t' ? c : '?';
}

static int write_whole(const char *text, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = write(STDOUT_FILENO, text, bytes);

		if (n < 0 && errno != EINTR)
			return -1;
		text += n > 0 ? n : 0;
		bytes -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* A carriage return passes before the end of a line alone, as comma-separated values have it; else
 * it would hide what stands before it. *returned: one is owed. */
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

/* 0 says that it failed. */
static ssize_t write_clean(void *cookie, const char *text, size_t bytes)
{
	char piece[PIECE_BYTES];
	size_t done = 0;

	while (done < bytes) {
		size_t n = 0;

		while (n + 2 <= sizeof(piece) && done < bytes)
			n += clean(piece + n, text[done++], cookie);
		if (write_whole(piece, n) < 0)
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
