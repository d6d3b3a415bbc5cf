/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/behind.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/append.h"
#include "lib/compare.h"
#include "lib/plural.h"
#include "lib/size.h"

#define GONE_MS 2000 /* a process looks at least every 200 ms */

/* ---- ranks in order */

/* Compares the rank's communicator with that of an id and a number of ranks. */
static int compare_comm(const struct nt_calls_rank *rank, const char *id, int64_t ranks)
{
	const int rc = strcmp(rank->id, id);

	if (rc != 0)
		return rc;
	NT_COMPARE(rank->ranks, ranks);
	return 0;
}

static int by_comm(const void *left, const void *right)
{
	const struct nt_calls_rank *a = left, *b = right;
	const int rc = compare_comm(a, b->id, b->ranks);

	if (rc != 0)
		return rc;
	NT_COMPARE(a->rank, b->rank);
	NT_COMPARE(b->seen_ms, a->seen_ms);
	return 0;
}

static bool same_comm(const struct nt_calls_rank *a, const struct nt_calls_rank *b)
{
	return compare_comm(a, b->id, b->ranks) == 0;
}

static bool same_process(const struct nt_calls_rank *a, const struct nt_calls_rank *b)
{
	return a->pid == b->pid && a->task == b->task && strcmp(a->node, b->node) == 0;
}

size_t nt_behind_sort(struct nt_calls_rank *ranks, size_t count)
{
	size_t kept = 0;

	if (count > 0)
		qsort(ranks, count, sizeof(*ranks), by_comm);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && same_comm(&ranks[kept - 1], &ranks[i]) &&
		    ranks[kept - 1].rank == ranks[i].rank)
			continue;
		if (kept != i)
			ranks[kept] = ranks[i];
		kept++;
	}
	return kept;
}

/* The first rank that is not before that communicator; with past: that is behind it. */
static size_t bound(const struct nt_calls_rank *ranks, size_t count, const char *id,
		    int64_t comm_ranks, bool past)
{
	size_t low = 0;

	while (low < count) {
		const size_t middle = low + (count - low) / 2;
		const int rc = compare_comm(&ranks[middle], id, comm_ranks);

		if (rc < 0 || (rc == 0 && past))
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

size_t nt_behind_ranks(const struct nt_calls_rank *ranks, size_t count, const char *id,
		       int64_t comm_ranks, size_t *first)
{
	*first = bound(ranks, count, id, comm_ranks, false);
	return bound(ranks, count, id, comm_ranks, true) - *first;
}

/* ---- a communicator */

static int64_t last_seen_ms(const struct nt_behind *behind, const struct nt_calls_rank *ranks)
{
	int64_t seen_ms = 0;

	for (size_t i = behind->first; i < behind->first + behind->heard; i++)
		seen_ms = ranks[i].seen_ms > seen_ms ? ranks[i].seen_ms : seen_ms;
	return seen_ms;
}

/* Which call that was, if a rank remembers it. */
static void find_call(struct nt_behind *behind, const struct nt_calls_rank *ranks, int64_t number)
{
	behind->coll = -1;
	for (size_t i = behind->first; i < behind->first + behind->heard; i++) {
		const int64_t back = ranks[i].begun - number;

		if (number < 1 || back < 0 || back >= ranks[i].last_count)
			continue;
		behind->coll = ranks[i].last[back] >> 8;
		behind->bytes = (int64_t)nt_band_floor(ranks[i].last[back] & 127);
		return;
	}
}

static void note_late(struct nt_behind *behind, const struct nt_calls_rank *ranks)
{
	for (size_t i = behind->first; i < behind->first + behind->heard; i++) {
		if (ranks[i].begun != behind->least)
			continue;
		if (behind->late < NT_BEHIND_NAMED)
			behind->named[behind->late] = i;
		behind->late++;
	}
}

static void judge(struct nt_behind *behind, const struct nt_calls_rank *ranks, bool running)
{
	int64_t moved_ms = 0, stall_s = 0, until_ms = last_seen_ms(behind, ranks), long_ms;
	bool left = true, ended = true;

	behind->least = INT64_MAX;
	for (size_t i = behind->first; i < behind->first + behind->heard; i++) {
		const struct nt_calls_rank *rank = &ranks[i];

		behind->least = rank->begun < behind->least ? rank->begun : behind->least;
		behind->most = rank->begun > behind->most ? rank->begun : behind->most;
		moved_ms = rank->moved_ms > moved_ms ? rank->moved_ms : moved_ms;
		/* While a step runs, nodes report at different times. */
		until_ms = rank->read_ms < until_ms ? rank->read_ms : until_ms;
		stall_s = rank->stall_s > stall_s ? rank->stall_s : stall_s;
		left = left && rank->left;
		ended = ended && rank->end;
		if (rank->nodes > behind->nodes)
			behind->nodes = rank->nodes;
	}
	behind->still_ms = until_ms - moved_ms;
	if (behind->still_ms < 0)
		behind->still_ms = 0;
	long_ms = running ? stall_s * 1000 : NT_BEHIND_END_MS;
	behind->open = !left && !ended && behind->most > 0;
	behind->still = !left && behind->most > 0 && long_ms > 0 && behind->still_ms >= long_ms;
	behind->stalled = behind->still && behind->least < behind->most;
	if (behind->stalled)
		note_late(behind, ranks);
	find_call(behind, ranks, behind->stalled ? behind->least + 1 : behind->most);
}

/* ---- who only waits */

static bool waits_in(const struct nt_behind *behind, const struct nt_calls_rank *ranks,
		     const struct nt_calls_rank *who)
{
	for (size_t i = behind->first; behind->stalled && i < behind->first + behind->heard; i++) {
		if (ranks[i].begun > behind->least && same_process(&ranks[i], who))
			return true;
	}
	return false;
}

static bool waits_elsewhere(const struct nt_behind *all, size_t count, size_t which,
			    const struct nt_calls_rank *ranks, const struct nt_calls_rank *who)
{
	for (size_t i = 0; i < count; i++) {
		if (i != which && waits_in(&all[i], ranks, who))
			return true;
	}
	return false;
}

static bool all_wait_elsewhere(const struct nt_behind *all, size_t count, size_t which,
			       const struct nt_calls_rank *ranks)
{
	const struct nt_behind *behind = &all[which];
	const size_t named = behind->late < NT_BEHIND_NAMED ? behind->late : NT_BEHIND_NAMED;

	for (size_t i = 0; i < named; i++) {
		if (!waits_elsewhere(all, count, which, ranks, &ranks[behind->named[i]]))
			return false;
	}
	return true;
}

static void find_roots(struct nt_behind *all, size_t count, const struct nt_calls_rank *ranks)
{
	size_t roots = 0;

	for (size_t i = 0; i < count; i++) {
		all[i].root = all[i].stalled && !all_wait_elsewhere(all, count, i, ranks);
		roots += all[i].root;
	}
	for (size_t i = 0; i < count && roots == 0; i++)
		all[i].root = all[i].stalled;
}

struct nt_behind *nt_behind_find(const struct nt_calls_rank *ranks, size_t rank_count, bool running,
				 size_t *count)
{
	struct nt_behind *all = calloc(rank_count + 1, sizeof(*all));

	*count = 0;
	if (!all)
		return NULL;
	for (size_t i = 0; i < rank_count; i++) {
		if (i > 0 && same_comm(&ranks[i - 1], &ranks[i])) {
			all[*count - 1].heard++;
			continue;
		}
		all[*count] = (struct nt_behind){ .first = i, .heard = 1, .ranks = ranks[i].ranks };
		(*count)++;
	}
	for (size_t i = 0; i < *count; i++)
		judge(&all[i], ranks, running);
	find_roots(all, *count, ranks);
	return all;
}

/* ---- words */

/* Was its process last seen long before the others'? */
static bool is_gone(const struct nt_behind *behind, const struct nt_calls_rank *ranks, size_t which)
{
	return !ranks[which].end && last_seen_ms(behind, ranks) - ranks[which].seen_ms >= GONE_MS;
}

/* "Rank 3 on n1", "Ranks 3 on n1 (no longer seen), 5 on n2 and 2 more" */
static void name_late(const struct nt_behind *behind, const struct nt_calls_rank *ranks, char *out,
		      size_t out_bytes)
{
	const size_t named = behind->late < NT_BEHIND_NAMED ? behind->late : NT_BEHIND_NAMED;

	snprintf(out, out_bytes, "Rank%s", nt_plural(behind->late));
	for (size_t i = 0; i < named; i++) {
		const struct nt_calls_rank *rank = &ranks[behind->named[i]];

		nt_append(out, out_bytes, "%s %" PRId64 " on %.20s%s", i == 0 ? "" : ",",
			  rank->rank, rank->node,
			  rank->end				     ? " (its process has ended)"
			  : is_gone(behind, ranks, behind->named[i]) ? " (no longer seen)"
								     : "");
	}
	if (behind->late > named)
		nt_append(out, out_bytes, " and %zu more", behind->late - named);
}

/* "AllReduce 64M, call 1204" */
static void name_call(const struct nt_behind *behind, int64_t number, char *out, size_t out_bytes)
{
	char size[24];

	out[0] = '\0';
	if (behind->coll >= 0)
		nt_append(out, out_bytes, "%s %s, ", nt_coll_name(behind->coll),
			  nt_size_text((uint64_t)behind->bytes, size, sizeof(size)));
	nt_append(out, out_bytes, "call %" PRId64, number);
}

static void say_stalled(const struct nt_behind *behind, const struct nt_calls_rank *ranks,
			struct nt_reason *why)
{
	const size_t others = behind->heard - behind->late;
	const bool all = (int64_t)behind->heard == behind->ranks;
	char late[112], call[64];

	name_late(behind, ranks, late, sizeof(late));
	name_call(behind, behind->least + 1, call, sizeof(call));
	nt_reason_setf(why, NT_REASON_BEHIND, "%s:%s:%s%zu other%s:%" PRId64, late, call,
		       all && others > 1 ? "all " : "", others, nt_plural(others),
		       behind->still_ms / 1000);
}

static void say_last(const struct nt_behind *behind, struct nt_reason *why)
{
	char heard[64], calls[64], call[64];

	if ((int64_t)behind->heard == behind->ranks)
		snprintf(heard, sizeof(heard), "all %zu ranks", behind->heard);
	else
		snprintf(heard, sizeof(heard), "%zu of %" PRId64 " ranks", behind->heard,
			 behind->ranks);
	if (behind->least == behind->most)
		snprintf(calls, sizeof(calls), "%" PRId64, behind->most);
	else
		snprintf(calls, sizeof(calls), "%" PRId64 " to %" PRId64, behind->least,
			 behind->most);
	name_call(behind, behind->most, call, sizeof(call));
	nt_reason_setf(why, NT_REASON_LAST_CALLS, "%s:%s:%s:%" PRId64 ".%" PRId64, heard, calls,
		       call, behind->still_ms / 1000, behind->still_ms / 100 % 10);
}

void nt_behind_why(const struct nt_behind *behind, const struct nt_calls_rank *ranks,
		   struct nt_reason *why)
{
	if (behind->stalled)
		say_stalled(behind, ranks, why);
	else
		say_last(behind, why);
}
