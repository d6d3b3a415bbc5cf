/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* agree-recheck.c - committed keys are opened again for a recheck */
#include "tests/unit/agree-pair.h"

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
	(void)state;
	for (uint32_t nodes = 1; nodes <= 2; nodes++) {
		rechecks(nodes, 0);
		rechecks(nodes, 1);
	}
}

/* A rank that has raised a flag and a node that has used up its reads no longer take part. */
static void no_recheck_with_a_flag(void **state)
{
	struct pair *p;

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_committed_is_rechecked),
		cmocka_unit_test(no_recheck_with_a_flag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
