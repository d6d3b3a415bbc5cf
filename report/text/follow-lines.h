/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* follow-lines.h - a running job in a few lines: what the report says first, and what is being
 * explored or calibrated
 *
 * Threads:  pure functions, any thread.
 * Memory:   values.
 * Errors:   -1 and *err when memory runs out.
 */
#ifndef NT_FOLLOW_LINES_H
#define NT_FOLLOW_LINES_H

#include "record/job-summary.h"

#define NT_FOLLOW_LINES 32
#define NT_FOLLOW_TEXT 900

/* All bytes behind a line are 0. */
struct nt_follow_lines {
	char text[NT_FOLLOW_LINES][NT_FOLLOW_TEXT];
	size_t count;
};

/* state: of the job, in words; NULL: unknown. over: it has ended. */
int nt_follow_lines_make(struct nt_follow_lines *lines, const char *job, const char *state,
			 bool over, const struct nt_summary *summary, struct nt_error *err);
bool nt_follow_lines_have(const struct nt_follow_lines *lines, const char *text);

#endif
