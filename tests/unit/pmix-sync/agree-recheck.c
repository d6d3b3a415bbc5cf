/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* agree-recheck.c - committed keys are opened again for a recheck */
#include "pmix-sync/log-entry.h"
#include "tests/unit/pmix-sync/agree-pair.h"

/* Intervals between rechecks double; they end with the committed arm or a new one. */
static void rechecks(uint32_t nodes, int last)
{
	int counts[32] = { 0 }, stood = 11;
	struct pair *p;

	recheck_ms = 4000;
	p = make(nodes, NULL);
	recheck_ms = 0;
	p->last = last;
	/* 100 s; commit at about 2 s, rechecks 4, 12, 28, 60 s later */
	for (int i = 0; i < 2000; i++) {
		int follows = collective(p);

		counts[follows]++;
		if (follows == 21)
			stood = 21;
		assert_true(p->rechecks == 0 || follows == stood || follows == 20);
		pass(p, 50);
	}
	assert_int_equal(p->rechecks, 4);
	assert_int_equal(p->ended, 5);
	assert_int_equal(counts[20], 4 * 6);
	assert_int_equal(counts[21] > 0, last);
	assert_int_equal(p->absorbed, 5);
	for (int r = 0; r < 2; r++) {
		assert_int_equal(atomic_load(&comm_of(p, r)->key[0].state), NT_KEY_COMMITTED);
		assert_int_equal(atomic_load(&comm_of(p, r)->key[0].turn[p->slot[r].index]),
				 NT_TURN_UNKNOWN);
	}
	for (uint32_t n = 0; n < nodes; n++) {
		struct nt_agree_counts c = nt_agree_count(p->agree[n]);

		assert_int_equal(c.rechecks, 4);
		assert_in_range(c.looks, nodes == 1 ? 0 : 4, nodes == 1 ? 0 : 4 * 16);
	}
	for (uint32_t r = 0; r < NT_SHM_RUNS; r++)
		assert_int_equal(atomic_load(&p->shm[0]->run[r].owner), 0);
	destroy(p);
}

static void what_is_committed_is_rechecked(void **state)
{
	for (uint32_t nodes = 1; nodes <= 2; nodes++) {
		rechecks(nodes, 0);
		rechecks(nodes, 1);
	}
}

static void calls(struct pair *p, int count)
{
	for (int i = 0; i < count; i++) {
		(void)collective(p);
		pass(p, 50);
	}
}

/* A recheck begins before its time only if all nodes see a slower program, once between two others;
 * those come at their times. */
static void a_slower_program_is_rechecked_once(void **state)
{
	struct pair *p;

	recheck_ms = 20000;
	p = make(2, NULL);
	recheck_ms = 0;
	calls(p, 100); /* 5 s; commit at about 2 s, rechecks 20, 60 s later */
	assert_int_equal(atomic_load(&comm_of(p, 0)->key[0].state), NT_KEY_COMMITTED);
	p->slower = 2; /* the coordinator does not see it */
	calls(p, 20);
	p->slower = 0;
	assert_int_equal(p->rechecks, 0);
	calls(p, 600); /* 36 s: the first one by the clock, and its end */
	assert_int_equal(p->rechecks, 1);
	for (int i = 0; i < 3; i++) {
		p->slower = 3;
		calls(p, 2);
		p->slower = 0;
		calls(p, 60);
		assert_int_equal(p->rechecks, 2);
	}
	calls(p, 500); /* 70 s */
	assert_int_equal(p->rechecks, 3);
	for (uint32_t n = 0; n < 2; n++)
		assert_int_equal(nt_agree_count(p->agree[n]).rechecks, n == 0 ? 3 : 4);
	destroy(p);
}

/* The coordinator, node 0, closes a recheck of the key. */
static void hear_close(struct pair *p, uint64_t number)
{
	const struct nt_entry entry = {
		.type = NT_ENTRY_CLOSE, .comm = 77, .key = KEY, .span = number
	};
	uint8_t bytes[NT_ENTRY_MAX];
	size_t count = nt_entry_write(&entry, bytes, sizeof(bytes));

	assert_true(count > 0);
	nt_agree_in(p->agree[1], 0, bytes, count, p->now_ms);
}

/* A node that had left a recheck reads its end in the next one. */
static void the_end_of_an_earlier_recheck_ends_no_other(void **state)
{
	struct pair *p;

	recheck_ms = 20000;
	p = make(2, NULL);
	recheck_ms = 0;
	calls(p, 100);
	p->slower = 2;
	calls(p, 2);
	assert_int_equal(atomic_load(&comm_of(p, 1)->key[0].state), NT_KEY_RECHECK);
	hear_close(p, 0);
	assert_int_equal(atomic_load(&comm_of(p, 1)->key[0].state), NT_KEY_RECHECK);
	hear_close(p, 1);
	assert_int_equal(atomic_load(&comm_of(p, 1)->key[0].state), NT_KEY_COMMITTED);
	destroy(p);
}

/* A rank that has raised a flag and a node that has used up its reads no longer take part. */
static void no_recheck_with_a_flag(void **state)
{
	struct pair *p;

	recheck_ms = 4000;
	p = make(2, NULL);
	recheck_ms = 0;
	for (int i = 0; i < 60; i++) {
		(void)collective(p);
		pass(p, 50);
	}
	assert_int_equal(atomic_load(&comm_of(p, 0)->key[0].state), NT_KEY_COMMITTED);
	atomic_store(&comm_of(p, 1)->slot[p->slot[1].index].flags, NT_PARTICIPANT_GRAPHS);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(collective(p), 11);
		pass(p, 50);
	}
	assert_int_equal(p->rechecks, 0);
	destroy(p);
}

UNIT_TESTS(what_is_committed_is_rechecked, a_slower_program_is_rechecked_once,
	   the_end_of_an_earlier_recheck_ends_no_other, no_recheck_with_a_flag);
