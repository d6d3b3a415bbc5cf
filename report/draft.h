/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* draft.h - a file that is written as a whole, or not at all
 *
 * Memory:   nt_draft_begin() allocates, nt_draft_end() frees; one follows the other.
 * Errors:   -1 with err.
 */
#ifndef NT_REPORT_DRAFT_H
#define NT_REPORT_DRAFT_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include "contract/error.h"

struct nt_draft {
	FILE *out; /* to print to */
	char *text;
	size_t bytes;
};

int nt_draft_begin(struct nt_draft *draft, struct nt_error *err);

/* Where rc, what came of printing, is 0, the file takes the place of what is there; "-" is stdout.
 * Returns rc, or -1. */
int nt_draft_end(struct nt_draft *draft, int rc, const char *path, mode_t mode,
		 struct nt_error *err);

#endif
