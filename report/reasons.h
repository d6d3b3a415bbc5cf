/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* reasons.h - every reason that a record gives, as a sentence and what to type about it
 *
 * Records name a reason in few words, which differ in details (a rank's number, a node's name). One
 * table has all of them: of collectives and sizes (why NCCL's choice stayed, why nothing was
 * decided, why there is no time), of communicators and of steps (why nothing was tuned). A text
 * that the table does not know is said as it is.
 *
 * Threads:  pure functions over a constant table; any thread.
 * Memory:   values.
 */
#ifndef NT_REASONS_H
#define NT_REASONS_H

#include <stddef.h>

enum nt_reason_of { NT_REASON_KEY, NT_REASON_COMM, NT_REASON_STEP };

struct nt_reason {
	enum nt_reason_of of;
	const char *code; /* for programs; stays what it is */
	const char *words; /* in a record; '*' is what differs */
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
	const struct nt_reason *reason; /* NULL: the table does not know it */
	char says[400];
	char type[240];
};

/* why: as it stands in a record, without the communicator's shape. facts: NULL for none. */
void nt_reason_say(struct nt_said *said, const char *why, const struct nt_reason_facts *facts);

/* The entry of that code; NULL: there is none. */
const struct nt_reason *nt_reason_find(const char *code);

/* The table, for tests and documents: an entry, NULL behind the last. */
const struct nt_reason *nt_reason_at(size_t index);

#endif
