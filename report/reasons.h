/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* reasons.h - every reason that a record gives, as a sentence and what to type about it
 *
 * record/reason.h has the reasons and their codes. Some say different things by the words of a rank
 * record (a rank's number, a node's name, which file is missing), which a record's remarks keep.
 * What the table does not know is said in those words.
 *
 * Threads:  pure functions over a constant table; any thread.
 * Memory:   values.
 */
#ifndef NT_REASONS_H
#define NT_REASONS_H

#include <stddef.h>
#include "record/reason.h"
#include "record/summary.h"

/* A remark that is no reason for not tuning, see record/summary.c. */
#define NT_NOT_IN_FULL "this record was not kept in full"

struct nt_reason_words {
	int reason; /* enum nt_reason */
	const char *words; /* that a record must have, '*' for what differs; NULL: any, or none */
	const char *says; /* {1}, {2}: what differs; {auto}, {arm}, {gain}, {p}: see below */
	const char *type; /* what to do, or that there is nothing to do */
};

/* What a sentence may name beside the words; NULL or "", and NAN: not known. */
struct nt_reason_facts {
	const char *auto_arm; /* NCCL's choice */
	const char *arm; /* the best one that was not chosen */
	double gain_percent, p; /* its */
};

struct nt_said {
	int reason;
	char says[480]; /* "": there is nothing to say */
	char type[240];
};

/* words: as a record has them, without the communicator's shape; NULL: none. facts: NULL for
 * none. */
void nt_reason_say(struct nt_said *said, int reason, const char *words,
		   const struct nt_reason_facts *facts);
void nt_remark_say(struct nt_said *said, const struct nt_remark *remark);

/* The table, for tests and documents: an entry, NULL behind the last. */
const struct nt_reason_words *nt_reason_at(size_t index);

#endif
