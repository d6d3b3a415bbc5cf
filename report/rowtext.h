/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rowtext.h - why a row is as it is, in sentences
 *
 * Threads:  pure functions, any thread.
 * Memory:   values.
 */
#ifndef NT_ROWTEXT_H
#define NT_ROWTEXT_H

#include "record/summary.h"
#include "report/reasons.h"

/* enum nt_reason of a row; of one from a record that spells none, by its state. */
int nt_row_reason(const struct nt_row *row);

/* The reason of a row: why NCCL's choice stayed, was not decided about, or was left. What is
 * chosen has no reason but what was measured: type "". */
void nt_row_say(struct nt_said *said, const struct nt_row *row);

#endif
