/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* table-file.h - where a test writes what a file of the source tree should be
 *
 * Tests compare files with the tables of the sources that they follow from. If they differ, the
 * expected file is written to the working directory, or with NT_WRITE set to the source tree.
 */
#ifndef NT_TESTS_TABLE_FILE_H
#define NT_TESTS_TABLE_FILE_H

#include <stdio.h>
#include <stdlib.h>

static inline const char *table_file_path(char *path, size_t bytes, const char *directory,
					  const char *name, const char *suffix)
{
	const char *top = getenv("top_srcdir");

	if (getenv("NT_WRITE"))
		snprintf(path, bytes, "%s/%s/%s%s", top ? top : ".", directory, name, suffix);
	else
		snprintf(path, bytes, "%s%s", name, suffix);
	return path;
}

#endif
