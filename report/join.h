/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* join.h - one text of a job's record, from all the places where parts of it may be
 *
 * Threads:  pure functions, any thread.
 * Memory:   *joined is malloc'ed and replaced; the caller frees it.
 * Errors:   -1 when memory runs out; *joined is then as it was.
 */
#ifndef NT_JOIN_H
#define NT_JOIN_H

#include <stddef.h>

#define NT_JOIN_STEPS 80 /* names of steps for a sentence, with a NUL */

/* Add the steps of other's record that *joined does not have: what is there already counts. added
 * gets their names, "0, 1", or "". Where *joined is no record it becomes other's. */
int nt_join(char **joined, const char *other, char added[NT_JOIN_STEPS]);

/* The steps go that earlier's record has of the same run of the job; with them what others have
 * beside ours. */
int nt_join_without(char **text, const char *earlier);

/* The same as the first for one step's record. */
int nt_join_step(char **joined, const char *step, const char *record, char added[NT_JOIN_STEPS]);

#endif
