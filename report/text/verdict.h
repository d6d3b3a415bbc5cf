/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - the outcome of tuning a job in sentences
 *
 * Every sentence follows from the rows, steps and remarks of a summary; what cannot be known from
 * them is not said. Text, page, --follow and demo show the same sentences.
 *
 * Threads:  pure functions, any thread.
 * Memory:   nt_verdict_fini frees the sentences; they are copies.
 * Errors:   -1 when memory runs out.
 * Units:    texts say theirs; ASCII, microseconds as "us".
 */
#ifndef NT_REPORT_VERDICT_H
#define NT_REPORT_VERDICT_H

#include "lib/error.h"
#include "record/job-summary.h"
#include "report/text/sentence.h"

int nt_verdict_make(struct nt_verdict_text *verdict, const struct nt_summary *summary,
		    struct nt_error *err);
void nt_verdict_fini(struct nt_verdict_text *verdict);

#endif
