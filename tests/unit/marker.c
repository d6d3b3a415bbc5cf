/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* marker.c - the steps of made-up programs, whose calls are noted and read as the helper thread does
 *
 * A program tells the truth beside its calls: where each of its steps ends. What is told must be
 * right within 2 percent, and the number of steps, too; or nothing may be told.
 */
#include "tests/lib/unit.h"

#include <math.h>
#include "contract/coll.h"
#include "contract/key-id.h"
#include "engine/marker.h"
#include "lib/quantile.h"
#include "tests/fake/rng.h"

#define KEYS 128
#define STEPS 20000
#define MS 1e3
#define SECOND 1e6
#define JITTER 0.1
#define ENOUGH 1024u /* as in tuner/steps.c */

struct program {
	struct nt_marker marker;
	struct nt_marker_found found;
	bool told;
	double now_us, read_us; /* the next reading */
	double jitter;
	uint64_t seed, draws;
	unsigned keys;
	struct {
		uint64_t id;
		uint32_t comm, ranks, calls;
		bool uncounted;
	} key[KEYS];
	/* The stretch */
	struct nt_period_call call[NT_PERIOD_CALLS];
	unsigned calls, looked;
	bool open;
	double began_us, ended_us;
	/* The truth */
	unsigned steps;
	double step_us[STEPS], step_began_us;
};

static void start(struct program *p, uint64_t seed)
{
	memset(p, 0, sizeof(*p));
	p->now_us = p->read_us = p->began_us = 5 * SECOND;
	p->jitter = JITTER;
	p->seed = seed;
	p->open = true;
}

static double unit(struct program *p)
{
	return nt_rng_unit(nt_rng_mix(p->seed, p->draws++));
}

static double normal(struct program *p)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += unit(p);
	return sum - 6;
}

static unsigned add(struct program *p, uint32_t comm, uint32_t ranks, unsigned coll, size_t bytes)
{
	const uint64_t id = nt_key_id(coll, nt_band(bytes), 36);

	for (unsigned i = 0; i < p->keys; i++) {
		if (p->key[i].id == id && p->key[i].comm == comm)
			return i;
	}
	assert_true(p->keys < KEYS);
	p->key[p->keys].id = id;
	p->key[p->keys].comm = comm;
	p->key[p->keys].ranks = ranks;
	p->key[p->keys].uncounted = coll >= NT_COLLS;
	return p->keys++;
}

static void look(struct program *p, bool last)
{
	const bool full = p->calls == NT_PERIOD_CALLS;
	bool told = false;

	if (!p->open) {
		p->open = p->now_us - p->began_us >= 1.25 * (p->ended_us - p->began_us) &&
			  p->now_us - p->ended_us >= SECOND;
		return;
	}
	if (p->calls > p->looked && (full || last || p->calls >= 1.25 * p->looked)) {
		told = nt_marker_note(&p->marker, p->call, p->calls);
		p->looked = p->calls;
	}
	nt_marker_time(&p->marker, p->call, p->calls);
	if (!full && !(told && p->calls >= ENOUGH))
		return;
	nt_marker_end(&p->marker);
	p->open = false;
	p->calls = p->looked = 0;
	p->ended_us = p->now_us;
}

static void read_all(struct program *p, bool last)
{
	uint64_t calls = p->marker.calls;

	look(p, last);
	for (unsigned i = 0; i < p->keys; i++) {
		if (p->key[i].id == p->marker.followed.key.key &&
		    p->key[i].comm == p->marker.followed.key.comm)
			calls = p->key[i].calls;
	}
	nt_marker_read(&p->marker, (uint64_t)p->now_us, calls);
}

/* The thread reads every 10 ms, or as rarely as possible; now and then late, as on a busy node. */
static void pass_exactly(struct program *p, double us)
{
	const double end_us = p->now_us + us;

	while (p->read_us <= end_us) {
		double rest_us;

		p->now_us = p->read_us;
		read_all(p, false);
		rest_us = (double)nt_marker_rest_us(&p->marker);
		rest_us = rest_us < 10 * MS ? 10 * MS : rest_us;
		rest_us = rest_us > 200 * MS ? 200 * MS : rest_us;
		p->read_us += rest_us + 2 * MS * unit(p);
		if (unit(p) < 0.02)
			p->read_us += 60 * MS;
	}
	p->now_us = end_us;
}

static void pass(struct program *p, double us)
{
	pass_exactly(p, us * fmax(0.5, 1 + p->jitter * normal(p)));
}

static void call(struct program *p, unsigned key)
{
	p->key[key].calls++;
	if (p->open && p->calls < NT_PERIOD_CALLS)
		p->call[p->calls++] = (struct nt_period_call){
			.ns = (uint64_t)(p->now_us * 1e3),
			.key = p->key[key].id,
			.comm = p->key[key].comm,
			.ranks = p->key[key].ranks,
			.number = p->key[key].uncounted ? 0 : p->key[key].calls,
		};
	pass(p, 15);
}

static void calls(struct program *p, unsigned key, unsigned count, double us)
{
	for (unsigned i = 0; i < count; i++) {
		pass(p, us / count);
		call(p, key);
	}
}

static void begin_step(struct program *p)
{
	p->step_began_us = p->now_us;
}

static void end_step(struct program *p)
{
	assert_true(p->steps < STEPS);
	p->step_us[p->steps++] = p->now_us - p->step_began_us;
}

static void finish(struct program *p)
{
	pass(p, 300 * MS);
	read_all(p, true);
	p->told = nt_marker_find(&p->marker, &p->found);
}

static double true_us(const struct program *p)
{
	static double sorted[STEPS];

	memcpy(sorted, p->step_us, p->steps * sizeof(sorted[0]));
	nt_sort_doubles(sorted, p->steps);
	return sorted[p->steps / 2];
}

/* Steps at the start and the end may be missing. */
static bool is_right(const struct program *p)
{
	const double us = nt_marker_step_us(&p->marker), truth = true_us(p);
	const double steps = (double)p->found.steps;

	return fabs(us / truth - 1) <= 0.02 && steps <= p->steps * 1.02 + 3 &&
	       steps >= p->steps * 0.98 - 5;
}

static void assert_right(const struct program *p, const char *name)
{
	if (p->told && is_right(p))
		return;
	print_message("# %s: told %d, %.2f ms and %u steps; true %.2f ms and %u\n", name, p->told,
		      p->told ? nt_marker_step_us(&p->marker) / MS : 0,
		      p->told ? (unsigned)p->found.steps : 0, true_us(p) / MS, p->steps);
	fail();
}

/* ---- programs with steps: a function makes one, with its number */

enum { A, B, C, D, E, F };

static void ddp_equal(struct program *p, unsigned step)
{
	if (step == 0)
		add(p, 1, 2, NT_ALLREDUCE, 64u << 20);
	pass(p, 24 * MS);
	call(p, A);
	pass(p, 12 * MS);
	call(p, A);
	pass(p, 27 * MS);
}

static void ddp_two_sizes(struct program *p, unsigned step)
{
	static const unsigned order[] = { A, B, B, B, B, B, B, A };

	if (step == 0) {
		add(p, 1, 2, NT_ALLREDUCE, 64u << 20);
		add(p, 1, 2, NT_ALLREDUCE, 24u << 20);
	}
	pass(p, 30 * MS);
	for (unsigned i = 0; i < 8; i++)
		calls(p, order[i], 1, 4 * MS);
	pass(p, 62 * MS);
}

static void jax(struct program *p, unsigned step)
{
	if (step == 0)
		add(p, 1, 2, NT_ALLREDUCE, 16u << 20);
	pass(p, 0.4 * MS);
	for (unsigned i = 0; i < 8; i++)
		call(p, A);
	pass(p, 37.6 * MS);
}

static void fsdp2_once(struct program *p, unsigned step)
{
	if (step == 0) {
		add(p, 1, 16, NT_ALLGATHER, 32u << 20);
		add(p, 1, 16, NT_REDUCESCATTER, 64u << 20);
		add(p, 1, 16, NT_ALLGATHER, 400u << 20);
		add(p, 1, 16, NT_REDUCESCATTER, 800u << 20);
		add(p, 1, 16, NT_ALLREDUCE, 4);
	}
	calls(p, C, 1, 5 * MS);
	calls(p, A, 24, 60 * MS);
	for (int layer = 0; layer < 24; layer++) {
		calls(p, A, 1, 3 * MS);
		calls(p, B, 1, 2 * MS);
	}
	calls(p, D, 1, 4 * MS);
	call(p, E);
	pass(p, 15 * MS);
}

static void trainer(struct program *p, unsigned step, unsigned accumulation)
{
	if (step == 0) {
		for (unsigned i = 0; i < 4; i++)
			add(p, 1, 2, NT_ALLREDUCE, (25u << 20) + i * (24u << 20));
		add(p, 1, 2, NT_ALLGATHER, 8);
	}
	for (unsigned i = 0; i < accumulation; i++)
		pass(p, 70 * MS);
	for (unsigned i = 0; i < 6; i++)
		calls(p, i < 3 ? i : C, 1, 4 * MS);
	pass(p, 8 * MS);
	if (step % 20 == 19)
		call(p, E);
}

static void trainer_1(struct program *p, unsigned step)
{
	trainer(p, step, 1);
}

static void trainer_4(struct program *p, unsigned step)
{
	trainer(p, step, 4);
}

/* Two AllReduces a layer, forward and backward; the norm. */
static void tensor_parallel(struct program *p, unsigned step)
{
	if (step == 0) {
		add(p, 1, 8, NT_ALLREDUCE, 16u << 20);
		add(p, 1, 8, NT_ALLREDUCE, 4);
	}
	calls(p, A, 64, 128 * MS);
	calls(p, A, 64, 256 * MS);
	pass(p, 40 * MS);
	call(p, B);
}

static void tensor_and_data_parallel(struct program *p, unsigned step)
{
	if (step == 0) {
		add(p, 1, 8, NT_ALLREDUCE, 16u << 20);
		add(p, 2, 4, NT_ALLREDUCE, 100u << 20);
		add(p, 3, 32, NT_ALLREDUCE, 4);
	}
	for (int micro = 0; micro < 4; micro++) {
		calls(p, A, 64, 64 * MS);
		calls(p, A, 64, 128 * MS);
	}
	calls(p, B, 12, 30 * MS);
	call(p, C);
	pass(p, 20 * MS);
}

/* 1F1B of a middle stage */
static void pipeline(struct program *p, unsigned step)
{
	if (step == 0) {
		add(p, 1, 4, NT_P2P_RECV, 8u << 20);
		add(p, 1, 4, NT_P2P_SEND, 8u << 20);
		add(p, 2, 2, NT_ALLREDUCE, 300u << 20);
	}
	for (int i = 0; i < 2; i++) {
		call(p, A);
		calls(p, B, 1, 10 * MS);
	}
	for (int i = 0; i < 6; i++) {
		call(p, A);
		calls(p, B, 1, 10 * MS);
		call(p, A);
		calls(p, B, 1, 20 * MS);
	}
	for (int i = 0; i < 2; i++) {
		call(p, A);
		calls(p, B, 1, 20 * MS);
	}
	call(p, C);
	pass(p, 30 * MS);
}

/* Twenty batches every hundred steps; a sum of their losses. */
static void ddp_evaluates(struct program *p, unsigned step)
{
	if (step == 0) {
		add(p, 1, 2, NT_ALLREDUCE, 64u << 20);
		add(p, 1, 2, NT_ALLREDUCE, 8);
	}
	ddp_equal(p, step);
	end_step(p);
	p->steps--;
	if (step % 100 == 99) {
		pass(p, 20 * 20 * MS);
		call(p, B);
	}
}

static void fsdp2_evaluates(struct program *p, unsigned step)
{
	fsdp2_once(p, step);
	if (step % 100 == 99) {
		for (int i = 0; i < 20; i++) {
			calls(p, C, 1, 5 * MS);
			calls(p, A, 24, 60 * MS);
		}
	}
}

static void eleven_seconds(struct program *p, unsigned step)
{
	if (step == 0) {
		add(p, 1, 16, NT_ALLREDUCE, 1u << 30);
		add(p, 1, 16, NT_ALLREDUCE, 4);
		add(p, 1, 16, NT_ALLGATHER, 64u << 20);
	}
	pass(p, 11 * SECOND);
	call(p, A);
	call(p, B);
	call(p, C);
}

/* 26 buckets hidden under the backward pass, a norm, a log every 10 steps */
static void ddp_large(struct program *p, unsigned step)
{
	if (step == 0) {
		add(p, 1, 32, NT_ALLREDUCE, 100u << 20);
		add(p, 1, 32, NT_ALLREDUCE, 4);
		add(p, 1, 32, NT_ALLREDUCE, 64);
	}
	pass(p, 110 * MS);
	calls(p, A, 26, 26 * 8 * MS);
	call(p, B);
	pass(p, 12 * MS);
	if (step % 10 == 9)
		call(p, C);
}

static const struct {
	const char *name;
	void (*step)(struct program *p, unsigned step);
	unsigned steps;
} training[] = {
	{ "DDP, two equal buckets", ddp_equal, 150 },
	{ "DDP, two sizes", ddp_two_sizes, 60 },
	{ "JAX, eight equal", jax, 150 },
	{ "FSDP2", fsdp2_once, 100 },
	{ "Trainer", trainer_1, 60 },
	{ "Trainer, accumulation 4", trainer_4, 60 },
	{ "tensor parallel", tensor_parallel, 60 },
	{ "tensor and data parallel", tensor_and_data_parallel, 60 },
	{ "pipeline, 8 micro-batches", pipeline, 60 },
	{ "DDP, evaluation every 100", ddp_evaluates, 350 },
	{ "FSDP2, evaluation every 100", fsdp2_evaluates, 350 },
	{ "steps of 11 s", eleven_seconds, 40 },
	{ "DDP, 26 buckets and a log", ddp_large, 300 },
};

/* The first step takes longer, after some broadcasts. */
static void train(struct program *p, unsigned which, unsigned steps, uint64_t seed)
{
	start(p, seed);
	for (unsigned i = 0; i < steps; i++) {
		begin_step(p);
		training[which].step(p, i);
		end_step(p);
		if (i == 0) {
			calls(p, add(p, 1, 2, NT_BROADCAST, 1 << 20), 7, 20 * MS);
			pass(p, 3 * SECOND);
		}
	}
	finish(p);
}

static void steps_are_the_programs(void **state)
{
	static struct program p;

	for (unsigned i = 0; i < sizeof(training) / sizeof(training[0]); i++) {
		for (uint64_t seed = 1; seed <= 10; seed++) {
			train(&p, i, training[i].steps, seed);
			assert_right(&p, training[i].name);
		}
	}
}

UNIT_TESTS(steps_are_the_programs);
