/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* record-merge.h - merge the parts of a job's record from several places into one text
 *
 * Threads:  pure functions, any thread.
 * Memory:   *joined is malloc'ed and replaced; the caller frees it.
 * Errors:   -1 when memory runs out; *joined is then as it was.
 */
#ifndef NT_JOIN_H
#define NT_JOIN_H

#include <stdbool.h>
#include <stddef.h>

#define NT_JOIN_STEPS 80 /* names of steps for a sentence, with a NUL */

/* Add the steps of other's record that *joined does not have; a step in *joined stays. added gets
 * their names, "0, 1", or "". If *joined is not a record, it becomes other's. */
int nt_record_merge(char **joined, const char *other, char added[NT_JOIN_STEPS]);

/* Remove the steps that earlier's record has of the same run. If there are any, members of other
 * programs next to ours are removed, too. */
int nt_record_merge_without(char **text, const char *earlier);

/* Move the steps of that run of the job from *text to *to, unless *to has them; NULL: nowhere. */
int nt_record_merge_move_run(char **text, long run, char **to);

/* Is it a record without a step? */
bool nt_record_merge_is_empty(const char *text);

/* The same as the first for one step's record. */
int nt_record_merge_step(char **joined, const char *step, const char *record,
			 char added[NT_JOIN_STEPS]);

#endif
