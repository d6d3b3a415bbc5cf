/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* shortform.h - a step of a summary as the step record that goes into accounting (step.h)
 *
 * The rows on which the most time goes come first; those that have no room, and those that are not
 * worth any, are counted by their reasons. Before a row is left out, all rows say less.
 *
 * Threads:  no state of its own; any thread.
 * Memory:   the caller's; what it needs for a while is on the heap.
 * Errors:   0 bytes: not even the members of the step have room, or there is no memory.
 */
#ifndef NT_SHORTFORM_H
#define NT_SHORTFORM_H

#include "record/job-summary.h"

/* Of its first step: at most out_bytes with a NUL and NT_STEP_RECORD_MAX without; its length. */
size_t nt_short_format(const struct nt_summary *summary, char *out, size_t out_bytes);

#endif
