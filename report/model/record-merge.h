/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* record-merge.h - merge the parts of a job's record into one text
 *
 * Threads:  pure functions, any thread.
 * Memory:   *joined is malloc'ed and replaced; the caller frees it.
 * Errors:   -1 when memory runs out; *joined is then as it was.
 */
#ifndef NT_JOIN_H
#define NT_JOIN_H

#include <stdbool.h>
#include <stddef.h>

/* Add a step's record, unless *joined has one of the step. If *joined is not a record, it becomes
 * one. */
int nt_record_merge_step(char **joined, const char *step, const char *record);

/* Remove the steps that earlier's record has of the same run. If there are any, members of other
 * programs next to ours are removed, too. */
int nt_record_merge_without(char **text, const char *earlier);

/* Move the steps of that run of the job from *text to *to, unless *to has them; NULL: nowhere. */
int nt_record_merge_move_run(char **text, long run, char **to);

/* Is it a record without a step? */
bool nt_record_merge_is_empty(const char *text);

#endif
