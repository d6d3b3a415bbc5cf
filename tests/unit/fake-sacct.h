/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* fake-sacct.h - a directory, first in PATH, for the test's own sacct
 *
 * For cmocka's setup and teardown; the test's state is the directory's path. After cmocka.h.
 */
#ifndef NT_FAKE_SACCT_H
#define NT_FAKE_SACCT_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* sacct is a shell script of these lines from here on. */
static inline void fake_sacct(const char *directory, const char *script)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/sacct", directory);
	file = fopen(path, "we");
	assert_non_null(file);
	fprintf(file, "#!/bin/sh\n%s\n", script);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0700), 0);
}

static inline int make_sacct_directory(void **state)
{
	static char directory[64];
	char path[4096];

	snprintf(directory, sizeof(directory), "/tmp/nt-sacct.XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s:%s", directory, getenv("PATH"));
	setenv("PATH", path, 1);
	*state = directory;
	return 0;
}

/* A file that is left in it fails the test. */
static inline int remove_sacct_directory(void **state)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/sacct", (char *)*state);
	unlink(path);
	return rmdir(*state);
}

#endif
