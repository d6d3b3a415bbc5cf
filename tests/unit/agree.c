/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* agree.c - one and two nodes step by step: join, reject, plan, abort; the many random runs are nt-agree-sim's */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <cmocka.h>
#include "pmix-sync/agree.h"
#include "pmix-sync/board.h"
#include "pmix-sync/turn.h"

#define KEY nt_key_id(NT_ALLREDUCE, 36, 0x3f)

struct pair {
	struct nt_board *board[2];
	struct nt_agree *agree[2];
	struct nt_seat seat[2];
	uint32_t nodes;
	uint64_t now_ms, turn;
	struct nt_turn view[2];
	int rounds, asked, absorbed, combined, ended, again;
	int last;	/* what next() says at the end of a session */
};

static uint32_t join_calls;	/* of what make() makes */

static bool worth(void *arg, const struct nt_board_comm *comm, const struct nt_board_key *key)
{
	(void)arg;
	(void)comm;
	return atomic_load(&key->calls[0]) > 3;
}

static void *start(void *arg, const struct nt_board_comm *comm, const struct nt_board_key *key)
{
	(void)comm;
	(void)key;
	return arg;
}

static int next(void *key, struct nt_plan *plan)
{
	struct pair *p = key;

	plan->payload_bytes = 1;
	plan->payload[0] = (uint8_t)(10 + p->asked);
	plan->until = p->asked++ < p->rounds ? 6 : NT_NEVER;
	return p->rounds >= 0 && (p->again == 0 || plan->until != NT_NEVER || p->last);
}

static bool worth_again(void *arg, const struct nt_board_comm *comm, const struct nt_plan *base)
{
	(void)arg;
	(void)comm;
	return base->until == NT_NEVER;
}

/* One window with 20, then nothing, or 21 for good. */
static void *start_again(void *arg, const struct nt_board_comm *comm, const struct nt_board_key *key,
			 const struct nt_plan *base)
{
	struct pair *p = arg;

	(void)comm;
	assert_int_equal(atomic_load(&key->state), NT_KEY_AGAIN);
	assert_int_equal(base->payload_bytes, 1);
	p->again++;
	p->asked = 10;
	p->rounds = 11;
	return arg;
}

static void absorb(void *key, const uint8_t *bytes, size_t count)
{
	assert_int_equal(count, 1);
	assert_int_equal(bytes[0], 99);
	((struct pair *)key)->absorbed++;
}

static void end(void *key)
{
	((struct pair *)key)->ended++;
}

static size_t gather(void *arg, const struct nt_board *board, const struct nt_plan *plan, uint32_t members,
		     uint8_t *out, size_t cap)
{
	(void)arg;
	(void)board;
	(void)plan;
	(void)members;
	assert_true(cap > 0);
	out[0] = 99;
	return 1;
}

/* What two nodes saw, in one; absorb() looks at the value. */
static size_t combine(void *arg, uint8_t *sum, size_t count, const uint8_t *bytes, size_t more)
{
	struct pair *p = arg;

	assert_int_equal(count, 1);
	assert_int_equal(more, 1);
	assert_int_equal(sum[0], bytes[0]);
	p->combined++;
	return count;
}

static int node_of_task(void *arg, uint32_t task)
{
	(void)arg;
	return task < 2 ? (int)task : -1;
}

static const char *node_name(void *arg, uint32_t node)
{
	(void)arg;
	return node ? "n2" : "n1";
}

static uint32_t again_ms;	/* of the pairs made next */

static struct pair *make(uint32_t nodes, const struct nt_card *odd)
{
	struct pair *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->nodes = nodes;
	p->rounds = 1;
	for (uint32_t n = 0; n < nodes; n++) {
		struct nt_agree_config config = {
			.hooks = { p, worth, start, next, absorb, end, gather, combine, worth_again, start_again, again_ms },
			.self = n, .nodes = nodes,
			.tasks = 2, .node_of_task = node_of_task, .node_name = node_name, .join_ms = 1000,
			.join_calls = join_calls,
		};

		p->board[n] = config.board = calloc(1, sizeof(struct nt_board));
		assert_non_null(config.board);
		p->agree[n] = nt_agree_create(&config, NULL);
		assert_non_null(p->agree[n]);
	}
	for (uint32_t r = 0; r < 2; r++) {
		struct nt_card card = { .rank = (int32_t)r, .task = r, .active = 1, .nccl = 22809 };

		if (r == 1 && odd)
			card = *odd;
		assert_int_equal(nt_board_join(p->board[r % nodes], 77, 2, nodes, &card, &p->seat[r], NULL), 0);
	}
	return p;
}

static void destroy(struct pair *p)
{
	for (uint32_t n = 0; n < p->nodes; n++) {
		nt_agree_destroy(p->agree[n]);
		free(p->board[n]);
	}
	free(p);
}

/* What node n has to say reaches the other node, then itself. */
static void carry(struct pair *p, uint32_t n)
{
	const uint8_t *bytes = NULL;
	size_t count = nt_agree_out(p->agree[n], &bytes);

	if (count == 0 || !bytes)
		return;
	if (p->nodes == 2)
		nt_agree_in(p->agree[1 - n], n, bytes, count, p->now_ms);
	nt_agree_sent(p->agree[n], p->now_ms);
}

static void pass(struct pair *p, uint64_t ms)
{
	for (uint64_t end_ms = p->now_ms + ms; p->now_ms < end_ms; p->now_ms += 10) {
		for (uint32_t n = 0; n < p->nodes; n++) {
			(void)nt_agree_step(p->agree[n], p->now_ms);
			carry(p, n);
		}
	}
}

static struct nt_board_comm *comm_of(struct pair *p, int rank)
{
	return &p->seat[rank].board->comm[p->seat[rank].comm];
}

/* One collective on both ranks; returns what they follow, 0 for AUTO. Both must be let go. */
static int collective(struct pair *p)
{
	static const float cost[NT_PAIRS];
	const struct nt_plan *plan;
	int64_t position;
	int follows[2];

	for (int r = 0; r < 2; r++) {
		int slot = nt_board_key(&p->seat[r], KEY, 5, cost);
		struct nt_board_key *key = &comm_of(p, r)->key[slot];
		uint32_t m = p->seat[r].member;

		atomic_fetch_add(&key->calls[m], 1);
		follows[r] = 0;
		if (atomic_load(&key->state) == NT_KEY_IDLE)
			continue;
		assert_int_equal(nt_turn_take(key, m, p->turn, &p->view[r]), NT_TURN_GO);
		plan = nt_turn_plan(&p->view[r], p->turn, &position);
		if (plan)
			follows[r] = plan->payload[0];
		/* As a rank that latches, and is woken by a helper. */
		if (plan && plan->until == NT_NEVER && atomic_load(&key->state) != NT_KEY_AGAIN)
			(void)nt_turn_rest(key, m, p->turn, &p->view[r]);
	}
	assert_int_equal(follows[0], follows[1]);
	p->turn++;
	return follows[0];
}

static void explores_then_stays(uint32_t nodes)
{
	struct pair *p = make(nodes, NULL);
	int counts[16] = { 0 };

	for (int i = 0; i < 400; i++) {
		int follows = collective(p);

		assert_true(follows == 0 || follows == 10 || follows == 11);
		counts[follows]++;
		pass(p, 50);
	}
	assert_int_equal(atomic_load(&comm_of(p, 0)->state), NT_COMM_AGREED);
	assert_int_equal(atomic_load(&comm_of(p, 1)->state), NT_COMM_AGREED);
	assert_int_equal(counts[10], 6);
	assert_true(counts[11] > 100);
	assert_int_equal(p->absorbed, 1);
	assert_int_equal(p->combined, (int)nodes - 1);
	assert_int_equal(p->ended, 1);
	assert_int_equal(atomic_load(&comm_of(p, 1)->key[0].state), NT_KEY_FINAL);
	for (uint32_t r = 0; r < NT_BOARD_RUNS; r++)
		assert_int_equal(atomic_load(&p->board[0]->run[r].owner), 0);
	destroy(p);
}

/* Sessions come at distances that double, and end with what was in force or with something new. */
static void looks_again(uint32_t nodes, int last)
{
	int counts[32] = { 0 }, stood = 11;
	struct pair *p;

	again_ms = 4000;
	p = make(nodes, NULL);
	again_ms = 0;
	p->last = last;
	for (int i = 0; i < 2000; i++) {	/* 100 s; plan for good at some 2 s, sessions 4, 12, 28, 60 s later */
		int follows = collective(p);

		counts[follows]++;
		if (follows == 21)
			stood = 21;
		assert_true(p->again == 0 || follows == stood || follows == 20);
		pass(p, 50);
	}
	assert_int_equal(p->again, 4);
	assert_int_equal(p->ended, 5);
	assert_int_equal(counts[20], 4 * 6);
	assert_int_equal(counts[21] > 0, last);
	assert_int_equal(p->absorbed, 5);
	for (int r = 0; r < 2; r++) {
		assert_int_equal(atomic_load(&comm_of(p, r)->key[0].state), NT_KEY_FINAL);
		assert_int_equal(atomic_load(&comm_of(p, r)->key[0].turn[p->seat[r].member]), NT_TURN_UNKNOWN);
	}
	for (uint32_t n = 0; n < nodes; n++) {
		struct nt_agree_counts c = nt_agree_count(p->agree[n]);

		assert_int_equal(c.sessions, 4);
		assert_in_range(c.looks, nodes == 1 ? 0 : 4, nodes == 1 ? 0 : 4 * 16);
	}
	for (uint32_t r = 0; r < NT_BOARD_RUNS; r++)
		assert_int_equal(atomic_load(&p->board[0]->run[r].owner), 0);
	destroy(p);
}

static void what_is_for_good_is_looked_at_again(void **state)
{
	(void)state;
	for (uint32_t nodes = 1; nodes <= 2; nodes++) {
		looks_again(nodes, 0);
		looks_again(nodes, 1);
	}
}

/* A rank that has raised a flag, and a node that has read too much, take no part any more. */
static void no_second_look_with_a_flag(void **state)
{
	struct pair *p;

	(void)state;
	again_ms = 4000;
	p = make(2, NULL);
	again_ms = 0;
	for (int i = 0; i < 60; i++) {
		(void)collective(p);
		pass(p, 50);
	}
	assert_int_equal(atomic_load(&comm_of(p, 0)->key[0].state), NT_KEY_FINAL);
	atomic_store(&comm_of(p, 1)->member[p->seat[1].member].flags, NT_MEMBER_GRAPHS);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(collective(p), 11);
		pass(p, 50);
	}
	assert_int_equal(p->again, 0);
	destroy(p);
}

static void one_node_explores_then_stays(void **state)
{
	(void)state;
	explores_then_stays(1);
}

static void two_nodes_explore_then_stay(void **state)
{
	(void)state;
	explores_then_stays(2);
}

static void a_closed_key_stays_on_auto(void **state)
{
	struct pair *p = make(2, NULL);

	(void)state;
	p->rounds = -1;
	for (int i = 0; i < 60; i++) {
		assert_int_equal(collective(p), 0);
		pass(p, 50);
	}
	for (int r = 0; r < 2; r++) {
		assert_int_equal(atomic_load(&comm_of(p, r)->key[0].state), NT_KEY_CLOSED);
		assert_int_equal(comm_of(p, r)->key[0].result_bytes, 1);
		assert_int_equal(comm_of(p, r)->key[0].result[0], 10);
	}
	destroy(p);
}

static void the_odd_rank_is_named(void **state)
{
	static const struct {
		struct nt_card card;
		const char *says;
	} cases[] = {
		{ { .rank = 1, .task = 1, .active = 1, .nccl = 22705 }, "differs: NCCL 2" },
		{ { .rank = 1, .task = 1, .active = 1, .nccl = 22809, .policy = 5 }, "differs: policy 0000000" },
		{ { .rank = 1, .task = 1, .active = 1, .nccl = 22809, .build = 5 }, "differs: plugin build" },
		{ { .rank = 1, .task = 1, .active = 1, .nccl = 22809, .fingerprint = 5 }, "differs: hardware" },
		{ { .rank = 1, .task = 1, .idle = NT_IDLE_MODE, .nccl = 22809 }, "differs: ready 0.1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (uint32_t nodes = 1; nodes <= 2; nodes++) {
			struct pair *p = make(nodes, &cases[i].card);

			pass(p, 500);
			for (int r = 0; r < 2; r++) {
				assert_int_equal(atomic_load(&comm_of(p, r)->state), NT_COMM_REJECTED);
				if (!strstr(comm_of(p, r)->why, cases[i].says) ||
				    !strstr(comm_of(p, r)->why, nodes == 1 ? "rank 1 on n1" : "rank 1 on n2"))
					fail_msg("%s", comm_of(p, r)->why);
			}
			destroy(p);
		}
	}
}

static void a_rank_that_never_shows_is_named(void **state)
{
	struct pair *p = make(2, NULL);

	(void)state;
	for (int i = 0; i < 150; i++) {	/* the second node never speaks */
		(void)nt_agree_step(p->agree[0], p->now_ms += 10);
		carry(p, 0);
	}
	assert_int_equal(atomic_load(&comm_of(p, 0)->state), NT_COMM_REJECTED);
	assert_non_null(strstr(comm_of(p, 0)->why, "rank 1 was not seen"));
	destroy(p);
}

/* Other nodes are told of a communicator once it is worth it, and time to join begins then. */
static void what_is_not_called_often_is_not_spoken_of(void **state)
{
	const uint8_t *bytes;
	struct pair *p;

	(void)state;
	join_calls = 5;
	p = make(2, NULL);
	join_calls = 0;
	for (int i = 0; i < 5; i++) {
		for (uint32_t n = 0; n < 2; n++) {
			assert_false(nt_agree_step(p->agree[n], p->now_ms));
			assert_int_equal(nt_agree_out(p->agree[n], &bytes), 0);
			assert_int_equal(nt_agree_listens(p->agree[n], 1 - n), NT_AGREE_DEAF);
		}
		p->now_ms += 5000;
		assert_int_equal(collective(p), 0);
	}
	pass(p, 500);
	assert_int_equal(atomic_load(&comm_of(p, 0)->state), NT_COMM_AGREED);
	assert_int_equal(atomic_load(&comm_of(p, 1)->state), NT_COMM_AGREED);
	destroy(p);
}

/* The other node goes silent between its ACK and the outcome: nobody but its own ranks is in doubt. */
static void silence_after_a_proposal_aborts(void **state)
{
	struct pair *p = make(2, NULL);

	(void)state;
	for (int i = 0; i < 12; i++) {
		(void)collective(p);
		pass(p, 10);
	}
	for (int i = 0; i < 1000; i++) {
		(void)nt_agree_step(p->agree[0], p->now_ms += 10);
		carry(p, 0);
	}
	assert_true(atomic_load(&comm_of(p, 0)->key[0].hold_at) == 0);
	assert_int_equal(atomic_load(&comm_of(p, 0)->key[0].epoch), 0);
	destroy(p);
}

static void last_words_settle_what_is_open(void **state)
{
	struct pair *p = make(2, NULL);

	(void)state;
	for (int i = 0; i < 14; i++) {
		(void)collective(p);
		pass(p, 10);
	}
	nt_agree_leave(p->agree[0], p->now_ms);
	carry(p, 0);
	assert_true(atomic_load(&comm_of(p, 1)->key[0].hold_at) == 0);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(collective(p), 0);
		(void)nt_agree_step(p->agree[1], p->now_ms += 10);
	}
	assert_false(nt_agree_listens(p->agree[1], 0));
	destroy(p);
}

static void random_runs_never_differ(void **state)
{
	const char *top = getenv("top_builddir");
	char command[512];

	(void)state;
	snprintf(command, sizeof(command), "%s/tests/sim/nt-agree-sim --runs 40 --seed 7 --faults all >/dev/null",
		 top ? top : ".");
	assert_int_equal(WEXITSTATUS(system(command)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_node_explores_then_stays),
		cmocka_unit_test(two_nodes_explore_then_stay),
		cmocka_unit_test(what_is_for_good_is_looked_at_again),
		cmocka_unit_test(no_second_look_with_a_flag),
		cmocka_unit_test(a_closed_key_stays_on_auto),
		cmocka_unit_test(the_odd_rank_is_named),
		cmocka_unit_test(a_rank_that_never_shows_is_named),
		cmocka_unit_test(what_is_not_called_often_is_not_spoken_of),
		cmocka_unit_test(silence_after_a_proposal_aborts),
		cmocka_unit_test(last_words_settle_what_is_open),
		cmocka_unit_test(random_runs_never_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
