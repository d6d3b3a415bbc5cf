/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* behind.h - which ranks have not begun a call that others wait in
 *
 * Ranks of a communicator issue the same calls in the same order. Where some have begun more than
 * others, and nobody begins another for long, those with the fewest are behind: the others are in
 * the next call, and cannot leave it. While a program computes, saves or evaluates, all have begun
 * the same calls, or begin more soon. Ranks that themselves wait in a call of another communicator
 * are not named, except where all wait for each other. What nobody begins because a call does not
 * end on any rank cannot be told from computing, and is not told.
 *
 * Threads:  pure functions, any thread.
 * Memory:   nt_behind_find allocates what it returns; NULL with *count 0: nothing is known, or no
 *           memory.
 * Units:    milliseconds; NT_BEHIND_* in the same.
 */
#ifndef NT_RECORD_BEHIND_H
#define NT_RECORD_BEHIND_H

#include "record/calls.h"

#define NT_BEHIND_NAMED 3 /* ranks that are named */
#define NT_BEHIND_END_MS 2000 /* after the end of a step: a wait of less is none */

struct nt_behind {
	size_t first, heard; /* its ranks in the list */
	int64_t ranks, nodes;
	int64_t least, most; /* calls that its ranks have begun */
	size_t late; /* ranks that have begun `least` only */
	size_t named[NT_BEHIND_NAMED]; /* index of the first of these, in order of their ranks */
	int coll; /* of call number least + 1, or of the newest if none is late; -1: not known */
	int64_t bytes;
	int64_t still_ms; /* how long nobody had begun another when they were last seen */
	bool still; /* for long, that is */
	bool stalled; /* ... and some wait for others */
	bool open; /* a process had not ended by itself, and the communicator was in use */
	bool root; /* of those that are stalled: what the others follow from */
};

/* Puts ranks in order by communicator and rank; of a rank that is told twice the newest process
 * is kept. Returns how many are. */
size_t nt_behind_sort(struct nt_calls_rank *ranks, size_t count);

/* The ranks of a communicator, in a list in order: the first, and how many. */
size_t nt_behind_ranks(const struct nt_calls_rank *ranks, size_t count, const char *id,
		       int64_t comm_ranks, size_t *first);

/* ranks: in order. running: the step runs, so the setting stall says what is long. */
struct nt_behind *nt_behind_find(const struct nt_calls_rank *ranks, size_t rank_count, bool running,
				 size_t *count);

/* What to say of a stalled one (NT_REASON_BEHIND), and of another (NT_REASON_LAST_CALLS). */
void nt_behind_why(const struct nt_behind *behind, const struct nt_calls_rank *ranks,
		   struct nt_reason *why);

#endif
