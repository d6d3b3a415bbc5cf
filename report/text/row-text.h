/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* row-text.h - why a row is as it is, in sentences
 *
 * Threads:  pure functions, any thread.
 * Memory:   values.
 */
#ifndef NT_ROWTEXT_H
#define NT_ROWTEXT_H

#include "record/job-summary.h"
#include "report/text/reasons.h"

/* enum nt_reason of a row; by its state if the record has none. */
int nt_row_reason(const struct nt_key *row);

/* Why NCCL's choice stays, is undecided or was replaced; in the last case without advice. Never
 * advises what the step already does. */
void nt_row_say(struct nt_said *said, const struct nt_summary *summary, const struct nt_key *row);

/* What exploring a row still takes. */
struct nt_exploring {
	int64_t calls; /* of all; -1: not known */
	double seconds; /* until the last of them is done; NAN: not known */
};
struct nt_exploring nt_row_exploring(const struct nt_key *row, const struct nt_step *step);

/* "as of 14:03:22, still exploring, 45 more calls (about 3.0 s)". Returns out. */
const char *nt_exploring_words(const struct nt_step *step, const struct nt_exploring *left,
			       char *out, size_t out_bytes);

#endif
