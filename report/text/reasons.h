/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* reasons.h - a reason as in a report: a sentence, and advice
 *
 * Threads:  pure functions, any thread.
 * Memory:   values.
 */
#ifndef NT_REASONS_H
#define NT_REASONS_H

#include "contract/reason.h"

/* What a sentence may name besides arguments; NULL, "" and NAN: unknown. */
struct nt_reason_facts {
	const char *auto_arm; /* NCCL's choice */
	const char *arm; /* the best arm that was not chosen */
	double gain_percent, p; /* its */
};

struct nt_said {
	int reason; /* enum nt_reason_id */
	char says[NT_REASON_SENTENCE_MAX]; /* "": there is nothing to say */
	char type[NT_REASON_ADVICE_MAX];
};

void nt_said_why(struct nt_said *said, const struct nt_reason *why);
/* A reason without arguments, of a key. facts: NULL for none. */
void nt_said_key(struct nt_said *said, int reason, const struct nt_reason_facts *facts);

#endif
