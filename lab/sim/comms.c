/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* comms.c - communicators of all shapes, and the program of collectives that all their ranks run */
#include <string.h>
#include "lab/sim/sim.h"

uint64_t sim_key_id(unsigned key)
{
	return nt_key_id(key % SIM_FUNCS, key + 1, 7);
}

/* The newest one: an id may have a second life. */
struct sim_comm *comms_find(struct sim *s, uint64_t id)
{
	for (uint32_t c = s->comm_count; c-- > 0;) {
		if (s->comm[c].id == id && s->comm[c].opened)
			return &s->comm[c];
	}
	return NULL;
}

/* Keys that are all called often, or one for a long time and then another. */
static uint8_t draw_key(struct sim *s, bool in_phases, uint8_t last)
{
	return in_phases && sim_below(s, 30) != 0 ? last : (uint8_t)sim_below(s, s->keys);
}

/* Groups of one to three calls; within one nothing is reported, so all its calls are at one turn
 * of each function. */
static void write_program(struct sim *s, struct sim_comm *c)
{
	uint32_t tasks[SIM_FUNCS] = { 0 }, seen[SIM_FUNCS] = { 0 }, group = 0, i = 0;
	bool in_phases = !s->o.plain && sim_below(s, 2) == 0;
	uint8_t key = 0;

	c->call = sim_take(c->calls + 1, sizeof(*c->call));
	c->choice = sim_take(c->calls + 1, sizeof(*c->choice));
	while (i < c->calls) {
		uint32_t end = i + (sim_below(s, 4) == 0 ? 1 + sim_below(s, 3) : 1);
		uint32_t after[SIM_FUNCS], last[SIM_FUNCS];

		for (uint32_t f = 0; f < SIM_FUNCS; f++) {
			after[f] = tasks[f];
			last[f] = seen[f];
		}
		for (; i < end && i < c->calls; i++) {
			struct sim_call *call = &c->call[i];

			call->key = key = draw_key(s, in_phases, key);
			call->group = group;
			for (uint32_t f = 0; f < SIM_FUNCS; f++) {
				call->turn[f] = tasks[f];
				call->last[f] = last[f];
			}
			call->seq = after[call->key % SIM_FUNCS]++;
			seen[call->key % SIM_FUNCS] = group + 1;
		}
		for (uint32_t f = 0; f < SIM_FUNCS; f++)
			tasks[f] = after[f];
		group++;
	}
}

static void take_strided(struct sim *s, struct sim_comm *c, uint32_t first, uint32_t stride,
			 uint32_t count)
{
	c->proc = sim_take(s->procs + 1, sizeof(*c->proc));
	for (uint32_t p = first; p < s->procs && c->ranks < count; p += stride)
		c->proc[c->ranks++] = p;
}

static void take_across(struct sim *s, struct sim_comm *c)
{
	uint32_t local = sim_below(s, s->ranks_per_node);

	c->proc = sim_take(s->procs + 1, sizeof(*c->proc));
	for (uint32_t n = 0; n < s->nodes; n++) {
		if (local < s->node[n].procs)
			c->proc[c->ranks++] = s->node[n].first_proc + local;
	}
}

/* Any ranks in any order: nothing tells where rank 0 is. */
static void take_any(struct sim *s, struct sim_comm *c)
{
	take_strided(s, c, sim_below(s, s->procs), 1 + sim_below(s, 2), 1 + sim_below(s, 8));
	for (uint32_t i = c->ranks; i > 1; i--) {
		uint32_t j = sim_below(s, i), moved = c->proc[i - 1];

		c->proc[i - 1] = c->proc[j];
		c->proc[j] = moved;
	}
}

static void draw_shape(struct sim *s, struct sim_comm *c)
{
	uint32_t n = sim_below(s, s->nodes), width;

	switch (s->o.plain ? 0 : sim_below(s, 8)) {
	case 0: /* world */ take_strided(s, c, 0, 1, s->procs); break;
	case 1: /* a node */ take_strided(s, c, s->node[n].first_proc, 1, s->node[n].procs); break;
	case 2: /* one rank per node */ take_across(s, c); break;
	case 3: /* data parallel: every width-th rank */
		width = 1 + sim_below(s, 2 * s->ranks_per_node);
		take_strided(s, c, sim_below(s, width < s->procs ? width : s->procs), width,
			     s->procs);
		break;
	case 4: /* tensor parallel: a block of ranks */
		width = 1 + sim_below(s, 2 * s->ranks_per_node);
		take_strided(s, c, sim_below(s, (s->procs + width - 1) / width) * width, 1, width);
		break;
	case 5: /* pipeline: two stages */
		take_strided(s, c, sim_below(s, (s->procs + 1) / 2), (s->procs + 1) / 2, 2);
		break;
	case 6: /* a block over two nodes that starts anywhere */
		take_strided(s, c, s->node[n].first_proc + sim_below(s, s->node[n].procs), 1,
			     2 + sim_below(s, s->ranks_per_node));
		break;
	default: take_any(s, c);
	}
	if (c->ranks == 0)
		take_strided(s, c, 0, 1, 1);
}

static void list_on(struct sim_node *node, struct sim_member *m)
{
	if (node->member_count == node->member_cap)
		node->slot = sim_grow(node->slot, &node->member_cap, sizeof(struct sim_member *));
	node->slot[node->member_count++] = m;
}

/* The ranks of a communicator, who come when it is opened. */
static void seat_later(struct sim *s, struct sim_comm *c)
{
	uint8_t *used = sim_take(s->nodes, 1);

	c->slot = sim_take(c->ranks, sizeof(*c->slot));
	for (uint32_t r = 0; r < c->ranks; r++) {
		struct sim_member *m = &c->slot[r];

		m->comm = c;
		m->rank = r;
		m->proc = c->proc[r];
		m->node = s->node_of[m->proc];
		m->pace = 1 + sim_below(s, s->active >> SIM_FAULT_race & 1 ? 8 : 3);
		m->join_ms = sim_below(s, s->active >> SIM_FAULT_race & 1
						  ? (uint32_t)(40 * s->tick_ms)
						  : s->o.skew_ms);
		m->bare = sim_chance(s, SIM_FAULT_kill, 25);
		s->t.bare_ranks += m->bare;
		c->nodes_used += !used[m->node];
		used[m->node] = 1;
		for (uint32_t k = 0; k < SIM_KEYS; k++)
			m->view[k].slot = -1;
		list_on(&s->node[m->node], m);
	}
	if (!s->o.plain && sim_below(s, 40) == 0)
		c->slot[sim_below(s, c->ranks)].odd = true;
	c->spanning = c->nodes_used > 1;
	c->coordinator = s->node_of[c->proc[0]];
	c->limit = SIM_NEVER;
	c->capture_at = sim_chance(s, SIM_FAULT_graph, 4) ? sim_below(s, c->calls) : SIM_NEVER;
}

static bool has_rank_on(const struct sim *s, const struct sim_comm *c, uint32_t node)
{
	for (uint32_t r = 0; r < c->ranks; r++) {
		if (s->node_of[c->proc[r]] == node)
			return true;
	}
	return false;
}

/* Another node is the coordinator, and reads logs that it has never read: that of another rank, or
 * one that had no rank and does not know the id. */
static void change_first(struct sim *s, struct sim_comm *c)
{
	uint32_t *proc = sim_take(c->ranks, sizeof(*proc)), other = sim_below(s, c->ranks);
	uint32_t newcomer = sim_below(s, s->procs);

	memcpy(proc, c->proc, c->ranks * sizeof(*proc));
	if (has_rank_on(s, c, s->node_of[newcomer])) {
		proc[0] = c->proc[other];
		proc[other] = c->proc[0];
	} else {
		proc[0] = newcomer;
	}
	c->proc = proc;
}

/* An earlier communicator's id and ranks, or its id and others. */
static void live_again(struct sim *s, struct sim_comm *c, uint32_t index)
{
	struct sim_comm *before = &s->comm[index];

	before->ends_silently = sim_chance(s, SIM_FAULT_die, 2);
	c->id = before->id;
	c->again = (int)index;
	c->life = before->life + 1;
	c->pause_ms = sim_below(s, 2) == 0 ? 0 : sim_below(s, 3000);
	if (sim_below(s, 4) == 0)
		return;
	c->proc = before->proc;
	c->ranks = before->ranks;
	if (s->brief && sim_below(s, 4) != 0)
		change_first(s, c);
}

static bool lives_again(struct sim *s, uint32_t before)
{
	if (s->brief)
		return (s->active >> SIM_FAULT_again & 1) && sim_below(s, 3) != 0;
	return s->comm[before].again < 0 && sim_chance(s, SIM_FAULT_again, 2);
}

/* Ranks beside those of the communicator before, on the same nodes, with the same calls: as the
 * groups of a job. Where there are no such, any. */
static void stand_beside(struct sim *s, struct sim_comm *c, struct sim_comm *before)
{
	uint32_t *proc = sim_take(before->ranks, sizeof(*proc));

	for (uint32_t r = 0; r < before->ranks; r++) {
		proc[r] = before->proc[r] + 1;
		if (proc[r] >= s->procs || s->node_of[proc[r]] != s->node_of[before->proc[r]])
			return;
	}
	if (before->like == 0)
		before->like = sim_draw(s) | 1;
	c->like = before->like;
	c->proc = proc;
	c->ranks = before->ranks;
	c->calls = before->calls;
	c->open_ms = before->open_ms;
	c->call = before->call;
	c->choice = sim_take(c->calls + 1, sizeof(*c->choice));
}

static void add_comm(struct sim *s, bool lasting)
{
	struct sim_comm *c = &s->comm[s->comm_count++];
	uint32_t index = s->comm_count - 1;

	*c = (struct sim_comm){ .id = sim_draw(s) | 1, .again = -1 };
	c->calls = lasting ? s->o.calls : 10 + sim_below(s, s->brief ? s->o.calls / 5 : s->o.calls);
	c->open_ms = lasting ? 0
			     : sim_below(s,
					 s->o.calls * (uint32_t)s->tick_ms / (s->brief ? 10 : 2));
	if (!lasting && index > 0 && lives_again(s, index - 1))
		live_again(s, c, index - 1);
	else if (!lasting && index > 0 && sim_below(s, 2) == 0)
		stand_beside(s, c, c - 1);
	if (!c->proc)
		draw_shape(s, c);
	if (!c->call)
		write_program(s, c);
	seat_later(s, c);
}

void comms_make(struct sim *s)
{
	uint32_t count = s->o.plain ? 1 : 1 + sim_below(s, s->o.comms);

	for (uint32_t c = 0; c < count; c++)
		add_comm(s, c == 0 && !s->brief);
	s->t.comms += count;
}
