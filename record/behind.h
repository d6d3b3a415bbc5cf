/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* behind.h - which ranks have not begun a call that others wait in
 *
 * Ranks of a communicator make the same calls in the same order. If some have begun more than
 * others and nobody begins another for long, those with the fewest are behind: the others are in
 * the next call and cannot leave it. While a program computes or saves, all have begun the same
 * calls, or soon begin more. Ranks that wait in a call of another communicator are not named,
 * unless all wait for each other. A call that ends on no rank looks like computing, and is not
 * reported.
 *
 * Threads:  pure functions, any thread.
 * Memory:   nt_behind_find allocates its result; NULL and *count 0: nothing is known, or no memory.
 * Units:    milliseconds.
 */
#ifndef NT_RECORD_BEHIND_H
#define NT_RECORD_BEHIND_H

#include "record/calls-record.h"

#define NT_BEHIND_NAMED 3
#define NT_BEHIND_END_MS 2000 /* at the end of a step, a shorter wait is none */

struct nt_behind {
	size_t first, heard; /* its ranks in the list */
	int64_t ranks, nodes;
	int64_t least, most; /* calls that its ranks have begun */
	size_t late; /* ranks that have begun only `least` */
	size_t named[NT_BEHIND_NAMED]; /* indexes of the first of these */
	int coll; /* of call least + 1, or of the newest if no rank is late; -1 unknown */
	int64_t bytes;
	int64_t still_ms; /* since the newest call began, when last seen */
	bool still; /* for long */
	bool stalled; /* and some wait for others */
	bool open; /* in use, and a process had not ended by itself */
	bool root; /* stalled, and not because of another one */
};

/* Sorts by communicator and rank; of two entries of a rank the newer process is kept. Returns the
 * number of ranks. */
size_t nt_behind_sort(struct nt_calls_rank *ranks, size_t count);

/* The ranks of a communicator in a sorted list: the first, and their number. */
size_t nt_behind_ranks(const struct nt_calls_rank *ranks, size_t count, const char *id,
		       int64_t comm_ranks, size_t *first);

/* ranks: sorted. running: the step runs, so the setting stall applies. */
struct nt_behind *nt_behind_find(const struct nt_calls_rank *ranks, size_t rank_count, bool running,
				 size_t *count);

/* NT_REASON_BEHIND for a stalled one, else NT_REASON_LAST_CALLS. */
void nt_behind_why(const struct nt_behind *behind, const struct nt_calls_rank *ranks,
		   struct nt_reason *why);

#endif
