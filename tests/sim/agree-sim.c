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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/sim/sim.h"

#define STUCK_MS 60000		/* simulated; the longest fault heals within a second */

static void append_log(struct sim *s, struct sim_node *node, const uint8_t *bytes, size_t count)
{
	struct append *a;

	if (node->log_count == node->log_cap) {
		node->log_cap = node->log_cap * 2 + 16;
		node->log = sim_must(realloc(node->log, node->log_cap * sizeof(*node->log)));
	}
	a = &node->log[node->log_count++];
	a->bytes = sim_must(malloc(count));
	memcpy(a->bytes, bytes, count);
	a->count = count;
	a->at_ms = s->now_ms + (s->o.faults ? sim_below(s, 30) : 0);
}

static void read_logs(struct sim *s, uint32_t self)
{
	struct sim_node *node = &s->node[self];

	for (uint32_t other = 0; other < s->o.nodes; other++) {
		struct sim_node *from = &s->node[other];

		if (other == self || !nt_agree_listens(node->agree, other) || sim_below(s, 3) == 0)
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

	if (count == 0 || (s->o.faults && sim_below(s, 8) == 0))
		return;		/* the append failed this time */
	append_log(s, node, bytes, count);
	if (s->o.faults && sim_below(s, 4000) == 0) {
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
	if (s->o.faults && sim_below(s, 300) == 0)
		node->frozen_until_ms = s->now_ms + sim_below(s, 500);
	if (s->o.faults && sim_below(s, 20000) == 0)
		node->dead = true;
	if (s->o.faults && sim_below(s, 20000) == 0) {
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
			uint32_t burst = sim_below(s, 4);

			if (m->comm != &s->comm[c])
				continue;
			for (uint32_t b = 0; b < burst && m->next < s->o.calls && m->next < least + ahead; b++)
				decide(s, m, !s->o.faults || sim_below(s, 50) != 0);
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
	sim_make(s);
	ahead = 1 + sim_below(s, 64);
	while (!all_done(s)) {
		s->now_ms += 1 + sim_below(s, 10);
		for (uint32_t n = 0; n < s->o.nodes; n++)
			step_node(s, n);
		advance_ranks(s, ahead);
		check_waits(s);
	}
	sim_free(s);
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
