/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* world.c - what a run of nt-agree-sim is made of: chance, memory, nodes and how tasks lie on
 * them */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "lab/sim/sim.h"

#define ARENA_CHUNK ((size_t)1 << 20)
#define SHMS_WHOLE 16 /* Shared memories that may take all their memory */
#define SIM_JOIN_MS 5000

struct chunk {
	struct chunk *next;
	size_t bytes, used;
	_Alignas(16) uint8_t memory[];
};

static struct chunk *first, *current;

/* Shared memories outlive runs: mapped once, of which a run touches little and clears what it has
 * touched. */
static struct nt_shm **shms;
static uint32_t shm_count;

/* splitmix64: every run is repeatable from its seed */
uint64_t sim_draw(struct sim *s)
{
	uint64_t z = (s->rng += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint32_t sim_below(struct sim *s, uint32_t bound)
{
	return (uint32_t)(((sim_draw(s) >> 32) * bound) >> 32);
}

bool sim_chance(struct sim *s, enum sim_fault fault, uint32_t one_in)
{
	return (s->active >> fault & 1) && sim_below(s, one_in * s->rarity) == 0;
}

void *sim_must(void *memory)
{
	if (!memory) {
		fprintf(stderr, "nt-agree-sim: out of memory\n");
		exit(2);
	}
	return memory;
}

static struct chunk *chunk_for(size_t bytes)
{
	size_t room = bytes > ARENA_CHUNK ? bytes : ARENA_CHUNK;
	struct chunk *chunk = sim_must(malloc(sizeof(*chunk) + room));

	chunk->bytes = room;
	chunk->used = 0;
	chunk->next = NULL;
	return chunk;
}

void *sim_take(size_t count, size_t size)
{
	size_t bytes = (count * size + 15) & ~(size_t)15;
	void *at;

	if (!first)
		first = current = chunk_for(bytes);
	while (current->bytes - current->used < bytes) {
		if (!current->next)
			current->next = chunk_for(bytes);
		current = current->next;
		current->used = 0;
	}
	at = current->memory + current->used;
	current->used += bytes;
	return memset(at, 0, bytes);
}

void *sim_grow(void *array, uint32_t *cap, size_t size)
{
	uint32_t grown = *cap * 2 + 8;
	void *at = sim_take(grown, size);

	if (*cap > 0)
		memcpy(at, array, *cap * size);
	*cap = grown;
	return at;
}

static struct nt_shm *shm_of(uint32_t node)
{
	void *at;

	if (node < shm_count)
		return shms[node];
	shms = sim_must(realloc(shms, (node + 1) * sizeof(struct nt_shm *)));
	at = mmap(NULL, sizeof(struct nt_shm), PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at != MAP_FAILED && node < SHMS_WHOLE)
		/* a step looks at a word in each page */
		(void)madvise(at, sizeof(struct nt_shm), MADV_HUGEPAGE);
	shms[node] = sim_must(at == MAP_FAILED ? NULL : at);
	shm_count = node + 1;
	return shms[node];
}

/* Zero what was used; keys are claimed from the first on. */
static void clear_shm(struct nt_shm *shm)
{
	for (uint32_t c = 0; c < NT_SHM_COMMS; c++) {
		struct nt_shm_comm *comm = &shm->comm[c];
		uint32_t k = 0;

		while (k < NT_SHM_KEYS && __atomic_load_n(&comm->key[k].id, __ATOMIC_RELAXED) != 0)
			k++;
		if (k > 0 || __atomic_load_n(&comm->id, __ATOMIC_RELAXED) != 0 ||
		    __atomic_load_n(&comm->ranks, __ATOMIC_RELAXED) != 0)
			memset((void *)comm, 0,
			       offsetof(struct nt_shm_comm, key) + k * sizeof(comm->key[0]));
	}
	for (uint32_t r = 0; r < NT_SHM_RUNS; r++) {
		if (__atomic_load_n(&shm->run[r].owner, __ATOMIC_RELAXED) != 0)
			memset((void *)&shm->run[r], 0, offsetof(struct nt_shm_run, sample));
	}
	memset((void *)shm, 0, offsetof(struct nt_shm, comm));
}

static int node_of_task(void *arg, uint32_t task)
{
	const struct sim *s = arg;

	if (task >= s->tasks)
		return -1;
	if (s->one_task_per_node)
		return (int)task;
	if (s->cyclic)
		return (int)(task % s->nodes);
	return (int)s->node_of[task];
}

static int this_node(void *arg, uint32_t task)
{
	(void)arg;
	(void)task;
	return 0;
}

static const char *node_name(void *arg, uint32_t node)
{
	(void)arg;
	(void)node;
	return "node";
}

static void make_node(struct sim *s, uint32_t index)
{
	struct sim_node *node = &s->node[index];
	struct nt_agree_config config = {
		.hooks = tuner_hooks(s),
		.self = index,
		.nodes = s->nodes,
		.tasks = s->tasks,
		.node_of_task = node_of_task,
		.node_name = node_name,
		.node_arg = s,
		.join_ms = SIM_JOIN_MS,
	};

	node->shm = shm_of(index);
	node->tail_of = sim_take(s->nodes, sizeof(*node->tail_of));
	config.shm = node->shm;
	config.join_calls = s->join_calls;
	config.agree_ms = SIM_AGREE_MS;
	config.join_ms = (uint32_t)(SIM_JOIN_MS + 100 * s->tick_ms + 30 * s->nodes);
	node->agree = sim_must(nt_agree_create(&config, NULL));
	if (sim_chance(s, SIM_FAULT_die, 40)) {
		node->mute = true;
		s->t.mute_nodes++;
	}
}

/* Nodes of different widths, tasks in blocks or dealt out in turn, or one task that stands for
 * all ranks of its node, as a launcher like torchrun does it. */
static void lay_out(struct sim *s)
{
	bool uneven = !s->o.plain && s->ranks_per_node > 1 && sim_below(s, 5) == 0;
	uint32_t task = 0;

	s->one_task_per_node = !s->o.plain && sim_below(s, 8) == 0;
	s->cyclic = !s->o.plain && !uneven && !s->one_task_per_node && sim_below(s, 8) == 0;
	for (uint32_t n = 0; n < s->nodes; n++) {
		s->node[n].procs = uneven ? 1 + sim_below(s, s->ranks_per_node) : s->ranks_per_node;
		s->node[n].first_proc = task;
		task += s->node[n].procs;
	}
	s->procs = task;
	s->tasks = s->one_task_per_node ? s->nodes : s->procs;
	s->node_of = sim_take(s->procs, sizeof(*s->node_of));
	s->task_of = sim_take(s->procs, sizeof(*s->task_of));
	for (uint32_t n = 0; n < s->nodes; n++) {
		for (uint32_t l = 0; l < s->node[n].procs; l++) {
			uint32_t p = s->node[n].first_proc + l;

			s->node_of[p] = n;
			s->task_of[p] = s->one_task_per_node ? n : s->cyclic ? l * s->nodes + n : p;
		}
	}
}

/* A step of one size, or of any: most small, where steps are cheap and all orders of events come
 * up. */
static void draw_size(struct sim *s)
{
	uint32_t kind = sim_below(s, 20000);

	s->nodes = s->o.nodes;
	s->ranks_per_node = s->o.ranks_per_node;
	if (!s->o.mix)
		return;
	s->brief = s->o.brief || (s->o.faults != 0 && sim_below(s, 4) == 0);
	s->nodes = (s->brief ? 2 : 1) + sim_below(s, 4);
	s->ranks_per_node = 1 + sim_below(s, 4);
	if (kind < 3000 && !s->brief) {
		s->nodes = 2 + sim_below(s, 14);
		s->ranks_per_node = 1 + sim_below(s, 8);
	}
	if (kind < 20) {
		s->nodes = 64;
		s->ranks_per_node = 8;
	}
	if (kind == 0) {
		s->nodes = 1024;
		s->ranks_per_node = 8;
	}
}

/* Communicators that end soon and ids that come again, where appends often fail: ranks leave
 * while plans are proposed, a coordinator's REFUSE is late, and logs tell of the past. */
static void draw_brief(struct sim *s)
{
	s->rarity = 1;
	s->append_loss = 2 + sim_below(s, 4);
	s->slow = 1 + sim_below(s, 4);
	s->join_calls = 0;
	s->ahead = 1 + sim_below(s, 60);
	s->recheck_ms = 1 + sim_below(s, 40);
}

/* Each run has its own mix of faults, speed and time scale, so that rare ones are not always
 * masked by frequent ones. */
static void draw_temper(struct sim *s)
{
	static const uint32_t ticks_ms[] = { 2, 4, 6, 10, 40, 120 };

	s->active = 0;
	for (uint32_t f = 0; f < SIM_FAULT_COUNT; f++) {
		if ((s->o.faults >> f & 1) && sim_below(s, 2) == 0)
			s->active |= 1u << f;
	}
	s->rarity = 1 + sim_below(s, 4);
	s->append_loss = 5;
	s->tick_ms = s->o.plain ? 5 : ticks_ms[sim_below(s, 6)];
	s->slow = 1;
	s->join_calls = s->o.plain ? SIM_WORTH_CALLS
				   : sim_below(s, 2) * sim_below(s, SIM_WORTH_CALLS + 2);
	if (s->o.plain)
		s->slow += s->nodes / 16;
	else
		s->tick_ms *= 1 + s->nodes / 32;
	s->recheck_ms = s->o.plain ? 0 : 1 + sim_below(s, 400);
	s->ahead = s->active >> SIM_FAULT_race & 1 ? 1 + sim_below(s, 200) : 1 + sim_below(s, 8);
	s->keys = s->o.plain ? 2 : 1 + sim_below(s, SIM_KEYS);
	s->gap = sim_below(s, 3) == 0 ? 0 : 40 + sim_below(s, 600);
	if (s->o.faults == 0)
		s->gap = 0;
	if (s->brief)
		draw_brief(s);
}

void sim_make(struct sim *s)
{
	current = first;
	if (first)
		first->used = 0;
	draw_size(s);
	draw_temper(s);
	s->now_ms = 1000;
	s->inside = SIM_NOBODY;
	s->node = sim_take(s->nodes, sizeof(*s->node));
	lay_out(s);
	for (uint32_t n = 0; n < s->nodes; n++)
		make_node(s, n);
	comms_make(s);
}

static void count_agree(struct sim *s, struct sim_node *node)
{
	struct nt_agree_counts counts = nt_agree_count(node->agree);

	s->t.commits += counts.commits;
	s->t.rechecks += counts.rechecks;
	s->t.aborts += counts.aborts;
	s->t.refusals += counts.refusals;
	s->t.rejects += counts.rejects;
	s->t.damaged += counts.damaged;
	nt_agree_destroy(node->agree);
	node->agree = NULL;
}

/* As nt_node_leader_create() does it for a process that comes late. */
void sim_make_heir(struct sim *s, uint32_t index)
{
	static const struct nt_reason ended = { NT_REASON_LEADER, "leader" };
	struct sim_node *node = &s->node[index];
	struct nt_agree_config config = {
		.shm = node->shm,
		.hooks = tuner_hooks(s),
		.nodes = 1,
		.tasks = s->tasks,
		.node_of_task = this_node,
		.node_name = node_name,
		.node_arg = s,
		.join_ms = SIM_JOIN_MS,
		.deaf = &ended,
	};

	count_agree(s, node);
	node->agree = sim_must(nt_agree_create(&config, NULL));
	node->heir = true;
	s->t.heirs++;
}

void sim_end(struct sim *s)
{
	for (uint32_t n = 0; n < s->nodes; n++) {
		s->t.polls += s->node[n].fetches;
		s->t.log_bytes += s->node[n].log_bytes;
		s->t.spent += nt_pace_spent(sim_reads(s, &s->node[n]), s->node[n].spent, s->nodes);
		s->t.spent_bytes += s->node[n].spent;
		s->t.limited += s->node[n].limited;
		count_agree(s, &s->node[n]);
		clear_shm(s->node[n].shm);
	}
	s->t.runs++;
	s->t.node_runs += s->nodes;
	s->comm_count = 0;
}
