/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/clock.h"
#include "bench/lane.h"
#include "bench/pairs-judge.h"
#include "bench/stall.h"
#include "profiles/measure/pair-rounds.h"

#define TIMES_MOST 21
static const int times_of[NT_PAIR_WHATS] = { TIMES_MOST, 5 };

struct pairs {
	struct nt_bench_gpu *gpu;
	int per_node, node, local;
	int round, until; /* current round; round of the next look */
	struct nt_pairs_head head;
	struct nt_pairs_judge judge; /* on rank 0 */
};

/* The scheduler's name, with characters that need no escape. */
static void copy_name(char *out, size_t room, const char *name)
{
	size_t n = 0;

	for (; name[n] && n + 1 < room; n++)
		out[n] = isalnum((unsigned char)name[n]) || strchr("._-", name[n]) ? name[n] : '_';
	out[n] = '\0';
}

/* SLURM_TOPOLOGY_ADDR is "s0.s3.node7"; a node's name may have dots, too. */
static void find_place(struct nt_pairs_head *head)
{
	const char *name = getenv("SLURMD_NODENAME"), *address = getenv("SLURM_TOPOLOGY_ADDR");
	char host[NT_PAIRS_NODE] = "";
	size_t above;

	if (!name) {
		gethostname(host, sizeof(host) - 1);
		name = host;
	}
	copy_name(head->node, sizeof(head->node), name);
	above = address ? strlen(address) : 0;
	if (above <= strlen(name) || above >= sizeof(head->leaf) ||
	    strcmp(address + above - strlen(name), name) != 0)
		return;
	memcpy(head->leaf, address, above - strlen(name));
}

static void measure(struct nt_bench_gpu *g, const struct nt_bench_call *call, int times, float *us)
{
	float took[TIMES_MOST];

	for (int i = 0; i < times; i++) {
		double start_us = nt_clock_exact_us();

		nt_gpu_mark_before(g);
		nt_gpu_start(g, call);
		nt_gpu_mark_after(g);
		nt_gpu_wait(g);
		took[i] = g->options->no_gpu_times ? (float)(nt_clock_exact_us() - start_us)
						   : nt_gpu_between_us(g);
	}
	*us = (float)nt_figure_quartiles(took, (size_t)times).median;
}

/* In the newest communicator. The first call connects, and is checked. */
static void time_pair(struct nt_bench_gpu *g, struct nt_pairs_entry *entry)
{
	for (int what = 0; what < NT_PAIR_WHATS; what++) {
		struct nt_bench_call call = {
			.lane = g->lanes - 1,
			.coll = NT_ALLREDUCE,
			.burst = 1,
			.counts = nt_figure_counts(NT_ALLREDUCE, g->options->size_bytes[what], 2),
		};

		entry->wrong += nt_gpu_check(g, &call) > 0;
		measure(g, &call, times_of[what], &entry->us[what]);
		entry->predicted_us[what] = -1;
		if (nt_nccl.GroupSimulateEnd)
			entry->predicted_us[what] = nt_gpu_simulate_us(g, &call);
	}
}

/* partner -1: this rank has none in this round. */
static void meet_one(struct pairs *p, int color, int partner, struct nt_pairs_entry *entry)
{
	const struct nt_bench_options *o = p->gpu->options;

	nt_stall_watch(o, "in round %d, on %s, with rank %d", p->round, p->head.node, partner);
	*entry = (struct nt_pairs_entry){ .partner = partner };
	nt_lanes_pair(p->gpu, color, partner);
	if (partner < 0)
		return;
	time_pair(p->gpu, entry);
	nt_lanes_part(p->gpu);
}

static void play_round(struct pairs *p, struct nt_pairs_entry *entry)
{
	const int other = nt_pair_partner((unsigned)p->gpu->options->nodes, (unsigned)p->round,
					  (unsigned)p->node);
	const int peer = nt_pair_partner((unsigned)p->per_node, (unsigned)p->round,
					 (unsigned)p->local);
	const int first = p->node * p->per_node;

	if (p->per_node > 1)
		meet_one(p, first + (peer < p->local ? peer : p->local),
			 peer < 0 ? -1 : first + peer, &entry[NT_PAIR_INSIDE]);
	else
		entry[NT_PAIR_INSIDE].partner = -1;
	meet_one(p, (other < p->node ? other : p->node) * p->per_node + p->local,
		 other < 0 ? -1 : other * p->per_node + p->local, &entry[NT_PAIR_BETWEEN]);
}

static const char *until_name(char name[48], int round)
{
	snprintf(name, 48, "until.%d", round);
	return name;
}

/* Rank 0 judges the parts of all ranks, and tells them how far to go. */
static void look(struct pairs *p, char **parts, size_t bytes, int from)
{
	const struct nt_bench_options *o = p->gpu->options;
	const struct nt_meet *meet = &p->gpu->meet;
	int32_t until = 0;
	struct nt_error err;
	char name[48];
	int rc;

	snprintf(name, sizeof(name), "pairs.%d", p->round);
	rc = nt_meet_gather(meet, name, parts, bytes, o->stall_s, &err);
	if (rc == 0 && o->rank == 0) {
		/* All ranks are here, so they have read the previous file. */
		nt_meet_remove(meet, until_name(name, from));
		nt_pairs_judge_add(&p->judge, *parts, bytes, from, p->round);
		until = nt_pairs_judge_look(&p->judge, p->round);
		rc = nt_meet_put(meet, until_name(name, p->round), &until, sizeof(until), &err);
	} else if (rc == 0) {
		rc = nt_meet_get(meet, until_name(name, p->round), &until, sizeof(until),
				 2 * o->stall_s, &err);
	}
	if (rc < 0)
		nt_bench_die("%s", err.text);
	p->until = until;
}

/* All rounds up to the next look, and the look. */
static void play_on(struct pairs *p)
{
	const int from = p->round;
	const size_t entries = (size_t)(p->until - from) * NT_PAIR_PLACES;
	const size_t bytes = sizeof(p->head) + entries * sizeof(struct nt_pairs_entry);
	char *part = nt_bench_allocate(1, bytes);
	struct nt_pairs_entry *entry = (struct nt_pairs_entry *)(part + sizeof(p->head));

	memcpy(part, &p->head, sizeof(p->head));
	for (; p->round < p->until; p->round++, entry += NT_PAIR_PLACES)
		play_round(p, entry);
	alarm(0);
	look(p, &part, bytes, from);
	free(part);
}

void nt_pairs_play(struct nt_bench_gpu *g)
{
	const struct nt_bench_options *o = g->options;
	const int per_node = o->ranks / o->nodes;
	struct pairs p = { .gpu = g,
			   .per_node = per_node,
			   .node = o->rank / per_node,
			   .local = o->rank % per_node,
			   .until = 1 };
	char name[48];

	if (o->local_rank != p.local)
		nt_bench_die("--pairs needs the ranks of a node in a row: srun "
			     "--distribution=block");
	nt_stall_begin();
	find_place(&p.head);
	if (o->rank == 0)
		nt_pairs_judge_init(&p.judge, g);
	do
		play_on(&p);
	while (p.round < p.until);
	nt_stall_watch(o, "at the end");
	(void)nt_gpu_any(g, false); /* all have read the last file */
	alarm(0);
	if (o->rank != 0)
		return;
	nt_meet_remove(&g->meet, until_name(name, p.round));
	nt_pairs_judge_fini(&p.judge);
}
