/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Slow nodes, GPUs and NICs, from made-up times of pairs, with noise. NT_SIM_TRIES=1000 plays so
 * many comparisons of each kind, NT_SIM_KIND=n only the n-th, and
 * NT_SIM_ROUNDS=n at most n rounds, for the table of docs/results/nodes. */
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
#include "lab/replay/rng.h"

#define TRIES 4 /* of each kind; NT_SIM_TRIES=1000 for the table */
#define ROUNDS_MOST 512
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
				    (struct nt_pair_time){
					    .round = round,
					    .node = { (uint16_t)node, (uint16_t)other },
					    .gpu = { (uint16_t)g, (uint16_t)g } });
			if (peer > (int)g)
				add(p, w,
				    (struct nt_pair_time){
					    .round = round,
					    .node = { (uint16_t)node, (uint16_t)node },
					    .gpu = { (uint16_t)g, (uint16_t)peer } });
		}
	}
}

/* After 4, 8, 16, ... rounds. */
static bool is_look(unsigned rounds)
{
	return rounds >= 4 && (rounds & (rounds - 1)) == 0;
}

/* Until nothing is open, or so many rounds were played. */
static void play(struct played *p, const struct world *w, uint64_t seed, unsigned most)
{
	struct nt_error err;

	*p = (struct played){ .state = seed };
	for (;;) {
		play_round(p, w);
		if (!is_look(p->rounds) && p->rounds < most)
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

static unsigned number_of(const char *variable, unsigned otherwise)
{
	const char *text = getenv(variable);

	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

#define FABRIC .latency_us = 20, .bandwidth_us = 3000, .far = 1.1, .stalls = 0.005

#define NODES_6_TO_10                                   \
	.lows = 5, .low = { { 3, -1, false, 0, 0.06 },  \
			    { 17, -1, false, 0, 0.07 }, \
			    { 30, -1, false, 0, 0.08 }, \
			    { 44, -1, false, 0, 0.09 }, \
			    { 62, -1, false, 0, 0.10 } }

static const struct world slow_worlds[] = {
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

/* Nothing is low. */
static const struct world even_worlds[] = {
	{ "63 nodes, noise 3 %", 63, 1, 0.03, 0, 0, { { 0 } }, FABRIC },
	{ "63 nodes, noise 9 %", 63, 1, 0.09, 0, 0, { { 0 } }, FABRIC },
	{ "63 nodes, noise 12 %", 63, 1, 0.12, 0, 0, { { 0 } }, FABRIC },
	{ "63 nodes, noise 15 %", 63, 1, 0.15, 0, 0, { { 0 } }, FABRIC },
	{ "64 nodes under 8 switches, noise 9 %", 64, 1, 0.09, 8, 0, { { 0 } }, FABRIC },
	{ "4 nodes, noise 9 %", 4, 1, 0.09, 0, 0, { { 0 } }, FABRIC },
	{ "4 nodes x 8, noise 9 %", 4, 8, 0.09, 0, 0, { { 0 } }, FABRIC },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool is_wanted(size_t kind)
{
	return number_of("NT_SIM_KIND", (unsigned)kind) == kind;
}

static void print_tally(const struct world *w, const struct tally *t, unsigned count)
{
	print_message("%-46s found %5.1f %%, falsely named %u in %u of %u tries, %3.0f rounds\n",
		      w->name, w->lows ? 100.0 * t->found / w->lows / count : 100.0, t->falsely,
		      t->tries_false, count, t->rounds);
}

static void slow_ones_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(slow_worlds); i++) {
		const struct world *w = &slow_worlds[i];
		const unsigned rounds = number_of("NT_SIM_ROUNDS", ROUNDS_MOST);
		const unsigned count = number_of("NT_SIM_TRIES", TRIES);
		struct tally t;

		if (!is_wanted(i) || (w->nodes * w->gpus > 128 && !getenv("NT_SIM_KIND")))
			continue;
		t = try_all(w, count, rounds, 1000 + i);
		print_tally(w, &t, count);
		assert_true(rounds < ROUNDS_MOST || t.found * 10 >= w->lows * count * 9);
		assert_true(t.tries_false * 100 <= count);
	}
}

static void good_ones_are_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(even_worlds); i++) {
		const struct world *w = &even_worlds[i];
		const unsigned count = number_of("NT_SIM_TRIES", TRIES);
		struct tally t;

		if (!is_wanted(COUNT(slow_worlds) + i))
			continue;
		t = try_all(w, count, ROUNDS_MOST, 2000 + i);
		print_tally(w, &t, count);
		assert_int_equal(t.falsely, 0);
	}
}

static void all_meet_all_once(void **state)
{
	(void)state;
	for (unsigned count = 0; count <= 17; count++) {
		bool met[17][17] = { { false } };
		unsigned pairs = 0;

		for (unsigned round = 0; round < nt_pair_rounds(count); round++)
			for (unsigned one = 0; one < count; one++) {
				int other = nt_pair_partner(count, round, one);

				if (other < 0)
					continue;
				assert_int_not_equal(other, one);
				assert_int_equal(nt_pair_partner(count, round, (unsigned)other),
						 one);
				assert_false(met[one][other]);
				met[one][other] = true;
				pairs++;
			}
		assert_int_equal(pairs, count < 2 ? 0 : count * (count - 1));
	}
	assert_int_equal(nt_pair_partner(1, 0, 0), -1);
}

/* Rounds of a world without noise, judged at their end. */
static struct played play_plain(const struct world *w, unsigned rounds)
{
	struct played p = { 0 };
	struct nt_error err;

	while (p.rounds < rounds)
		play_round(&p, w);
	assert_int_equal(nt_low_judge(p.time, p.count, w->nodes, w->gpus, &p.verdict, &err), 0);
	return p;
}

#define PLAIN .latency_us = 20, .bandwidth_us = 3000, .far = 1

static void parts_are_told_from_nodes(void **state)
{
	static const struct {
		struct slow slow;
		enum nt_low_part part;
		unsigned gpus;
	} cases[] = {
		{ { 2, 1, false, 0, 0.2 }, NT_LOW_NIC, 2 },
		{ { 2, 3, false, 0, 0.2 }, NT_LOW_NIC, 4 },
		{ { 2, 3, true, 0, 0.2 }, NT_LOW_GPU, 4 },
		{ { 2, -1, true, 0, 0.2 }, NT_LOW_NODE, 4 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct world w = {
			"", 4, cases[i].gpus, 0.004, 0, 1, { cases[i].slow }, PLAIN
		};
		struct played p = play_plain(&w, 12);
		bool found = false;

		assert_true(p.verdict.count > 0);
		for (size_t j = 0; j < p.verdict.count; j++) {
			const struct nt_low *low = &p.verdict.low[j];

			assert_int_equal(low->node, 2);
			assert_int_equal(low->gpu, cases[i].slow.gpu);
			assert_int_equal(low->what, NT_PAIR_BANDWIDTH);
			assert_true(low->p < NT_LOW_ALPHA && low->sure && !low->expected);
			assert_float_equal(low->slower, -log(0.8), 0.02);
			found = found || low->part == cases[i].part;
		}
		assert_true(found);
		end(&p);
	}
}

/* Fewer rounds than may all be stalls name nobody, and leave all open. */
static void four_rounds_say_nothing(void **state)
{
	const struct world w = { "", 8, 1, 0.004, 0, 1, { { 2, -1, true, 0, 0.5 } }, PLAIN };
	struct played p = play_plain(&w, 4);

	(void)state;
	assert_int_equal(p.verdict.count, 0);
	assert_int_equal(p.verdict.open, 8);
	end(&p);
}

static void nccl_may_expect_it(void **state)
{
	const struct world w = { "", 6, 1, 0.004, 0, 1, { { 2, -1, true, 0, 0.2 } }, PLAIN };
	struct played p = play_plain(&w, 16);
	struct nt_error err;

	(void)state;
	assert_int_equal(p.verdict.count, 1);
	assert_false(p.verdict.low[0].expected);
	assert_float_equal(p.verdict.middle[NT_PAIR_BETWEEN][NT_PAIR_LATENCY].predicted, 1.11,
			   0.02);
	for (size_t i = 0; i < p.count; i++)
		if (p.time[i].node[0] == 2 || p.time[i].node[1] == 2)
			p.time[i].predicted_us[NT_PAIR_BANDWIDTH] *= 1.25f;
	nt_low_fini(&p.verdict);
	assert_int_equal(nt_low_judge(p.time, p.count, 6, 1, &p.verdict, &err), 0);
	assert_int_equal(p.verdict.count, 1);
	assert_true(p.verdict.low[0].expected);
	end(&p);
}

static void mark_wrong(struct played *p, unsigned node, int gpu)
{
	for (size_t i = 0; i < p->count; i++)
		for (int side = 0; side < 2; side++)
			if (p->time[i].node[side] == node &&
			    (gpu < 0 || p->time[i].gpu[side] == gpu))
				p->time[i].wrong = true;
}

static void wrong_results_name_a_node(void **state)
{
	const struct world w = { "", 6, 2, 0.004, 0, 0, { { 0 } }, PLAIN };
	struct played p = play_plain(&w, 10);
	struct nt_error err;

	(void)state;
	mark_wrong(&p, 4, 1);
	assert_int_equal(nt_low_judge(p.time, p.count, 6, 2, &p.verdict, &err), 0);
	assert_int_equal(p.verdict.count, 1);
	assert_true(p.verdict.low[0].wrong && p.verdict.low[0].sure);
	assert_int_equal(p.verdict.low[0].node, 4);
	assert_int_equal(p.verdict.low[0].gpu, 1);
	nt_low_fini(&p.verdict);
	/* Of one pair, either may be it. */
	for (size_t i = 0; i < p.count; i++)
		p.time[i].wrong = p.time[i].node[0] == 1 && p.time[i].node[1] == 3;
	assert_int_equal(nt_low_judge(p.time, p.count, 6, 2, &p.verdict, &err), 0);
	assert_int_equal(p.verdict.count, 2);
	assert_false(p.verdict.low[0].sure || p.verdict.low[1].sure);
	assert_int_equal(p.verdict.low[0].node + p.verdict.low[1].node, 4);
	end(&p);
}

/* A node alone behind a switch is far from all others, and no slower for that. */
static void switches_are_no_slowness(void **state)
{
	struct world w = {
		"", 9, 1, 0.01, 4, 0, { { 0 } }, .latency_us = 20, .bandwidth_us = 3000, .far = 1.3
	};
	struct played p = play_plain(&w, 36);

	(void)state;
	assert_int_equal(p.verdict.count, 0);
	end(&p);
	w.leaf = 0;
	w.lows = 1;
	w.low[0] = (struct slow){ 8, -1, false, 0, 0.1 };
	p = play_plain(&w, 36);
	assert_int_equal(p.verdict.count, 1);
	assert_int_equal(p.verdict.low[0].node, 8);
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_meet_all_once),
		cmocka_unit_test(parts_are_told_from_nodes),
		cmocka_unit_test(four_rounds_say_nothing),
		cmocka_unit_test(nccl_may_expect_it),
		cmocka_unit_test(wrong_results_name_a_node),
		cmocka_unit_test(switches_are_no_slowness),
		cmocka_unit_test(slow_ones_are_named),
		cmocka_unit_test(good_ones_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
