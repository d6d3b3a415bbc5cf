/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* shortform.h - format a step of a summary as the step record for accounting (step.h)
 *
 * Rows that take the most time come first; others are counted by reason. Before a row is omitted,
 * all rows get fewer members.
 *
 * Threads:  no state of its own; any thread.
 * Memory:   the caller's.
 * Errors:   0 bytes: no room even for the members of the step, or no memory.
 */
#ifndef NT_SHORTFORM_H
#define NT_SHORTFORM_H

#include "record/job-summary.h"

/* Of its first step: at most out_bytes with its NUL, and NT_STEP_RECORD_MAX without. Returns its
 * length. */
size_t nt_short_format(const struct nt_summary *summary, char *out, size_t out_bytes);

#endif
