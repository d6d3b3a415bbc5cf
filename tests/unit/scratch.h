/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* scratch.h - a directory of a test's own: cmocka's setup and teardown, and files in it
 *
 * After cmocka.h.
 */
#ifndef NT_TEST_SCRATCH_H
#define NT_TEST_SCRATCH_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char top[32];

static inline int make_top(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/nt-unit.XXXXXX");
	return mkdtemp(top) ? 0 : -1;
}

static inline int remove_top(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return system(command);
}

static inline void write_file(const char *name, const void *data, size_t bytes)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *name, const char *text)
{
	write_file(name, text, strlen(text));
}

#endif
