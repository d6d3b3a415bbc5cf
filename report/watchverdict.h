/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* watchverdict.h - what a job comes to by now, in words: the same as the report begins with
 *
 * Threads:  no state of its own; any thread.
 * Memory:   the text is the caller's to free.
 * Errors:   NULL without memory.
 */
#ifndef NT_WATCHVERDICT_H
#define NT_WATCHVERDICT_H

#include <stdbool.h>
#include "record/summary.h"

/* Lines, each with its end; "" where there is nothing to say. over: the job has ended; before, not
 * what is not finished, nor the sum. */
char *nt_watch_verdict(const struct nt_summary *summary, bool over);

#endif
