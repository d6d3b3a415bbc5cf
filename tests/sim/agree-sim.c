/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* agree-sim.c - random runs of the agreement: real boards, real state machine, a simulated network and clock
 *
 * Every rank issues the same collectives of its communicators in the same order, at its own pace. Logs are read
 * late and in pieces; speakers fall silent, leave in good order or die; ranks race ahead, decide without a collective
 * following (probes), or stop. What each rank follows at each collective is compared with what the first rank to get
 * there followed. One JSON line tells what happened; the exit status is 1 if two ranks ever differed or one waited
 * without end although its own speaker and the communicator's home lived.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pmix-sync/agree.h"
#include "pmix-sync/board.h"
#include "pmix-sync/turn.h"

#define KEYS 3			/* different keys of one communicator */
#define CALLS_MAX 4096
#define STUCK_MS 60000		/* simulated; the longest fault heals within a second */

struct options {
	uint32_t nodes, ranks_per_node, calls, comms;
	uint64_t runs, seed;
	bool faults;
};

struct sim_comm {
	uint64_t id;
	uint32_t ranks;
	uint32_t *task;			/* by rank */
	uint32_t *choice;		/* by collective: what the first rank followed, 0 none yet */
	uint8_t *key_of;		/* by collective */
};

struct sim_member {			/* a task's rank in a communicator */
	struct sim_comm *comm;
	uint32_t task;
	struct nt_seat seat;
	uint32_t next;			/* collective it issues next */
	int slot[KEYS];
	struct nt_turn turn[KEYS];
	uint64_t calls[KEYS];
	uint64_t waiting_ms;		/* since when; 0: not waiting */
};

struct append {
	uint8_t *bytes;
	size_t count;
	uint64_t at_ms;			/* when others can read it */
};

struct sim_node {
	struct nt_board *board;
	struct nt_agree *agree;
	struct append *log;
	uint32_t log_count, log_cap;
	uint32_t *read;			/* by node: appends of its log already read */
	bool dead, left;
	uint64_t frozen_until_ms;
};

struct sim {
	struct options o;
	uint64_t rng, now_ms;
	struct sim_node *node;
	struct sim_comm *comm;
	uint32_t comm_count;
	struct sim_member *member;	/* tasks * comms of a task */
	uint32_t member_count;
	uint64_t mismatches, stuck, polls, commits, aborts, excused;
};

/* splitmix64: every run is repeatable from its seed */
static uint64_t draw(struct sim *s)
{
	uint64_t z = (s->rng += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint32_t below(struct sim *s, uint32_t bound)
{
	return (uint32_t)(draw(s) % bound);
}

static void *must(void *memory)
{
	if (!memory) {
		fprintf(stderr, "nt-agree-sim: out of memory\n");
		exit(2);
	}
	return memory;
}

/* The home's tuner: some keys explore twice and end with an arm, some close. */
struct sim_key {
	struct sim *s;
	uint32_t round, rounds;
	bool keep;
};

static bool hook_worth(void *arg, const struct nt_board_comm *comm, const struct nt_board_key *key)
{
	(void)arg;
	(void)comm;
	for (uint32_t m = 0; m < NT_BOARD_MEMBERS; m++) {
		if (atomic_load(&key->calls[m]) >= 6)
			return true;
	}
	return false;
}

static void *hook_start(void *arg, const struct nt_board_comm *comm, const struct nt_board_key *key)
{
	struct sim *s = arg;
	struct sim_key *k = must(calloc(1, sizeof(*k)));

	(void)comm;
	(void)key;
	k->s = s;
	k->rounds = below(s, 3);
	k->keep = below(s, 3) == 0;
	return k;
}

static int hook_next(void *key, struct nt_plan *plan)
{
	struct sim_key *k = key;

	plan->payload_bytes = 8;
	for (uint32_t i = 0; i < 8; i++)
		plan->payload[i] = (uint8_t)draw(k->s);
	if (k->round++ < k->rounds) {
		plan->until = 1 + below(k->s, 40);
		return 1;
	}
	plan->until = NT_NEVER;
	return k->keep ? 0 : 1;
}

static void hook_absorb(void *key, const uint8_t *bytes, size_t count)
{
	(void)key;
	(void)bytes;
	(void)count;
}

static size_t hook_gather(void *arg, const struct nt_board *board, const struct nt_plan *plan, uint32_t members,
			  uint8_t *out, size_t cap)
{
	(void)arg;
	(void)board;
	(void)plan;
	(void)members;
	memset(out, 7, cap < 40 ? cap : 40);
	return cap < 40 ? cap : 40;
}

static int hook_node(void *arg, uint32_t task)
{
	struct sim *s = arg;

	return task < s->o.nodes * s->o.ranks_per_node ? (int)(task / s->o.ranks_per_node) : -1;
}

static const char *hook_name(void *arg, uint32_t node)
{
	(void)arg;
	(void)node;
	return "node";
}

static void add_comm(struct sim *s, uint32_t ranks, uint32_t first, uint32_t stride)
{
	struct sim_comm *c = &s->comm[s->comm_count++];

	c->id = draw(s) | 1;
	c->ranks = ranks;
	c->task = must(calloc(ranks, sizeof(*c->task)));
	c->choice = must(calloc(s->o.calls, sizeof(*c->choice)));
	c->key_of = must(calloc(s->o.calls, 1));
	for (uint32_t r = 0; r < ranks; r++)
		c->task[r] = first + r * stride;
	for (uint32_t i = 0; i < s->o.calls; i++)
		c->key_of[i] = (uint8_t)below(s, KEYS);
}

static void seat_all(struct sim *s, struct sim_comm *c)
{
	for (uint32_t r = 0; r < c->ranks; r++) {
		struct sim_member *m = &s->member[s->member_count++];
		struct nt_card card = { .rank = (int32_t)r, .task = c->task[r], .active = 1 };
		uint32_t node = c->task[r] / s->o.ranks_per_node;
		struct nt_error err;

		memset(m, 0, sizeof(*m));
		m->comm = c;
		m->task = c->task[r];
		if (nt_board_join(s->node[node].board, c->id, c->ranks, s->o.nodes, &card, &m->seat, &err) < 0) {
			fprintf(stderr, "nt-agree-sim: %s\n", err.text);
			exit(2);
		}
		for (int k = 0; k < KEYS; k++)
			m->slot[k] = -1;
	}
}

/* World, one communicator per node, and one across nodes for each local rank, as far as asked for. */
static void make_comms(struct sim *s)
{
	uint32_t n = s->o.nodes, r = s->o.ranks_per_node;

	s->comm = must(calloc(1 + n + r, sizeof(*s->comm)));
	add_comm(s, n * r, 0, 1);
	for (uint32_t i = 0; i < n && s->o.comms > 1 && r > 1; i++)
		add_comm(s, r, i * r, 1);
	for (uint32_t i = 0; i < r && s->o.comms > 2 && n > 1; i++)
		add_comm(s, n, i, r);
	s->member = must(calloc((size_t)n * r * 3, sizeof(*s->member)));
	for (uint32_t i = 0; i < s->comm_count; i++)
		seat_all(s, &s->comm[i]);
}

static void make_nodes(struct sim *s)
{
	s->node = must(calloc(s->o.nodes, sizeof(*s->node)));
	for (uint32_t i = 0; i < s->o.nodes; i++) {
		struct sim_node *node = &s->node[i];
		struct nt_agree_config config = {
			.hooks = { s, hook_worth, hook_start, hook_next, hook_absorb, free, hook_gather },
			.self = i, .nodes = s->o.nodes, .tasks = s->o.nodes * s->o.ranks_per_node,
			.node_of_task = hook_node, .node_name = hook_name, .node_arg = s, .join_ms = 5000,
		};

		node->board = must(calloc(1, sizeof(*node->board)));
		node->read = must(calloc(s->o.nodes, sizeof(*node->read)));
		config.board = node->board;
		node->agree = must(nt_agree_create(&config, NULL));
	}
}

static void free_all(struct sim *s)
{
	for (uint32_t i = 0; i < s->o.nodes; i++) {
		struct nt_agree_counts counts = nt_agree_count(s->node[i].agree);

		s->commits += counts.commits;
		s->aborts += counts.aborts;
		nt_agree_destroy(s->node[i].agree);
		for (uint32_t a = 0; a < s->node[i].log_count; a++)
			free(s->node[i].log[a].bytes);
		free(s->node[i].log);
		free(s->node[i].read);
		free(s->node[i].board);
	}
	for (uint32_t i = 0; i < s->comm_count; i++) {
		free(s->comm[i].task);
		free(s->comm[i].choice);
		free(s->comm[i].key_of);
	}
	free(s->comm);
	free(s->member);
	free(s->node);
	s->comm_count = s->member_count = 0;
}

static void append_log(struct sim *s, struct sim_node *node, const uint8_t *bytes, size_t count)
{
	struct append *a;

	if (node->log_count == node->log_cap) {
		node->log_cap = node->log_cap * 2 + 16;
		node->log = must(realloc(node->log, node->log_cap * sizeof(*node->log)));
	}
	a = &node->log[node->log_count++];
	a->bytes = must(malloc(count));
	memcpy(a->bytes, bytes, count);
	a->count = count;
	a->at_ms = s->now_ms + (s->o.faults ? below(s, 30) : 0);
}

static void read_logs(struct sim *s, uint32_t self)
{
	struct sim_node *node = &s->node[self];

	for (uint32_t other = 0; other < s->o.nodes; other++) {
		struct sim_node *from = &s->node[other];

		if (other == self || !nt_agree_listens(node->agree, other) || below(s, 3) == 0)
			continue;
		s->polls++;
		while (node->read[other] < from->log_count && from->log[node->read[other]].at_ms <= s->now_ms) {
			struct append *a = &from->log[node->read[other]++];

			nt_agree_in(node->agree, other, a->bytes, a->count, s->now_ms);
		}
	}
}

static void speak(struct sim *s, struct sim_node *node)
{
	const uint8_t *bytes;
	size_t count = nt_agree_out(node->agree, &bytes);

	if (count == 0 || (s->o.faults && below(s, 8) == 0))
		return;		/* the append failed this time */
	append_log(s, node, bytes, count);
	if (s->o.faults && below(s, 4000) == 0) {
		node->dead = true;	/* died between the append and its effect here */
		return;
	}
	nt_agree_sent(node->agree, s->now_ms);
}

static void step_node(struct sim *s, uint32_t self)
{
	struct sim_node *node = &s->node[self];

	if (node->dead || node->left || s->now_ms < node->frozen_until_ms)
		return;
	if (s->o.faults && below(s, 300) == 0)
		node->frozen_until_ms = s->now_ms + below(s, 500);
	if (s->o.faults && below(s, 20000) == 0)
		node->dead = true;
	if (s->o.faults && below(s, 20000) == 0) {
		nt_agree_leave(node->agree, s->now_ms);
		speak(s, node);
		node->left = true;
	}
	if (node->dead || node->left)
		return;
	read_logs(s, self);
	(void)nt_agree_step(node->agree, s->now_ms);
	speak(s, node);
}

/* What a rank follows, in one number; 1 is AUTO. */
static uint32_t followed(const struct nt_turn *turn, uint64_t at)
{
	int64_t position = nt_turn_position(turn, at);
	uint32_t hash = 2166136261u;

	if (position < 0)
		return 1;
	for (uint32_t i = 0; i < turn->plan.payload_bytes; i++)
		hash = (hash ^ turn->plan.payload[i]) * 16777619u;
	hash = (hash ^ (uint32_t)position) * 16777619u;
	return hash | 2;
}

static void note_samples(struct sim_member *m, int k, uint64_t turn)
{
	const struct nt_plan *plan = &m->turn[k].plan;

	if (nt_turn_position(&m->turn[k], turn) >= 0 && plan->run != NT_NO_RUN) {
		atomic_fetch_add(&m->seat.board->run[plan->run].issued[m->seat.member], 1);
		atomic_fetch_add(&m->seat.board->run[plan->run].done[m->seat.member], 1);
	}
}

static void register_key(struct sim_member *m, int k)
{
	float cost[NT_PAIRS] = { 0 };

	if (m->slot[k] < 0)
		m->slot[k] = nt_board_key(&m->seat, nt_key_id(NT_ALLREDUCE, (unsigned)k + 1, 7), 1, cost);
}

/* One decision; with real set its collective follows. Like the tuner, turns are published while a key is open. */
static void decide(struct sim *s, struct sim_member *m, bool real)
{
	int k = m->comm->key_of[m->next];
	struct nt_board_key *key;
	uint64_t turn = m->next;
	uint32_t choice;

	register_key(m, k);
	key = &m->seat.board->comm[m->seat.comm].key[m->slot[k]];
	if (atomic_load(&key->state) != NT_KEY_IDLE) {
		if (nt_turn_take(key, m->seat.member, turn, &m->turn[k]) == NT_TURN_WAIT) {
			if (m->waiting_ms == 0)
				m->waiting_ms = s->now_ms;
			return;
		}
	}
	m->waiting_ms = 0;
	atomic_store(&key->calls[m->seat.member], ++m->calls[k]);
	if (!real)
		return;
	choice = followed(&m->turn[k], turn);
	if (m->comm->choice[turn] == 0)
		m->comm->choice[turn] = choice;
	else if (m->comm->choice[turn] != choice)
		s->mismatches++;
	note_samples(m, k, turn);
	m->next++;
}

/* The slowest rank of each communicator, so that nobody runs further ahead than a launch queue allows. */
static uint32_t slowest(struct sim *s, const struct sim_comm *c)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < s->member_count; i++) {
		if (s->member[i].comm == c && s->member[i].next < least)
			least = s->member[i].next;
	}
	return least;
}

static void advance_ranks(struct sim *s, uint32_t ahead)
{
	for (uint32_t c = 0; c < s->comm_count; c++) {
		uint32_t least = slowest(s, &s->comm[c]);

		for (uint32_t i = 0; i < s->member_count; i++) {
			struct sim_member *m = &s->member[i];
			uint32_t burst = below(s, 4);

			if (m->comm != &s->comm[c])
				continue;
			for (uint32_t b = 0; b < burst && m->next < s->o.calls && m->next < least + ahead; b++)
				decide(s, m, !s->o.faults || below(s, 50) != 0);
		}
	}
}

static bool home_lives(struct sim *s, const struct sim_comm *c)
{
	const struct sim_node *node = &s->node[c->task[0] / s->o.ranks_per_node];

	return !node->dead && !node->left;
}

static void check_waits(struct sim *s)
{
	for (uint32_t i = 0; i < s->member_count; i++) {
		struct sim_member *m = &s->member[i];
		const struct sim_node *own = &s->node[m->task / s->o.ranks_per_node];

		if (m->waiting_ms == 0 || s->now_ms - m->waiting_ms < STUCK_MS)
			continue;
		if (home_lives(s, m->comm) && !own->dead && !own->left)
			s->stuck++;
		else
			s->excused++;
		m->next = s->o.calls;	/* the collective fails here */
		m->waiting_ms = 0;
	}
}

static bool all_done(const struct sim *s)
{
	for (uint32_t i = 0; i < s->member_count; i++) {
		if (s->member[i].next < s->o.calls)
			return false;
	}
	return true;
}

static void run_once(struct sim *s, uint64_t seed)
{
	uint32_t ahead;

	s->rng = seed;
	s->now_ms = 1000;
	make_nodes(s);
	make_comms(s);
	ahead = 1 + below(s, 64);
	while (!all_done(s)) {
		s->now_ms += 1 + below(s, 10);
		for (uint32_t n = 0; n < s->o.nodes; n++)
			step_node(s, n);
		advance_ranks(s, ahead);
		check_waits(s);
	}
	free_all(s);
}

static void usage(void)
{
	fprintf(stderr, "usage: nt-agree-sim [--nodes N] [--ranks-per-node R] [--runs N] [--calls N] [--comms 1..3] "
			"[--seed S] [--faults all|none]\n");
	exit(2);
}

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option known[] = {
		{ "nodes", required_argument, NULL, 'n' },   { "ranks-per-node", required_argument, NULL, 'r' },
		{ "runs", required_argument, NULL, 'R' },    { "seed", required_argument, NULL, 's' },
		{ "faults", required_argument, NULL, 'f' },  { "calls", required_argument, NULL, 'c' },
		{ "comms", required_argument, NULL, 'C' },   { NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (c) {
		case 'n': o->nodes = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'r': o->ranks_per_node = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'R': o->runs = strtoull(optarg, NULL, 10); break;
		case 's': o->seed = strtoull(optarg, NULL, 10); break;
		case 'c': o->calls = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'C': o->comms = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'f': o->faults = strcmp(optarg, "none") != 0; break;
		default: usage();
		}
	}
	if (o->nodes == 0 || o->ranks_per_node == 0 || o->ranks_per_node > NT_BOARD_MEMBERS || o->calls == 0 ||
	    o->calls > CALLS_MAX || optind != argc)
		usage();
}

int main(int argc, char **argv)
{
	struct sim s = { .o = { .nodes = 4, .ranks_per_node = 2, .calls = 400, .comms = 3, .runs = 100, .seed = 1,
				.faults = true } };

	parse(argc, argv, &s.o);
	for (uint64_t i = 0; i < s.o.runs; i++)
		run_once(&s, s.o.seed + i * UINT64_C(1000003));
	printf("{\"nodes\":%u,\"ranks_per_node\":%u,\"runs\":%llu,\"mismatches\":%llu,\"stuck\":%llu,"
	       "\"excused\":%llu,\"commits\":%llu,\"aborts\":%llu,\"polls_per_node\":%.1f}\n",
	       s.o.nodes, s.o.ranks_per_node, (unsigned long long)s.o.runs, (unsigned long long)s.mismatches,
	       (unsigned long long)s.stuck, (unsigned long long)s.excused, (unsigned long long)s.commits,
	       (unsigned long long)s.aborts, (double)s.polls / (double)s.o.runs / s.o.nodes);
	return s.mismatches || s.stuck ? 1 : 0;
}
