/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* marker.c - the step marker of made-up programs, read as the helper thread reads them */
#include "tests/lib/unit.h"
#include "contract/coll.h"
#include "contract/key-id.h"
#include "engine/quantiles.h"
#include "engine/marker.h"
#include "tests/fake/rng.h"

#define KEYS 1000
#define MS 1000u
#define SECOND 1000000u
#define LOSS 0 /* the key that the program calls once a step */

/* A program that calls keys, and the reader of their counts. */
struct program {
	struct nt_marker marker;
	struct nt_marker_found found;
	uint64_t now_us, read_us; /* the next reading */
	unsigned keys, readings;
	struct {
		struct nt_marker_key key;
		uint64_t calls;
		struct nt_marker_place place;
	} key[KEYS];
};

static void start(struct program *p)
{
	*p = (struct program){ .now_us = 5 * SECOND, .read_us = 5 * SECOND };
}

static unsigned add(struct program *p, uint32_t comm, uint32_t ranks, unsigned coll, size_t bytes)
{
	p->key[p->keys].key = (struct nt_marker_key){ .key = nt_key_id(coll, nt_band(bytes), 36),
						      .comm = comm,
						      .ranks = ranks };
	return p->keys++;
}

static void call(struct program *p, unsigned key)
{
	p->key[key].calls++;
}

static void read_all(struct program *p)
{
	nt_marker_read(&p->marker, p->now_us);
	for (unsigned i = 0; i < p->keys; i++)
		nt_marker_see(&p->marker, &p->key[i].key, &p->key[i].place, p->key[i].calls);
	p->readings++;
}

/* Every 10 ms, or as rarely as possible; now and then late, as on a busy node. */
static void pass(struct program *p, double us)
{
	const uint64_t end_us = p->now_us + (uint64_t)us;

	while (p->read_us <= end_us) {
		uint64_t rest_us;

		p->now_us = p->read_us;
		read_all(p);
		rest_us = nt_marker_rest_us(&p->marker);
		if (rest_us < 10 * MS)
			rest_us = 10 * MS;
		if (rest_us > 200 * MS)
			rest_us = 200 * MS;
		p->read_us += rest_us + nt_rng_mix(1, p->readings) % 2000;
		if (p->readings % 50 == 7)
			p->read_us += 60 * MS;
	}
	p->now_us = end_us;
}

/* count calls of a key, evenly in so much time. */
static void calls(struct program *p, unsigned key, unsigned count, double us)
{
	for (unsigned i = 0; i < count; i++) {
		pass(p, us / count);
		call(p, key);
	}
}

static void finish(struct program *p)
{
	read_all(p);
	if (!nt_marker_find(&p->marker, &p->found))
		p->found = (struct nt_marker_found){ .periods = 0 };
}

static double quantile(const struct program *p, double quantile)
{
	float us[NT_MARKER_WINDOWS];

	for (unsigned i = 0; i < p->found.periods; i++)
		us[i] = (float)p->found.period_us[i];
	return nt_sample_quantile(us, p->found.periods, quantile);
}

static void assert_marker(const struct program *p, unsigned key, unsigned least, double us,
			  double within)
{
	assert_true(p->found.periods >= least && p->found.periods <= NT_MARKER_WINDOWS);
	assert_int_equal(p->found.key.key, p->key[key].key.key);
	assert_int_equal(p->found.key.comm, p->key[key].key.comm);
	assert_int_equal(p->found.key.ranks, p->key[key].key.ranks);
	assert_int_equal(p->found.calls, p->key[key].calls);
	assert_float_equal(quantile(p, 0.5) / us, 1, within);
}

static void end(struct program *p)
{
	nt_marker_clear(&p->marker);
	assert_int_equal(p->marker.tracks, 0);
}

/* Steps of 25 buckets behind each other, and a loss. */
static void ddp(struct program *p, unsigned steps, double step_us)
{
	for (unsigned i = 0; i < steps; i++) {
		pass(p, step_us * 0.35);
		calls(p, 1, 24, step_us * 0.5);
		call(p, 2);
		call(p, LOSS);
		pass(p, step_us * 0.15);
	}
}

static void start_ddp(struct program *p)
{
	start(p);
	add(p, 1, 8, NT_ALLREDUCE, 4);
	add(p, 1, 8, NT_ALLREDUCE, 25u << 20);
	add(p, 1, 8, NT_ALLREDUCE, 1u << 20);
}

static void ddp_has_its_loss(void **state)
{
	static struct program p;

	for (unsigned steps = 10; steps < 5000; steps = steps * 3 / 2) {
		start_ddp(&p);
		ddp(&p, steps, 300 * MS);
		finish(&p);
		assert_marker(&p, LOSS, steps > 60 ? 32 : steps / 3, 300 * MS, 0.02);
		end(&p);
	}
}

static void fsdp_has_its_norm(void **state)
{
	static struct program p;

	start(&p);
	add(&p, 1, 16, NT_ALLREDUCE, 4);
	add(&p, 1, 16, NT_ALLGATHER, 8u << 20);
	add(&p, 1, 16, NT_REDUCESCATTER, 8u << 20);
	for (int i = 0; i < 400; i++) {
		calls(&p, 1, 32, 200 * MS);
		for (int layer = 0; layer < 32; layer++) {
			calls(&p, 1, 1, 10 * MS);
			calls(&p, 2, 1, 5 * MS);
		}
		call(&p, LOSS);
		pass(&p, 20 * MS);
	}
	finish(&p);
	assert_marker(&p, LOSS, 32, 700 * MS, 0.01);
	end(&p);
}

/* Many calls, as evenly as can be, and a norm that is called once a step. */
static void tensor_parallel_has_its_norm(void **state)
{
	static struct program p;

	start(&p);
	add(&p, 1, 8, NT_ALLREDUCE, 8);
	add(&p, 1, 8, NT_ALLREDUCE, 16u << 20);
	for (int i = 0; i < 100; i++) {
		calls(&p, 1, 500, 1000 * MS);
		call(&p, LOSS);
	}
	finish(&p);
	assert_marker(&p, LOSS, 32, 1000 * MS, 0.01);
	end(&p);
}

/* Neither at the start and the end, nor in bursts. */
static void what_is_not_steady_is_no_marker(void **state)
{
	static struct program p;

	for (int with = 0; with < 2; with++) {
		start_ddp(&p);
		add(&p, 1, 8, NT_BROADCAST, 1); /* barriers */
		calls(&p, 3, 20, 2 * SECOND);
		for (int i = 0; i < 10; i++) {
			if (with)
				ddp(&p, 200, 300 * MS);
			else
				pass(&p, 60 * SECOND);
		}
		calls(&p, 3, 20, 2 * SECOND);
		finish(&p);
		if (with)
			assert_marker(&p, LOSS, 32, 300 * MS, 0.01);
		else
			assert_int_equal(p.found.periods, 0);
		end(&p);
	}
	start_ddp(&p);
	add(&p, 1, 8, NT_BROADCAST, 1);
	for (int i = 0; i < 30; i++) {
		ddp(&p, 100, 300 * MS);
		calls(&p, 3, 40, 200 * MS);
	}
	finish(&p);
	assert_marker(&p, LOSS, 32, 300 * MS, 0.02);
	end(&p);
}

/* A line in a log every 100 steps, however long the program runs; a call a minute. */
static void what_is_rare_gives_way(void **state)
{
	static const unsigned steps[] = { 500, 2000, 20000 };
	static struct program p;

	for (int run = 0; run < 3; run++) {
		start_ddp(&p);
		add(&p, 1, 8, NT_ALLREDUCE, 2);
		for (unsigned i = 0; i < steps[run]; i += 100) {
			ddp(&p, 100, 350 * MS);
			call(&p, 3);
		}
		finish(&p);
		assert_marker(&p, LOSS, 32, 350 * MS, 0.01);
		end(&p);
	}
	start_ddp(&p);
	add(&p, 1, 8, NT_ALLREDUCE, 2);
	for (int i = 0; i < 10; i++) {
		call(&p, 3);
		ddp(&p, 60, 1000 * MS);
	}
	finish(&p);
	assert_marker(&p, LOSS, 32, 1000 * MS, 0.01);
	end(&p);
	start_ddp(&p);
	add(&p, 1, 8, NT_ALLREDUCE, 2);
	for (int i = 0; i < 20; i++) {
		call(&p, 3);
		ddp(&p, 100, 50 * MS);
	}
	finish(&p);
	assert_marker(&p, LOSS, 32, 50 * MS, 0.01);
	end(&p);
	start_ddp(&p);
	add(&p, 1, 8, NT_ALLREDUCE, 2);
	for (int i = 0; i < 6; i++) {
		call(&p, 3);
		ddp(&p, 10, 150 * MS);
	}
	call(&p, 3);
	finish(&p);
	assert_marker(&p, LOSS, 32, 150 * MS, 0.02);
	end(&p);
	/* If there is nothing else, it is the marker. */
	start(&p);
	add(&p, 1, 8, NT_ALLREDUCE, 2);
	for (int i = 0; i < 10; i++)
		calls(&p, LOSS, 1, 60 * SECOND);
	finish(&p);
	assert_marker(&p, LOSS, 8, 60 * SECOND, 0.01);
	end(&p);
}

/* The quartiles are right for a program that begins slowly and pauses now and then. */
static void warm_up_and_pauses_do_not_count(void **state)
{
	static struct program p;

	start_ddp(&p);
	pass(&p, 1 * SECOND);
	call(&p, LOSS);
	pass(&p, 120 * SECOND);
	ddp(&p, 1, 20 * SECOND);
	for (int i = 0; i < 8; i++) {
		ddp(&p, 250, 400 * MS);
		pass(&p, 40 * SECOND);
	}
	finish(&p);
	assert_marker(&p, LOSS, 32, 400 * MS, 0.02);
	assert_float_equal(quantile(&p, 0.25) / (400 * MS), 1, 0.02);
	assert_float_equal(quantile(&p, 0.75) / (400 * MS), 1, 0.05);
	assert_true(p.found.period_us[0] < 2 * SECOND);
	end(&p);
	/* What comes after a long pause has windows as short as before. */
	start_ddp(&p);
	ddp(&p, 60, 1000 * MS);
	pass(&p, 500 * SECOND);
	ddp(&p, 60, 1000 * MS);
	finish(&p);
	assert_marker(&p, LOSS, 55, 1000 * MS, 0.01);
	end(&p);
}

static void jitter_is_in_the_spread(void **state)
{
	static struct program p;

	start_ddp(&p);
	for (uint32_t i = 0; i < 64; i++)
		ddp(&p, 1, (0.7 + 0.6 * nt_rng_unit(nt_rng_mix(3, i))) * SECOND);
	finish(&p);
	assert_marker(&p, LOSS, 32, 1000 * MS, 0.1);
	assert_true(quantile(&p, 0.75) > 1.08 * quantile(&p, 0.25));
	end(&p);
}

/* From 2 ms to 11 s; windows are right within 1 % when they are some seconds long. */
static void steps_may_be_short_or_long(void **state)
{
	static const struct {
		unsigned steps;
		double us;
	} runs[] = { { 4000, 2 * MS },	 { 400, 30 * MS },    { 600, 1300 * MS },
		     { 6, 11 * SECOND }, { 40, 11 * SECOND }, { 400, 11 * SECOND },
		     { 3000, 1700 * MS } };
	static struct program p;

	for (size_t run = 0; run < sizeof(runs) / sizeof(runs[0]); run++) {
		double whole_us = runs[run].steps * runs[run].us;
		unsigned least = runs[run].steps < 64 ? runs[run].steps - 2 : 30;

		start(&p);
		add(&p, 1, 4, NT_ALLREDUCE, 65536);
		calls(&p, LOSS, runs[run].steps, whole_us);
		finish(&p);
		assert_marker(&p, LOSS, least, runs[run].us, 0.005);
		for (unsigned i = 0; i < p.found.periods && whole_us > 300e6; i++)
			assert_float_equal(p.found.period_us[i] / runs[run].us, 1, 0.01);
		end(&p);
	}
}

/* To the end of the program, and in its order. */
static void the_last_steps_are_there(void **state)
{
	static struct program p;

	for (unsigned steps = 20; steps < 2000; steps = steps * 4 / 3) {
		start_ddp(&p);
		ddp(&p, steps * 9 / 10, 600 * MS);
		ddp(&p, (steps + 9) / 10, 900 * MS);
		finish(&p);
		assert_marker(&p, LOSS, steps > 60 ? 32 : steps / 2, 600 * MS, 0.02);
		assert_true(p.found.period_us[0] < 650 * MS);
		assert_true(p.found.period_us[p.found.periods - 1] > 850 * MS);
		end(&p);
	}
	/* A window that is not full yet. */
	start(&p);
	add(&p, 1, 4, NT_ALLREDUCE, 65536);
	calls(&p, LOSS, 66, 66 * SECOND);
	pass(&p, 20 * MS);
	calls(&p, LOSS, 1, 1.2 * SECOND);
	finish(&p);
	assert_marker(&p, LOSS, 33, 1000 * MS, 0.01);
	assert_float_equal(p.found.period_us[32] / SECOND, 1.2, 0.03);
	end(&p);
}

/* Calls captured in a graph are not seen: earlier counts say nothing. */
static void what_is_no_longer_called_is_no_marker(void **state)
{
	static struct program p;

	start_ddp(&p);
	ddp(&p, 11, 1000 * MS);
	finish(&p);
	assert_marker(&p, LOSS, 8, 1000 * MS, 0.01);
	pass(&p, 30 * SECOND);
	finish(&p);
	assert_int_equal(p.found.periods, 0);
	assert_true(nt_marker_rest_us(&p.marker) >= 100 * MS);
	end(&p);
	start(&p);
	finish(&p);
	assert_int_equal(p.found.periods, 0);
	assert_true(nt_marker_rest_us(&p.marker) == UINT64_MAX);
}

/* The largest communicator that has a steady key; of several, one that the next job finds, too,
 * however fast it is. */
static void communicators_are_told_apart(void **state)
{
	static struct program p;

	for (int run = 0; run < 4; run++) {
		start(&p);
		add(&p, 3, 8, NT_ALLREDUCE, 4);
		add(&p, 1, 2, NT_ALLREDUCE, 4);
		add(&p, 2, 8, NT_BROADCAST, 1 << 20);
		add(&p, 4, 8, NT_ALLREDUCE, 4);
		add(&p, 5, 64, NT_ALLREDUCE, 4);
		call(&p, 4);
		for (int i = 0; i < 200 - run; i++) {
			calls(&p, 2, 10, 100 * (run + 1) * MS);
			calls(&p, 3, 1, 50 * MS);
			calls(&p, LOSS, 1, 50 * MS);
			if (i % 2)
				call(&p, 1);
		}
		call(&p, 3);
		call(&p, 4);
		finish(&p);
		assert_marker(&p, LOSS, 32, (100 * run + 200) * MS, 0.02);
		end(&p);
	}
}

/* More keys than fit; those of the largest communicator are kept. */
static void memory_is_bounded(void **state)
{
	static struct program p;

	start(&p);
	for (uint32_t i = 0; i < KEYS - 1; i++)
		add(&p, i, 2 + i % 3, i % NT_COLLS, 1024u << i % 8);
	add(&p, KEYS, 8, NT_ALLREDUCE, 4);
	for (int i = 0; i < 100; i++) {
		for (unsigned k = 0; k < KEYS - 1; k++)
			call(&p, k);
		if (i > 10)
			call(&p, KEYS - 1);
		pass(&p, 100 * MS);
	}
	finish(&p);
	assert_int_equal(p.marker.tracks, NT_MARKER_KEYS);
	assert_marker(&p, KEYS - 1, 10, 100 * MS, 0.02);
	/* Keys of communicators that have ended make room for new ones. */
	for (unsigned k = 0; k < KEYS; k++)
		p.key[k].key.comm += KEYS;
	p.key[0].key.ranks = 2;
	for (int i = 0; i < 300; i++)
		calls(&p, 0, 1, 100 * MS);
	finish(&p);
	assert_marker(&p, 0, 32, 100 * MS, 0.02);
	end(&p);
}

/* Readings grow rarer with time. */
static void readings_are_few(void **state)
{
	static struct program p;

	start_ddp(&p);
	ddp(&p, 60, 1000 * MS);
	assert_true(p.readings > 4000 && p.readings <= 6000);
	p.readings = 0;
	ddp(&p, 7200, 1000 * MS);
	assert_true(p.readings < 7200 * 9);
	p.readings = 0;
	ddp(&p, 60, 1000 * MS);
	assert_true(p.readings <= 300);
	end(&p);
}

UNIT_TESTS(ddp_has_its_loss, fsdp_has_its_norm, tensor_parallel_has_its_norm,
	   what_is_not_steady_is_no_marker, what_is_rare_gives_way, warm_up_and_pauses_do_not_count,
	   jitter_is_in_the_spread, steps_may_be_short_or_long, the_last_steps_are_there,
	   what_is_no_longer_called_is_no_marker, communicators_are_told_apart, memory_is_bounded,
	   readings_are_few);
