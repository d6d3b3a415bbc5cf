/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* compare-text.h - two jobs side by side, as text of at most 80 columns
 *
 * Threads:  no state of its own.
 * Memory:   the caller's.
 * Errors:   -1 and *err when memory runs out; write errors stay on the stream (ferror).
 */
#ifndef NT_COMPARE_TEXT_H
#define NT_COMPARE_TEXT_H

#include <stdio.h>
#include "report/model/job-compare.h"

/* title: of each job, "4711 (train)". */
int nt_job_comparison_print(FILE *out, const char *const title[2],
			    const struct nt_job_comparison *comparison, struct nt_error *err);

#endif
