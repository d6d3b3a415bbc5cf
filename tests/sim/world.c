/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* world.c - what a run of nt-agree-sim is made of, and the tuner that its homes ask */
#include "tests/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64: every run is repeatable from its seed */
static uint64_t draw(struct sim *s)
{
	uint64_t z = (s->rng += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint32_t sim_below(struct sim *s, uint32_t bound)
{
	return (uint32_t)(draw(s) % bound);
}

void *sim_must(void *memory)
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
	struct sim_key *k = sim_must(calloc(1, sizeof(*k)));

	(void)comm;
	(void)key;
	k->s = s;
	k->rounds = sim_below(s, 3);
	k->keep = sim_below(s, 3) == 0;
	return k;
}

static int hook_next(void *key, struct nt_plan *plan)
{
	struct sim_key *k = key;

	plan->payload_bytes = 8;
	for (uint32_t i = 0; i < 8; i++)
		plan->payload[i] = (uint8_t)draw(k->s);
	if (k->round++ < k->rounds) {
		plan->until = 1 + sim_below(k->s, 40);
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
	c->task = sim_must(calloc(ranks, sizeof(*c->task)));
	c->choice = sim_must(calloc(s->o.calls, sizeof(*c->choice)));
	c->key_of = sim_must(calloc(s->o.calls, 1));
	for (uint32_t r = 0; r < ranks; r++)
		c->task[r] = first + r * stride;
	for (uint32_t i = 0; i < s->o.calls; i++)
		c->key_of[i] = (uint8_t)sim_below(s, KEYS);
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

	s->comm = sim_must(calloc(1 + n + r, sizeof(*s->comm)));
	add_comm(s, n * r, 0, 1);
	for (uint32_t i = 0; i < n && s->o.comms > 1 && r > 1; i++)
		add_comm(s, r, i * r, 1);
	for (uint32_t i = 0; i < r && s->o.comms > 2 && n > 1; i++)
		add_comm(s, n, i, r);
	s->member = sim_must(calloc((size_t)n * r * 3, sizeof(*s->member)));
	for (uint32_t i = 0; i < s->comm_count; i++)
		seat_all(s, &s->comm[i]);
}

static void make_nodes(struct sim *s)
{
	s->node = sim_must(calloc(s->o.nodes, sizeof(*s->node)));
	for (uint32_t i = 0; i < s->o.nodes; i++) {
		struct sim_node *node = &s->node[i];
		struct nt_agree_config config = {
			.hooks = { s, hook_worth, hook_start, hook_next, hook_absorb, free, hook_gather },
			.self = i, .nodes = s->o.nodes, .tasks = s->o.nodes * s->o.ranks_per_node,
			.node_of_task = hook_node, .node_name = hook_name, .node_arg = s, .join_ms = 5000,
		};

		node->board = sim_must(calloc(1, sizeof(*node->board)));
		node->read = sim_must(calloc(s->o.nodes, sizeof(*node->read)));
		config.board = node->board;
		node->agree = sim_must(nt_agree_create(&config, NULL));
	}
}

void sim_free(struct sim *s)
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

void sim_make(struct sim *s)
{
	make_nodes(s);
	make_comms(s);
}
