/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* row-text.h - why a row is as it is, in sentences
 *
 * Threads:  pure functions, any thread.
 * Memory:   values.
 */
#ifndef NT_ROWTEXT_H
#define NT_ROWTEXT_H

#include "record/summary.h"
#include "report/text/reasons.h"

/* enum nt_reason of a row; by its state if the record has none. */
int nt_row_reason(const struct nt_key *row);

/* Why NCCL's choice stayed, is undecided or was left. If another arm is in use, the reason is what
 * was measured, and there is no advice. */
void nt_row_say(struct nt_said *said, const struct nt_key *row);

#endif
