/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Slow nodes, GPUs and NICs, from made-up times of pairs, with noise. NT_SIM_TRIES=1000 plays so
 * many comparisons of each kind and prints the table of docs/results/nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "profiles/measure/low-nodes.h"
#include "profiles/measure/pair-rounds.h"
#include "replay/rng.h"

#define TRIES 20
#define LOW_MAX 8

/* What of it is slow, and by how much. */
struct slow {
	unsigned node;
	int gpu; /* -1: all */
	bool inside; /* within the node, too */
	double latency, bandwidth; /* shares: 0.08 takes so much of the bandwidth */
};

struct world {
	const char *name;
	unsigned nodes, gpus;
	double noise; /* deviation of the logarithm of a pair's time */
	unsigned leaf; /* nodes of a switch; 0: one for all */
	unsigned lows;
	struct slow low[LOW_MAX];
	double latency_us, bandwidth_us, far; /* factor behind two switches */
	double stalls; /* share of pairs that take thrice the time */
};

struct played {
	struct nt_pair_time *time;
	size_t count, room;
	unsigned rounds;
	uint64_t state, draws;
	struct nt_low_verdict verdict;
};

static double uniform(struct played *p)
{
	return nt_rng_unit(nt_rng_mix(p->state, p->draws++));
}

static double normal(struct played *p)
{
	return nt_rng_normal(nt_rng_mix(p->state, p->draws++));
}

static double slowness(const struct world *w, const struct nt_pair_time *t, int what)
{
	double most = 1;

	for (unsigned i = 0; i < w->lows; i++) {
		const struct slow *low = &w->low[i];
		const double share = what == NT_PAIR_LATENCY ? low->latency : low->bandwidth;

		for (int side = 0; side < 2; side++)
			if (t->node[side] == low->node &&
			    (low->gpu < 0 || t->gpu[side] == low->gpu) &&
			    (low->inside || t->node[0] != t->node[1]))
				most = fmax(most, 1 / (1 - share));
	}
	return most;
}

static void add(struct played *p, const struct world *w, struct nt_pair_time t)
{
	t.far = w->leaf && t.node[0] / w->leaf != t.node[1] / w->leaf;
	for (int what = 0; what < NT_PAIR_WHATS; what++) {
		double us = what == NT_PAIR_LATENCY ? w->latency_us : w->bandwidth_us;

		t.predicted_us[what] = (float)(us * 0.9);
		us *= slowness(w, &t, what) * (t.far ? w->far : 1) * exp(w->noise * normal(p));
		if (uniform(p) < w->stalls)
			us *= 3;
		t.us[what] = (float)us;
	}
	if (p->count == p->room) {
		p->room = p->room ? 2 * p->room : 4096;
		p->time = realloc(p->time, p->room * sizeof(p->time[0]));
		assert_non_null(p->time);
	}
	p->time[p->count++] = t;
}

static void play_round(struct played *p, const struct world *w)
{
	const unsigned round = p->rounds++;

	for (unsigned node = 0; node < w->nodes; node++) {
		const int other = nt_pair_partner(w->nodes, round, node);

		for (unsigned g = 0; g < w->gpus; g++) {
			const int peer = nt_pair_partner(w->gpus, round, g);

			if (other > (int)node)
				add(p, w,
				    (struct nt_pair_time){ .round = round,
							   .node = { (uint16_t)node, (uint16_t)other },
							   .gpu = { (uint16_t)g, (uint16_t)g } });
			if (peer > (int)g)
				add(p, w,
				    (struct nt_pair_time){ .round = round,
							   .node = { (uint16_t)node, (uint16_t)node },
							   .gpu = { (uint16_t)g, (uint16_t)peer } });
		}
	}
}

/* Until nothing is open, or so many rounds were played. */
static void play(struct played *p, const struct world *w, uint64_t seed, unsigned most)
{
	struct nt_error err;

	*p = (struct played){ .state = seed };
	for (;;) {
		play_round(p, w);
		if (!nt_low_is_look(p->rounds) && p->rounds < most)
			continue;
		nt_low_fini(&p->verdict);
		assert_int_equal(
			nt_low_judge(p->time, p->count, w->nodes, w->gpus, &p->verdict, &err), 0);
		if (p->verdict.open == 0 || p->rounds >= most)
			return;
	}
}

static void end(struct played *p)
{
	free(p->time);
	nt_low_fini(&p->verdict);
}

static bool is_named(const struct nt_low_verdict *v, const struct slow *low)
{
	for (size_t i = 0; i < v->count; i++)
		if (v->low[i].node == low->node && v->low[i].gpu == low->gpu)
			return true;
	return false;
}

struct tally {
	unsigned found, falsely, tries_false;
	double rounds;
};

static struct tally try_all(const struct world *w, unsigned tries, unsigned most, uint64_t seed)
{
	struct tally sum = { 0 };

	for (unsigned i = 0; i < tries; i++) {
		struct played p;
		unsigned falsely = 0;

		play(&p, w, nt_rng_mix(seed, i), most);
		for (unsigned j = 0; j < w->lows; j++)
			sum.found += is_named(&p.verdict, &w->low[j]);
		for (size_t j = 0; j < p.verdict.count; j++) {
			bool right = false;

			for (unsigned k = 0; k < w->lows; k++)
				right = right || w->low[k].node == p.verdict.low[j].node;
			falsely += !right;
		}
		sum.falsely += falsely;
		sum.tries_false += falsely > 0;
		sum.rounds += p.rounds;
		end(&p);
	}
	sum.rounds /= tries;
	return sum;
}

static unsigned tries(void)
{
	const char *text = getenv("NT_SIM_TRIES");

	return text ? (unsigned)strtoul(text, NULL, 10) : TRIES;
}

#define FABRIC .latency_us = 20, .bandwidth_us = 3000, .far = 1.1, .stalls = 0.005

#define NODES_6_TO_10                                          \
	.lows = 5, .low = { { 3, -1, false, 0, 0.06 },         \
			    { 17, -1, false, 0, 0.07 },        \
			    { 30, -1, false, 0, 0.08 },        \
			    { 44, -1, false, 0, 0.09 },        \
			    { 62, -1, false, 0, 0.10 } }

static const struct world found_worlds[] = {
	{ "63 nodes, 5 low by 6 to 10 %, noise 3 %", 63, 1, 0.03, 0, NODES_6_TO_10, FABRIC },
	{ "63 nodes, 5 low by 6 to 10 %, noise 9 %", 63, 1, 0.09, 0, NODES_6_TO_10, FABRIC },
	{ "63 nodes, 5 low by 6 to 10 %, noise 12 %", 63, 1, 0.12, 0, NODES_6_TO_10, FABRIC },
	{ "63 nodes, 5 low by 6 to 10 %, noise 15 %", 63, 1, 0.15, 0, NODES_6_TO_10, FABRIC },
	{ "63 nodes x 8 GPUs, 5 low, noise 15 %", 63, 8, 0.15, 0, NODES_6_TO_10, FABRIC },
	{ "64 nodes under 8 switches, 5 low, noise 9 %", 64, 1, 0.09, 8, NODES_6_TO_10, FABRIC },
	{ "16 nodes x 8, a NIC low by 10 %, noise 9 %", 16, 8, 0.09, 0, .lows = 1,
	  .low = { { 5, 3, false, 0, 0.10 } }, FABRIC },
	{ "16 nodes x 8, a GPU low by 10 %, noise 9 %", 16, 8, 0.09, 0, .lows = 1,
	  .low = { { 5, 3, true, 0, 0.10 } }, FABRIC },
	{ "4 nodes x 1, one low by 10 %, noise 3 %", 4, 1, 0.03, 0, .lows = 1,
	  .low = { { 2, -1, false, 0, 0.10 } }, FABRIC },
	{ "4 nodes x 8, latency of one +25 %, noise 9 %", 4, 8, 0.09, 0, .lows = 1,
	  .low = { { 1, -1, false, 0.2, 0 } }, FABRIC },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void print_tally(const struct world *w, const struct tally *t, unsigned count)
{
	print_message("%-48s found %5.1f %%, falsely named %u in %u of %u tries, %3.0f rounds\n",
		      w->name, w->lows ? 100.0 * t->found / w->lows / count : 100.0, t->falsely,
		      t->tries_false, count, t->rounds);
}

static void slow_ones_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(found_worlds); i++) {
		const struct world *w = &found_worlds[i];
		const unsigned count = tries();
		struct tally t = try_all(w, count, 512, 1000 + i);

		print_tally(w, &t, count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_ones_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
