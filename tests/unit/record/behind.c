/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Which ranks have not begun a call that others wait in, and the file from which that is known. */
#include "tests/lib/unit.h"
#include "contract/coll.h"
#include "record/behind.h"

#define NOW_MS INT64_C(1700000000000)

static struct nt_calls_rank ranks[64];
static size_t rank_count;

/* Rank of a communicator of `size`, begun so many calls, the newest so long ago. */
static struct nt_calls_rank *add(const char *comm, int size, int rank, int64_t begun,
				 int64_t still_ms)
{
	struct nt_calls_rank *r = &ranks[rank_count++];

	memset(r, 0, sizeof(*r));
	snprintf(r->id, sizeof(r->id), "%s", comm);
	snprintf(r->node, sizeof(r->node), "n%d", rank / 2);
	r->rank = r->task = rank;
	r->pid = 100 + rank;
	r->ranks = size;
	r->nodes = size / 2;
	r->begun = begun;
	r->ended = -1;
	r->moved_ms = NOW_MS - still_ms;
	r->seen_ms = r->read_ms = NOW_MS;
	r->stall_s = 60;
	for (; r->last_count < 8 && r->last_count < begun; r->last_count++)
		r->last[r->last_count] = nt_calls_kind(NT_ALLREDUCE, nt_band(64 << 20));
	return r;
}

/* What is said of the root that stands at that place; "": it is not there. */
static const char *say(bool running, size_t which)
{
	static char text[NT_REASON_SENTENCE_MAX];
	struct nt_behind *all;
	struct nt_reason why;
	size_t count;

	text[0] = '\0';
	rank_count = nt_behind_sort(ranks, rank_count);
	all = nt_behind_find(ranks, rank_count, running, &count);
	assert_non_null(all);
	for (size_t i = 0; i < count; i++) {
		if (!all[i].root || which-- > 0)
			continue;
		nt_behind_why(&all[i], ranks, &why);
		nt_reason_say(&why, NULL, 0, text, sizeof(text));
		break;
	}
	free(all);
	return text;
}

static void add_world(int late, int64_t still_ms)
{
	rank_count = 0;
	for (int i = 0; i < 4; i++)
		add("world", 4, i, i == late ? 1203 : 1204, still_ms);
}

static void test_one_is_behind(void **state)
{
	add_world(3, 62000);
	assert_string_equal(say(true, 0), "Rank 3 on n1 had not begun AllReduce 64M, call 1204, "
					  "which all 3 others had waited in for 62 s.");
	assert_string_equal(say(true, 1), "");
}

static void test_nobody_is_behind(void **state)
{
	/* They compute, save or evaluate, for an hour. */
	add_world(-1, 3600000);
	assert_string_equal(say(true, 0), "");
	assert_string_equal(say(false, 0), "");
	/* Somebody still begins calls: ranks run ahead of each other. */
	add_world(3, 62000);
	ranks[1].begun = 1290;
	ranks[1].moved_ms = NOW_MS - 100;
	assert_string_equal(say(true, 0), "");
	assert_string_equal(say(false, 0), "");
	/* They have all gone on since, but one node has not told yet. */
	add_world(-1, 62000);
	ranks[2].begun = ranks[3].begun = 1000;
	ranks[2].read_ms = ranks[3].read_ms = NOW_MS - 62001;
	assert_string_equal(say(true, 0), "");
	/* All have left it. */
	add_world(3, 62000);
	for (size_t i = 0; i < rank_count; i++)
		ranks[i].left = true;
	assert_string_equal(say(false, 0), "");
}

static void test_how_long(void **state)
{
	add_world(3, 30000);
	assert_string_equal(say(true, 0), "");
	assert_string_not_equal(say(false, 0), "");
	add_world(3, NT_BEHIND_END_MS - 1);
	assert_string_equal(say(false, 0), "");
	add_world(3, 3600000);
	for (size_t i = 0; i < rank_count; i++)
		ranks[i].stall_s = 0;
	assert_string_equal(say(true, 0), "");
	assert_string_not_equal(say(false, 0), "");
}

static void test_killed_and_ended(void **state)
{
	add_world(3, 5000);
	ranks[3].seen_ms = NOW_MS - 5000;
	assert_string_equal(say(false, 0),
			    "Rank 3 on n1 (no longer seen) had not begun AllReduce "
			    "64M, call 1204, which all 3 others had waited in for 5 s.");
	ranks[3].end = true;
	assert_string_equal(say(false, 0),
			    "Rank 3 on n1 (its process has ended) had not begun "
			    "AllReduce 64M, call 1204, which all 3 others had waited in "
			    "for 5 s.");
}

static void test_many_and_unheard(void **state)
{
	rank_count = 0;
	for (int i = 0; i < 6; i++)
		add("world", 8, i, i == 0 ? 500 : 400, 7000);
	assert_string_equal(say(false, 0),
			    "Ranks 1 on n0, 2 on n1, 3 on n1 and 2 more had not begun "
			    "call 401, which 1 other had waited in for 7 s.");
}

/* Ranks 2 and 3 are a group, as are 0 and 2: 2 waits for 3, and 0 for 2, which is not late. */
static void test_only_the_first_cause(void **state)
{
	rank_count = 0;
	add("tp", 2, 2, 71, 9000);
	add("tp", 2, 3, 70, 9000);
	add("dp", 3, 0, 11, 9000);
	add("dp", 3, 2, 10, 9000);
	assert_string_equal(say(false, 0), "Rank 3 on n1 had not begun AllReduce 64M, call 71, "
					   "which 1 other had waited in for 9 s.");
	assert_string_equal(say(false, 1), "");
}

/* They wait for each other: calls of two communicators in different orders. */
static void test_deadlock(void **state)
{
	rank_count = 0;
	add("a", 2, 0, 71, 9000);
	add("a", 2, 1, 70, 9000);
	add("b", 2, 0, 10, 9000);
	add("b", 2, 1, 11, 9000);
	assert_non_null(strstr(say(false, 0), "Rank 1 on n0 had not begun AllReduce 64M, call 71"));
	assert_non_null(strstr(say(false, 1), "Rank 0 on n0 had not begun AllReduce 64M, call 11"));
}

/* Of a rank that is told twice the newest process counts. */
static void test_started_again(void **state)
{
	add_world(-1, 5000);
	add("world", 4, 3, 7, 5000)->seen_ms = NOW_MS - 60000;
	assert_string_equal(say(false, 0), "");
}

static void test_ranks_of_one(void **state)
{
	size_t first;

	rank_count = 0;
	add("b", 2, 1, 1, 0);
	add("a", 2, 0, 1, 0);
	add("b", 2, 0, 1, 0);
	add("b", 4, 3, 1, 0);
	rank_count = nt_behind_sort(ranks, rank_count);
	assert_int_equal(nt_behind_ranks(ranks, rank_count, "b", 2, &first), 2);
	assert_int_equal(first, 1);
	assert_int_equal(nt_behind_ranks(ranks, rank_count, "b", 4, &first), 1);
	assert_int_equal(first, 3);
	assert_int_equal(nt_behind_ranks(ranks, rank_count, "c", 2, &first), 0);
	assert_int_equal(nt_behind_ranks(ranks, 0, "b", 2, &first), 0);
}

/* ---- the file */

static struct nt_calls *file_of(void)
{
	struct nt_calls *file = calloc(1, sizeof(*file));

	assert_non_null(file);
	file->task = 3;
	file->pid = 77;
	file->seen_ms = NOW_MS;
	file->stall_s = 60;
	snprintf(file->node, sizeof(file->node), "n1");
	for (int i = 0; i < 2; i++) {
		struct nt_calls_comm *comm = &file->comm[i];

		comm->state = i == 0 ? NT_CALLS_OPEN : NT_CALLS_LEFT;
		comm->id = 0xabc + (uint64_t)i;
		comm->rank = 3;
		comm->ranks = 4;
		comm->nodes = 2;
		comm->moved_ms = NOW_MS - 500;
		comm->begun = i == 0 ? 1204 : 2;
		comm->ended = 7;
		for (unsigned k = 0; k < NT_CALLS_LAST; k++)
			comm->last[k] = nt_calls_kind(NT_ALLREDUCE, nt_band(64 << 20));
	}
	/* Call 1203 of the first. */
	file->comm[0].last[1202 % NT_CALLS_LAST] = nt_calls_kind(NT_ALLGATHER, nt_band(3072));
	return file;
}

static void test_file(void **state)
{
	static char text[NT_RANK_RECORD_MAX];
	struct nt_calls *file = file_of();
	struct nt_calls_rank *read;
	struct nt_error err = { "" };
	size_t bytes, count;

	bytes = nt_calls_format(file, NOW_MS, text, sizeof(text));
	assert_true(bytes > 0);
	if (nt_calls_read(text, bytes, &read, &count, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(count, 2);
	assert_string_equal(read[0].id, "0000000000000abc");
	assert_string_equal(read[0].node, "n1");
	assert_int_equal(read[0].begun, 1204);
	assert_int_equal(read[0].ended, 7);
	assert_int_equal(read[0].moved_ms, NOW_MS - 500);
	assert_int_equal(read[0].last_count, NT_CALLS_LAST);
	assert_int_equal(read[0].last[0], nt_calls_kind(NT_ALLREDUCE, nt_band(64 << 20)));
	assert_int_equal(read[0].last[1], nt_calls_kind(NT_ALLGATHER, nt_band(3072)));
	assert_int_equal(read[0].last[2], nt_calls_kind(NT_ALLREDUCE, nt_band(64 << 20)));
	assert_true(read[1].left && !read[0].left && !read[0].end);
	assert_int_equal(read[1].last_count, 2);
	free(read);
	/* What has no room is left out as a whole. */
	assert_true(nt_calls_format(file, NOW_MS, text, 400) < 400);
	free(file);
}

/* A user can write anything into it. */
static void test_other_calls(void **state)
{
	static char text[NT_RANK_RECORD_MAX];
	struct nt_calls *file = file_of();
	struct nt_calls_rank *read;
	struct nt_error err;
	size_t bytes, count;

	memset(&file->comm, 0xff, sizeof(file->comm));
	assert_int_equal(nt_calls_format(file, NOW_MS, text, sizeof(text)), 0);
	memset(file->node, 'x', sizeof(file->node));
	for (int i = 0; i < NT_CALLS_COMMS; i++) {
		memset(&file->comm[i], 0xee, sizeof(file->comm[i]));
		file->comm[i].state = NT_CALLS_OPEN;
		file->comm[i].rank = 0;
	}
	bytes = nt_calls_format(file, NOW_MS, text, sizeof(text));
	assert_int_equal(nt_calls_read(text, bytes, &read, &count, &err), 0);
	assert_int_equal(count, NT_CALLS_COMMS);
	free(read);
	free(file);
	assert_int_equal(nt_calls_read("[]", 2, &read, &count, &err), -1);
	assert_int_equal(nt_calls_read("{\"comms\":[3]}", 13, &read, &count, &err), -1);
}

UNIT_TESTS(test_one_is_behind, test_nobody_is_behind, test_how_long, test_killed_and_ended,
	   test_many_and_unheard, test_only_the_first_cause, test_deadlock, test_started_again,
	   test_ranks_of_one, test_file, test_other_calls);
