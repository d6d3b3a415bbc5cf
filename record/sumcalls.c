/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a step's ranks, and what follows from comparing them. */
#include <stdlib.h>
#include <string.h>
#include "lib/compare.h"
#include "record/behind.h"
#include "record/sum.h"

#define CALLS_MAX 262144 /* ranks of all communicators of a step */

int nt_sum_add_begun(struct nt_sum *sum, const char *text, size_t text_bytes, struct nt_error *err)
{
	struct nt_calls_rank *ranks, *all;
	size_t count;

	if (nt_calls_read(text, text_bytes, &ranks, &count, err) < 0)
		return -1;
	all = count > 0 && sum->calls_count + count <= CALLS_MAX
		      ? realloc(sum->calls, (sum->calls_count + count) * sizeof(*all))
		      : NULL;
	if (all) {
		memcpy(all + sum->calls_count, ranks, count * sizeof(*all));
		sum->calls = all;
		sum->calls_count += count;
	}
	free(ranks);
	return 0;
}

static int by_weight(const void *left, const void *right)
{
	const struct nt_behind *a = left, *b = right;

	NT_COMPARE(b->ranks, a->ranks);
	NT_COMPARE(b->most, a->most);
	NT_COMPARE(a->first, b->first);
	return 0;
}

static void add_why(struct nt_sum_why *whys, size_t *count, const struct nt_behind *behind,
		    const struct nt_calls_rank *ranks)
{
	struct nt_sum_why *why = &whys[(*count)++];

	why->ranks = behind->ranks;
	why->nodes = behind->nodes;
	nt_behind_why(behind, ranks, &why->why);
}

size_t nt_sum_calls_whys(const struct nt_sum *sum, bool running,
			 struct nt_sum_why whys[NT_SUM_WHYS])
{
	size_t comms, count = 0;
	struct nt_behind *all = nt_behind_find(sum->calls, sum->calls_count, running, &comms);

	if (comms > 0)
		qsort(all, comms, sizeof(*all), by_weight);
	for (size_t i = 0; i < comms && count < NT_SUM_WHYS; i++) {
		if (all[i].root)
			add_why(whys, &count, &all[i], sum->calls);
	}
	/* Nobody waits: the newest calls of the largest communicator. */
	for (size_t i = 0; i < comms && count == 0 && !running; i++) {
		if (all[i].open)
			add_why(whys, &count, &all[i], sum->calls);
	}
	free(all);
	return count;
}

/* Was a process killed, does one run, or do ranks differ? */
static bool is_odd(const struct nt_calls_rank *ranks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if ((!ranks[i].end && !ranks[i].left) || ranks[i].begun != ranks[0].begun)
			return true;
	}
	return false;
}

int nt_sum_put_begun(const struct nt_sum *sum, struct nt_comm_seen *comm)
{
	size_t first, count = nt_behind_ranks(sum->calls, sum->calls_count, comm->id, comm->ranks,
					      &first);

	if (count == 0 || !is_odd(sum->calls + first, count))
		return 0;
	comm->begun = calloc(count, sizeof(*comm->begun));
	if (!comm->begun)
		return -1;
	for (; comm->begun_count < count; comm->begun_count++) {
		const struct nt_calls_rank *rank = &sum->calls[first + comm->begun_count];

		comm->begun[comm->begun_count] = (struct nt_begun_seen){
			.rank = rank->rank,
			.begun = rank->begun,
			.ended = rank->ended,
			.seen_s = rank->seen_ms / 1000,
		};
	}
	return 0;
}

void nt_sum_sort_calls(struct nt_sum *sum)
{
	sum->calls_count = nt_behind_sort(sum->calls, sum->calls_count);
}

bool nt_sum_still(struct nt_sum *sum)
{
	struct nt_behind *all;
	bool still = false;
	size_t comms;

	nt_sum_sort_calls(sum);
	all = nt_behind_find(sum->calls, sum->calls_count, true, &comms);
	for (size_t i = 0; i < comms; i++)
		still = still || all[i].still;
	free(all);
	return still;
}
