/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* agree.c - one and two nodes step by step: join, reject, plan, abort; nt-agree-sim has the random
 * runs */
#include <sys/resource.h>
#include "pmix-sync/log-entry.h"
#include "tests/unit/pmix-sync/agree-pair.h"

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
	for (uint32_t r = 0; r < NT_SHM_RUNS; r++)
		assert_int_equal(atomic_load(&p->shm[0]->run[r].owner), 0);
	destroy(p);
}

static void one_node_explores_then_stays(void **state)
{
	explores_then_stays(1);
}

static void two_nodes_explore_then_stay(void **state)
{
	explores_then_stays(2);
}

/* The number of collectives until a commit is followed, for a key whose first plan is one. */
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

/* A commit does not wait for counts that only windows need. */
static void a_plan_for_good_needs_no_stride(void **state)
{
	for (uint32_t nodes = 1; nodes <= 2; nodes++) {
		int sooner = calls_until_good(nodes, true), later = calls_until_good(nodes, false);

		assert_true(sooner >= 4 && sooner <= 12);
		assert_true(later >= sooner + 6);
	}
}

static void a_closed_key_stays_on_auto(void **state)
{
	struct pair *p = make(2, NULL);

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

#define MANY 40 /* ranks of a node; both together are more than a word has bits */

static void the_odd_rank_is_named(void **state)
{
	static const struct {
		struct nt_capabilities caps;
		const char *says;
	} cases[] = {
		{ { .rank = 1, .task = 1, .active = 1, .nccl = 22705 }, "nccl:1:" },
		{ { .rank = 1, .task = 1, .active = 1, .nccl = 22809, .policy = 5 }, "policy:1:" },
		{ { .rank = 1, .task = 1, .active = 1, .nccl = 22809, .warm = 5 }, "warm:1:" },
		{ { .rank = 1, .task = 1, .active = 1, .nccl = 22809, .build = 5 }, "build:1:" },
		{ { .rank = 1, .task = 1, .active = 1, .nccl = 22809, .fingerprint = 5 },
		  "hardware:1:" },
		{ { .rank = 1, .task = 1, .idle = NT_IDLE_MODE, .nccl = 22809 }, "differs:1:" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (uint32_t nodes = 1; nodes <= 2; nodes++) {
			struct pair *p = make(nodes, &cases[i].caps);

			pass(p, 500);
			for (int r = 0; r < 2; r++) {
				assert_int_equal(atomic_load(&comm_of(p, r)->state),
						 NT_COMM_REJECTED);
				if (!strstr(comm_of(p, r)->why, cases[i].says) ||
				    !strstr(comm_of(p, r)->why, nodes == 1 ? ":1:n1:" : ":1:n2:"))
					fail_msg("%s", comm_of(p, r)->why);
			}
			destroy(p);
		}
	}
}

/* Ranks of a node share an entry in the log. */
static void cards_of_a_node_carry_the_risks_of_all_its_ranks(void **state)
{
	static const struct nt_capabilities caps[] = {
		{ .rank = 0, .task = 0, .active = 1, .nccl = 22809 },
		{ .rank = 1, .task = 1, .active = 1, .nccl = 22809 },
		{ .rank = 2, .task = 1, .active = 1, .nccl = 22809, .risks = NT_RISK_C2C },
	};
	struct pair *p = make(2, NULL);
	struct nt_slot slot;

	for (uint32_t r = 0; r < 3; r++)
		assert_int_equal(nt_shm_join(p->shm[r > 0], 78, 3, 2, &caps[r], &slot, NULL), 0);
	pass(p, 500);
	for (uint32_t n = 0; n < 2; n++) {
		const struct nt_shm_comm *comm = p->shm[n]->comm;

		assert_int_equal(atomic_load(&comm[1].id), 78);
		assert_int_equal(atomic_load(&comm[1].state), NT_COMM_AGREED);
		assert_int_equal(atomic_load(&comm[1].risks), NT_RISK_C2C);
		assert_int_equal(atomic_load(&comm[0].risks), 0);
	}
	destroy(p);
}

static void a_rank_that_never_shows_is_named(void **state)
{
	struct pair *p = make(2, NULL);

	for (int i = 0; i < 150; i++) { /* the second node writes nothing */
		(void)nt_agree_step(p->agree[0], p->now_ms += 10);
		carry(p, 0);
	}
	assert_int_equal(atomic_load(&comm_of(p, 0)->state), NT_COMM_REJECTED);
	assert_non_null(strstr(comm_of(p, 0)->why, "unseen:1:1:2"));
	destroy(p);
}

/* Other nodes hear of a communicator once it is worth it; then its time to join begins. */
static void what_is_not_called_often_is_not_spoken_of(void **state)
{
	const uint8_t *bytes;
	struct pair *p;

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

/* ... or earlier, if the tuner says that it is worth it. */
static void what_is_wanted_early_is_spoken_of_early(void **state)
{
	const uint8_t *bytes;
	struct pair *p;

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

/* The other node reads a proposal late, and the coordinator's rank has reached its turn: it does
 * not wait until the time for answers is over, and the plan comes later. */
static void homes_rank_waits_for_a_moment(void **state)
{
	struct pair *p = make(2, NULL);
	struct nt_shm_key *key = &comm_of(p, 0)->key[0];
	uint64_t turn;

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

/* An old log entry may name other nodes only; if rank 0 joins here later, this node is the
 * coordinator nevertheless. */
static void an_agreement_without_us_is_forgotten(void **state)
{
	static const uint32_t others[] = { 0 };
	const struct nt_capabilities caps = { .rank = 0, .task = 0, .active = 1, .nccl = 22809 };
	struct pair *p = make(2, NULL);
	uint8_t nodes[8], bytes[64];
	struct nt_entry agreed = { .type = NT_ENTRY_AGREED, .comm = 77, .bytes = nodes };
	int explored = 0;

	agreed.count = nt_entry_nodes_write(others, 1, nodes, sizeof(nodes));
	for (int i = 0; i < 10; i++) /* it searches for its coordinator */
		(void)nt_agree_step(p->agree[1], p->now_ms += 10);
	nt_agree_in(p->agree[1], 0, bytes, nt_entry_write(&agreed, bytes, sizeof(bytes)),
		    p->now_ms);
	assert_int_equal(atomic_load(&comm_of(p, 1)->state), NT_COMM_JOINING);
	assert_int_equal(nt_shm_join(p->shm[1], 77, 2, 1, &caps, &p->slot[0], NULL), 0);
	for (int i = 0; i < 100; i++) {
		explored += collective(p) == 10;
		(void)nt_agree_step(p->agree[1], p->now_ms += 10);
		carry(p, 1);
	}
	assert_int_equal(atomic_load(&comm_of(p, 1)->state), NT_COMM_AGREED);
	assert_int_equal(explored, 6);
	destroy(p);
}

static void hear_from_1(struct pair *p, const struct nt_entry *entry)
{
	uint8_t bytes[NT_ENTRY_MAX];

	nt_agree_in(p->agree[0], 1, bytes, nt_entry_write(entry, bytes, sizeof(bytes)), p->now_ms);
}

/* Node 0 and its rank, while node 1 is silent. */
static void go_on_alone(struct pair *p, int calls)
{
	static const float cost[NT_PAIRS];

	for (int i = 0; i < calls; i++) {
		const int slot = nt_shm_key(&p->slot[0], KEY, 5, cost, NT_SHM_KEYS);
		struct nt_shm_key *key = &comm_of(p, 0)->key[slot];
		const uint8_t *bytes = NULL;

		atomic_fetch_add(&key->calls[0], 1);
		if (atomic_load(&key->state) == NT_KEY_IDLE ||
		    nt_turn_take(key, 0, p->turn, &p->view[0]) == NT_TURN_GO)
			p->turn++;
		(void)nt_agree_step(p->agree[0], p->now_ms += 10);
		if (nt_agree_out(p->agree[0], &bytes) > 0)
			nt_agree_sent(p->agree[0], p->now_ms);
	}
}

/* What node 0 commits with CAPS, READY and ACK in node 1's log; the answers name a coordinator. */
static uint64_t commits_on_answers_to(uint32_t coordinator)
{
	struct pair *p = make(2, NULL);
	struct nt_entry_caps of_rank_1 = { .common = p->shm[1]->comm[0].slot[0].caps,
					   .count = 1,
					   .slot = { { 1, 1 } } };
	uint8_t bytes[256];
	struct nt_entry caps = { .type = NT_ENTRY_CAPS, .comm = 77, .bytes = bytes };
	struct nt_entry answer = {
		.type = NT_ENTRY_READY, .to = coordinator, .comm = 77, .key = KEY, .turn = 1
	};
	uint64_t commits;

	caps.count = nt_entry_caps_write(&of_rank_1, bytes, sizeof(bytes));
	go_on_alone(p, 5);
	hear_from_1(p, &caps);
	go_on_alone(p, 20);
	assert_int_equal(atomic_load(&comm_of(p, 0)->state), NT_COMM_AGREED);
	assert_int_equal(atomic_load(&comm_of(p, 0)->key[0].state), NT_KEY_OPEN);
	hear_from_1(p, &answer);
	answer.type = NT_ENTRY_ACK;
	answer.epoch = 1;
	hear_from_1(p, &answer);
	go_on_alone(p, 20);
	commits = nt_agree_count(p->agree[0]).commits;
	assert_int_equal(atomic_load(&comm_of(p, 0)->key[0].epoch), commits);
	destroy(p);
	return commits;
}

/* Node 1 has answered another node, the coordinator of an earlier communicator of this id. */
static void answers_to_an_earlier_coordinator_count_for_nothing(void **state)
{
	assert_int_equal(commits_on_answers_to(0), 1);
	assert_int_equal(commits_on_answers_to(2), 0);
}

/* Ranks read the state of a closed key in shared memory: a later CLOSE changes nothing. */
static void a_key_is_closed_once(void **state)
{
	struct pair *p = make(2, NULL);
	struct nt_entry close = { .type = NT_ENTRY_CLOSE,
				  .comm = 77,
				  .key = KEY,
				  .bytes = (const uint8_t *)"x",
				  .count = 1 };
	struct nt_shm_key *key = &comm_of(p, 1)->key[0];
	uint8_t bytes[64];

	for (int i = 0; i < 10; i++) {
		assert_int_equal(collective(p), 0);
		pass(p, 10);
	}
	assert_int_equal(atomic_load(&key->state), NT_KEY_OPEN);
	atomic_store(&comm_of(p, 1)->slot[p->slot[1].index].flags, NT_PARTICIPANT_GRAPHS);
	(void)nt_agree_step(p->agree[1], p->now_ms += 10);
	assert_int_equal(atomic_load(&key->state), NT_KEY_CLOSED);
	nt_agree_in(p->agree[1], 0, bytes, nt_entry_write(&close, bytes, sizeof(bytes)), p->now_ms);
	assert_int_equal(atomic_load(&key->state), NT_KEY_CLOSED);
	assert_int_equal(key->result_bytes, 0);
	destroy(p);
}

/* The number of ranks is in shared memory, where any rank can write. */
static void no_memory_is_taken_for_ranks_that_cannot_be(void **state)
{
	struct pair *p = make(1, NULL);
	struct rusage before, after;

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

	snprintf(command, sizeof(command),
		 "%s/lab/sim/nt-agree-sim --runs 40 --seed 7 --faults all >/dev/null",
		 top ? top : ".");
	assert_int_equal(WEXITSTATUS(system(command)), 0);
}

UNIT_TESTS(one_node_explores_then_stays, two_nodes_explore_then_stay,
	   a_plan_for_good_needs_no_stride, a_closed_key_stays_on_auto, the_odd_rank_is_named,
	   cards_of_a_node_carry_the_risks_of_all_its_ranks, a_rank_that_never_shows_is_named,
	   what_is_not_called_often_is_not_spoken_of, what_is_wanted_early_is_spoken_of_early,
	   homes_rank_waits_for_a_moment, last_words_end_what_is_open,
	   an_agreement_without_us_is_forgotten,
	   answers_to_an_earlier_coordinator_count_for_nothing, a_key_is_closed_once,
	   no_memory_is_taken_for_ranks_that_cannot_be, random_runs_never_differ);
