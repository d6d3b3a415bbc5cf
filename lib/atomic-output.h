/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* atomic-output.h - print to a file that is written as a whole, or not at all
 *
 * Memory:   nt_atomic_output_begin() allocates, nt_atomic_output_end() frees; call both.
 * Errors:   -1 and *err.
 */
#ifndef NT_ATOMIC_OUTPUT_H
#define NT_ATOMIC_OUTPUT_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include "lib/error.h"

struct nt_atomic_output {
	FILE *out; /* to print to */
	char *text;
	size_t bytes;
};

int nt_atomic_output_begin(struct nt_atomic_output *draft, struct nt_error *err);

/* rc: the result of printing. If it is 0, the output replaces the file, or goes to stdout ("-").
 * Returns rc, or -1. */
int nt_atomic_output_end(struct nt_atomic_output *draft, int rc, const char *path, mode_t mode,
			 struct nt_error *err);

#endif
