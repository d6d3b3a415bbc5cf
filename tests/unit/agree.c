/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* agree.c - one and two nodes step by step: join, reject, plan, abort; the many random runs are
 * nt-agree-sim's */
#include <sys/resource.h>
#include "pmix-sync/entry.h"
#include "tests/unit/agree-pair.h"

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
	assert_int_equal(atomic_load(&comm_of(p, 1)->key[0].state), NT_KEY_COMMITTED);
	for (uint32_t r = 0; r < NT_BOARD_RUNS; r++)
		assert_int_equal(atomic_load(&p->board[0]->run[r].owner), 0);
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

/* Collectives until a plan for good is followed, of a key whose first plan is one. */
static int calls_until_good(uint32_t nodes, bool is_ready)
{
	struct pair *p;
	int calls = 0;

	for_good = is_ready;
	p = make(nodes, NULL);
	p->rounds = 0;
	while (collective(p) != 10 && calls < 100) {
		calls++;
		pass(p, 50);
	}
	assert_int_equal(p->asked, 1);
	assert_int_equal(atomic_load(&comm_of(p, 1)->key[0].state), NT_KEY_COMMITTED);
	destroy(p);
	for_good = false;
	return calls;
}

/* Nothing is counted first that only windows need. */
static void a_plan_for_good_needs_no_stride(void **state)
{
	(void)state;
	for (uint32_t nodes = 1; nodes <= 2; nodes++) {
		int sooner = calls_until_good(nodes, true), later = calls_until_good(nodes, false);

		assert_true(sooner >= 4 && sooner <= 12);
		assert_true(later >= sooner + 6);
	}
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

#define MANY 40 /* ranks of a node; more than a word has bits on both */

static int node_of_many(void *arg, uint32_t task)
{
	(void)arg;
	return (int)(task / MANY);
}

/* What node n has to say reaches the other, then itself. */
static void step_many(struct nt_agree *agree[2], uint64_t now_ms)
{
	for (uint32_t n = 0; n < 2; n++) {
		const uint8_t *bytes = NULL;
		size_t count;

		(void)nt_agree_step(agree[n], now_ms);
		count = nt_agree_out(agree[n], &bytes);
		if (count == 0 || !bytes)
			continue;
		nt_agree_in(agree[1 - n], n, bytes, count, now_ms);
		nt_agree_sent(agree[n], now_ms);
	}
}

static void nodes_of_many_ranks_agree(void **state)
{
	static const float cost[NT_PAIRS];
	struct nt_board *board[2];
	struct nt_agree *agree[2];
	struct nt_seat seat;
	struct pair hooked = { .rounds = 1 };

	(void)state;
	for (uint32_t n = 0; n < 2; n++) {
		struct nt_agree_config config = {
			.hooks = { .arg = &hooked,
				   .worth = worth,
				   .start = start,
				   .next = next,
				   .absorb = absorb,
				   .end = end,
				   .gather = gather,
				   .combine = combine },
			.self = n,
			.nodes = 2,
			.tasks = 2 * MANY,
			.node_of_task = node_of_many,
			.node_name = node_name,
			.join_ms = 1000,
		};

		board[n] = config.board = calloc(1, sizeof(struct nt_board));
		assert_non_null(config.board);
		agree[n] = nt_agree_create(&config, NULL);
		assert_non_null(agree[n]);
		for (uint32_t r = n * MANY; r < (n + 1) * MANY; r++) {
			const struct nt_card card = {
				.rank = (int32_t)r, .task = r, .active = 1, .nccl = 22809
			};

			assert_int_equal(
				nt_board_join(board[n], 77, 2 * MANY, 2, &card, &seat, NULL), 0);
			assert_int_equal(nt_board_key(&seat, KEY, 5, cost), 0);
		}
	}
	for (uint64_t ms = 0; ms < 500; ms += 10)
		step_many(agree, ms);
	for (uint32_t n = 0; n < 2; n++) {
		assert_int_equal(atomic_load(&board[n]->comm[0].state), NT_COMM_AGREED);
		nt_agree_destroy(agree[n]);
		free(board[n]);
	}
}

static void the_odd_rank_is_named(void **state)
{
	static const struct {
		struct nt_card card;
		const char *says;
	} cases[] = {
		{ { .rank = 1, .task = 1, .active = 1, .nccl = 22705 }, "differs: NCCL 2" },
		{ { .rank = 1, .task = 1, .active = 1, .nccl = 22809, .policy = 5 },
		  "differs: policy 0000000" },
		{ { .rank = 1, .task = 1, .active = 1, .nccl = 22809, .warm = 5 },
		  "differs: remembered arms 0000000" },
		{ { .rank = 1, .task = 1, .active = 1, .nccl = 22809, .build = 5 },
		  "differs: plugin build" },
		{ { .rank = 1, .task = 1, .active = 1, .nccl = 22809, .fingerprint = 5 },
		  "differs: hardware" },
		{ { .rank = 1, .task = 1, .idle = NT_IDLE_MODE, .nccl = 22809 },
		  "differs: ready 0.1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (uint32_t nodes = 1; nodes <= 2; nodes++) {
			struct pair *p = make(nodes, &cases[i].card);

			pass(p, 500);
			for (int r = 0; r < 2; r++) {
				assert_int_equal(atomic_load(&comm_of(p, r)->state),
						 NT_COMM_REJECTED);
				if (!strstr(comm_of(p, r)->why, cases[i].says) ||
				    !strstr(comm_of(p, r)->why,
					    nodes == 1 ? "rank 1 on n1" : "rank 1 on n2"))
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
	for (int i = 0; i < 150; i++) { /* the second node never speaks */
		(void)nt_agree_step(p->agree[0], p->now_ms += 10);
		carry(p, 0);
	}
	assert_int_equal(atomic_load(&comm_of(p, 0)->state), NT_COMM_REJECTED);
	assert_non_null(strstr(comm_of(p, 0)->why, "rank 1 was not seen"));
	destroy(p);
}

/* While its ranks are in a window nobody has anything to say of it; then there are times, and what
 * comes of them. */
static void nobody_listens_in_a_window(void **state)
{
	struct pair *p = make(2, NULL);
	const struct nt_board_key *key = &comm_of(p, 0)->key[0];
	unsigned deaf = 0, heard = 0;

	(void)state;
	for (int i = 0; i < 60 && atomic_load(&key->state) != NT_KEY_COMMITTED; i++) {
		const bool window = collective(p) == 10;

		pass(p, 10);
		for (uint32_t n = 0; n < 2; n++) {
			const enum nt_agree_need need = nt_agree_listens(p->agree[n], 1 - n);

			deaf += window && need == NT_AGREE_DEAF;
			heard += deaf > 0 && need == NT_AGREE_LISTENS;
			assert_true(!window || nt_agree_step(p->agree[n], p->now_ms));
		}
	}
	/* Both nodes, until the call after its last one. */
	assert_int_equal(deaf, 2 * window_calls);
	assert_true(heard > 0);
	assert_int_equal(p->absorbed, 1);
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

/* ... unless the tuner says that it is worth it earlier. */
static void what_is_wanted_early_is_spoken_of_early(void **state)
{
	const uint8_t *bytes;
	struct pair *p;

	(void)state;
	join_calls = 5;
	early_calls = 1;
	p = make(2, NULL);
	join_calls = 0;
	pass(p, 500);
	assert_int_equal(nt_agree_out(p->agree[0], &bytes), 0);
	assert_int_equal(collective(p), 0);
	pass(p, 500);
	assert_int_equal(atomic_load(&comm_of(p, 0)->state), NT_COMM_AGREED);
	assert_int_equal(atomic_load(&comm_of(p, 1)->state), NT_COMM_AGREED);
	destroy(p);
	early_calls = 0;
}

/* The other node goes silent between its ACK and the outcome: nobody but its own ranks is in
 * doubt. */
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

/* The other node reads of a proposal late, and home's rank has come to its turn: it is not held up
 * until the patience for answers is over, and the plan comes later. */
static void homes_rank_waits_for_a_moment(void **state)
{
	struct pair *p = make(2, NULL);
	struct nt_board_key *key = &comm_of(p, 0)->key[0];
	uint64_t turn;

	(void)state;
	while (atomic_load(&key->hold_at) == 0) {
		(void)collective(p);
		(void)nt_agree_step(p->agree[1], p->now_ms);
		carry(p, 1);
		(void)nt_agree_step(p->agree[0], p->now_ms += 10);
		if (atomic_load(&key->hold_at) == 0)
			carry(p, 0);
	}
	for (turn = p->turn; nt_turn_take(key, 0, turn, &p->view[0]) == NT_TURN_GO;)
		turn++;
	for (int i = 0; i < 16; i++) {
		(void)nt_agree_step(p->agree[0], p->now_ms += 10);
		carry(p, 0);
		if (i == 7)
			assert_int_equal(nt_turn_take(key, 0, turn, &p->view[0]), NT_TURN_WAIT);
	}
	assert_int_equal(nt_turn_take(key, 0, turn, &p->view[0]), NT_TURN_GO);
	assert_int_equal(atomic_load(&key->epoch), 0);
	destroy(p);
}

static void last_words_end_what_is_open(void **state)
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

/* What a log says of the past may name others only; a rank 0 that sits down here afterwards makes
 * this node home all the same. */
static void an_agreement_without_us_is_forgotten(void **state)
{
	static const uint32_t others[] = { 0 };
	const struct nt_card card = { .rank = 0, .task = 0, .active = 1, .nccl = 22809 };
	struct pair *p = make(2, NULL);
	uint8_t nodes[8], bytes[64];
	struct nt_entry agreed = { .type = NT_ENTRY_AGREED, .comm = 77, .bytes = nodes };
	int explored = 0;

	(void)state;
	agreed.count = nt_entry_nodes_write(others, 1, nodes, sizeof(nodes));
	for (int i = 0; i < 10; i++) /* it looks for its home */
		(void)nt_agree_step(p->agree[1], p->now_ms += 10);
	nt_agree_in(p->agree[1], 0, bytes, nt_entry_write(&agreed, bytes, sizeof(bytes)),
		    p->now_ms);
	assert_int_equal(atomic_load(&comm_of(p, 1)->state), NT_COMM_JOINING);
	assert_int_equal(nt_board_join(p->board[1], 77, 2, 1, &card, &p->seat[0], NULL), 0);
	for (int i = 0; i < 100; i++) {
		explored += collective(p) == 10;
		(void)nt_agree_step(p->agree[1], p->now_ms += 10);
		carry(p, 1);
	}
	assert_int_equal(atomic_load(&comm_of(p, 1)->state), NT_COMM_AGREED);
	assert_int_equal(explored, 6);
	destroy(p);
}

/* Ranks read what the board says of a closed key: a CLOSE that comes later changes nothing. */
static void a_key_is_closed_once(void **state)
{
	struct pair *p = make(2, NULL);
	struct nt_entry close = { .type = NT_ENTRY_CLOSE,
				  .comm = 77,
				  .key = KEY,
				  .bytes = (const uint8_t *)"x",
				  .count = 1 };
	struct nt_board_key *key = &comm_of(p, 1)->key[0];
	uint8_t bytes[64];

	(void)state;
	for (int i = 0; i < 10; i++) {
		assert_int_equal(collective(p), 0);
		pass(p, 10);
	}
	assert_int_equal(atomic_load(&key->state), NT_KEY_OPEN);
	atomic_store(&comm_of(p, 1)->member[p->seat[1].member].flags, NT_MEMBER_GRAPHS);
	(void)nt_agree_step(p->agree[1], p->now_ms += 10);
	assert_int_equal(atomic_load(&key->state), NT_KEY_CLOSED);
	nt_agree_in(p->agree[1], 0, bytes, nt_entry_write(&close, bytes, sizeof(bytes)), p->now_ms);
	assert_int_equal(atomic_load(&key->state), NT_KEY_CLOSED);
	assert_int_equal(key->result_bytes, 0);
	destroy(p);
}

/* How many ranks there are stands on the board, where any of them can write. */
static void no_memory_is_taken_for_ranks_that_cannot_be(void **state)
{
	struct pair *p = make(1, NULL);
	struct rusage before, after;

	(void)state;
	atomic_store(&comm_of(p, 0)->ranks, 100000000);
	assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
	for (int i = 0; i < 8; i++) {
		(void)collective(p);
		pass(p, 50);
	}
	pass(p, 3000);
	assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
	assert_true(after.ru_maxrss - before.ru_maxrss < 100000); /* KiB */
	assert_int_equal(atomic_load(&comm_of(p, 0)->state), NT_COMM_REJECTED);
	destroy(p);
}

static void random_runs_never_differ(void **state)
{
	const char *top = getenv("top_builddir");
	char command[512];

	(void)state;
	snprintf(command, sizeof(command),
		 "%s/tests/sim/nt-agree-sim --runs 40 --seed 7 --faults all >/dev/null",
		 top ? top : ".");
	assert_int_equal(WEXITSTATUS(system(command)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_node_explores_then_stays),
		cmocka_unit_test(two_nodes_explore_then_stay),
		cmocka_unit_test(a_plan_for_good_needs_no_stride),
		cmocka_unit_test(a_closed_key_stays_on_auto),
		cmocka_unit_test(nodes_of_many_ranks_agree),
		cmocka_unit_test(the_odd_rank_is_named),
		cmocka_unit_test(a_rank_that_never_shows_is_named),
		cmocka_unit_test(nobody_listens_in_a_window),
		cmocka_unit_test(what_is_not_called_often_is_not_spoken_of),
		cmocka_unit_test(what_is_wanted_early_is_spoken_of_early),
		cmocka_unit_test(silence_after_a_proposal_aborts),
		cmocka_unit_test(homes_rank_waits_for_a_moment),
		cmocka_unit_test(last_words_end_what_is_open),
		cmocka_unit_test(an_agreement_without_us_is_forgotten),
		cmocka_unit_test(a_key_is_closed_once),
		cmocka_unit_test(no_memory_is_taken_for_ranks_that_cannot_be),
		cmocka_unit_test(random_runs_never_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
