/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* headline.h - the verdict on a job so far, in the sentences that begin its report
 *
 * Threads:  no state of its own; any thread.
 * Memory:   the text is the caller's to free.
 * Errors:   NULL without memory.
 */
#ifndef NT_WATCHVERDICT_H
#define NT_WATCHVERDICT_H

#include <stdbool.h>
#include "record/job-summary.h"

/* Lines, each with a newline; "" if there is nothing to say. Unless over, which means that the job
 * has ended, sentences on unfinished work and on the net time are left out. */
char *nt_watch_verdict(const struct nt_summary *summary, bool over);

#endif
