/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* argv.h - build a command line, word by word
 *
 * Threads:  one at a time for one line.
 * Memory:   starts all zero; nt_argv_fini frees the words.
 * Errors:   failed: no memory or room; later words are missing.
 */
#ifndef NT_ARGV_H
#define NT_ARGV_H

#include <stdbool.h>

#define NT_ARGV_MAX 48

struct nt_argv {
	char *word[NT_ARGV_MAX + 1]; /* for exec(), ends with NULL */
	unsigned count;
	bool failed;
};

void nt_argv_add(struct nt_argv *argv, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void nt_argv_fini(struct nt_argv *argv);

#endif
