/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* argv.h - a command line, made word by word
 *
 * Threads:  one at a time for one line.
 * Memory:   nt_argv_fini frees the words; all zero at first.
 * Errors:   failed: no memory, or no room; what was added since is missing.
 */
#ifndef NT_ARGV_H
#define NT_ARGV_H

#include <stdbool.h>

#define NT_ARGV_MAX 48

struct nt_argv {
	char *word[NT_ARGV_MAX + 1]; /* as exec() takes them, with a NULL behind the last */
	unsigned count;
	bool failed;
};

void nt_argv_add(struct nt_argv *argv, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void nt_argv_fini(struct nt_argv *argv);

#endif
