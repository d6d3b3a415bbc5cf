/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* marker.c - the steps of made-up programs, whose calls are noted and read as the helper thread
 * does
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
	if (!p->open) {
		p->open = p->now_us - p->began_us >= 1.25 * (p->ended_us - p->began_us) &&
			  p->now_us - p->ended_us >= SECOND;
		return;
	}
	if (p->calls > p->looked && (full || last || p->calls >= 1.25 * p->looked)) {
		nt_marker_note(&p->marker, p->call, p->calls, 0);
		p->looked = p->calls;
	}
	if (!full)
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
		for (uint64_t seed = 1; seed <= 4; seed++) {
			train(&p, i, training[i].steps, seed);
			assert_right(&p, training[i].name);
		}
	}
}

/* The key may be known at the very last look. */
static void twenty_steps_are_enough_beside_other_programs(void **state)
{
	static struct program p;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		start(&p, seed);
		for (unsigned i = 0; i < 20; i++) {
			begin_step(&p);
			pass(&p, 300 * MS);
			for (unsigned n = 0; n < 8; n++) {
				call(&p, add(&p, 1, 4, NT_ALLREDUCE, 16u << 20));
				pass(&p, unit(&p) < 0.1 ? 200 * MS * unit(&p) : 2 * MS);
			}
			call(&p, add(&p, 1, 4, NT_ALLREDUCE, 64u << 10));
			end_step(&p);
		}
		pass(&p, 5 * MS);
		read_all(&p, true);
		p.told = nt_marker_find(&p.marker, &p.found);
		assert_true(p.told);
		assert_int_equal(p.found.steps, 20);
		assert_true(fabs(nt_marker_step_us(&p.marker) / true_us(&p) - 1) < 0.2);
	}
}

/* ---- programs without steps */

/* Sizes in turn: calls to warm up, a burst of calls, and a wait for the stream; in place, too */
static void nccl_tests(struct program *p)
{
	for (unsigned size = 3; size < 30; size++) {
		const unsigned key = add(p, 1, 2, NT_ALLREDUCE, (size_t)1 << size);
		const double us = 10 + exp2(size) / 20e3;

		for (int place = 0; place < 2; place++) {
			static const unsigned bursts[] = { 5, 20, 1 };

			for (unsigned i = 0; i < LENGTH(bursts); i++) {
				for (unsigned n = 0; n < bursts[i]; n++)
					call(p, key);
				pass(p, bursts[i] * us);
			}
		}
	}
}

/* One size and many calls: a thousand ahead of the GPU, then one as one ends */
static void nccl_tests_long(struct program *p)
{
	const unsigned key = add(p, 1, 2, NT_ALLREDUCE, 1 << 20);

	for (unsigned i = 0; i < 5; i++)
		call(p, key);
	pass(p, 3 * MS);
	for (unsigned i = 0; i < 20000; i++) {
		call(p, key);
		if (i > 1000)
			pass(p, 500 * exp(0.3 * normal(p)));
	}
}

/* Captured; now and then something is not. */
static void decode(struct program *p)
{
	const unsigned key = add(p, 1, 8, NT_ALLGATHER, 16u << 20);

	for (unsigned i = 0; i < 300; i++) {
		pass(p, 40 * 9 * MS);
		call(p, key);
	}
}

/* Eager, with requests that come and go: as many rows as requests, and a prompt for each new one */
static void decode_batches(struct program *p)
{
	unsigned batch = 8;

	for (unsigned token = 0; token < 3000; token++) {
		unsigned rows = batch;

		if (unit(p) < 0.3)
			batch = 1 + (unsigned)(unit(p) * 63);
		if (unit(p) < 0.15)
			rows = 64 + (unsigned)(unit(p) * 4000);
		calls(p, add(p, 1, 8, NT_ALLREDUCE, rows * 16384), 64, 8 * MS + rows * 10);
		call(p, add(p, 1, 8, NT_ALLGATHER, batch * 64000));
		pass(p, 1 * MS);
		if (unit(p) < 0.01)
			pass(p, 300 * MS * unit(p));
	}
}

static void at_random(struct program *p)
{
	for (unsigned i = 0; i < 6; i++)
		add(p, 1, 8, i % NT_COLLS, 1u << (12 + 2 * i));
	for (unsigned i = 0; i < 8000; i++) {
		call(p, (unsigned)(unit(p) * 6));
		pass(p, 10 * MS * exp(normal(p)));
	}
}

/* Captured after eleven steps */
static void captured(struct program *p)
{
	for (unsigned i = 0; i < 11; i++)
		ddp_large(p, i);
	pass(p, 30 * SECOND);
}

static void nothing_is_told_without_steps(void **state)
{
	static const struct {
		const char *name;
		void (*run)(struct program *p);
	} programs[] = {
		{ "nccl-tests", nccl_tests }, { "nccl-tests, one size", nccl_tests_long },
		{ "decode", decode },	      { "decode, batches", decode_batches },
		{ "at random", at_random },   { "captured", captured },
	};
	static struct program p;

	for (unsigned i = 0; i < LENGTH(programs); i++) {
		for (uint64_t seed = 1; seed <= 4; seed++) {
			start(&p, seed);
			programs[i].run(&p);
			finish(&p);
			if (!p.told)
				continue;
			print_message("# %s: told %.2f ms and %u steps of %u calls\n",
				      programs[i].name, nt_marker_step_us(&p.marker) / MS,
				      (unsigned)p.found.steps, p.found.a_step);
			fail();
		}
	}
}

/* ---- programs at random */

static double between(struct program *p, double least, double most)
{
	return least * pow(most / least, unit(p));
}

static unsigned one_of(struct program *p, const unsigned *of, unsigned count)
{
	return of[(unsigned)(unit(p) * count)];
}

struct shape {
	unsigned layers, tensor, buckets, micro, send, norm, log, evaluate, accumulation;
	bool sharded, ahead, equal, log_is_large, nested;
	double layer_us, optimizer_us, bucket_us, evaluate_us, backward;
	size_t bytes;
};

static struct shape shape_of(struct program *p)
{
	static const unsigned layers[] = { 2, 6, 12, 24, 32, 40 }, tensor[] = { 0, 0, 1, 2, 4 };
	static const unsigned buckets[] = { 0, 1, 2, 3, 4, 8, 13, 26 },
			      micro[] = { 1, 1, 1, 2, 4, 8 };
	static const unsigned log[] = { 0, 0, 10, 20, 25, 50, 100 },
			      evaluate[] = { 0, 0, 50, 100, 200 };

	return (struct shape){
		.layers = one_of(p, layers, LENGTH(layers)),
		.tensor = one_of(p, tensor, LENGTH(tensor)),
		.buckets = one_of(p, buckets, LENGTH(buckets)),
		.micro = one_of(p, micro, LENGTH(micro)),
		.send = unit(p) < 0.2,
		.norm = (unsigned)(unit(p) * 3),
		.log = one_of(p, log, LENGTH(log)),
		.evaluate = one_of(p, evaluate, LENGTH(evaluate)),
		.sharded = unit(p) < 0.3,
		.ahead = unit(p) < 0.3,
		.equal = unit(p) < 0.5,
		.log_is_large = unit(p) < 0.1,
		.layer_us = between(p, 200, 20000),
		.bucket_us = between(p, 100, 10000),
		.optimizer_us = between(p, 500, 100000),
		.evaluate_us = between(p, 20000, 3000000),
		.backward = 1 + unit(p) * 1.5,
		.bytes = (size_t)between(p, 1 << 16, 1 << 27),
	};
}

enum { TENSOR, GATHER, SCATTER, LOSS, LINE, RECV, SEND, BUCKET };

static void add_keys(struct program *p, const struct shape *s)
{
	add(p, 1, 4, NT_ALLREDUCE, s->bytes);
	add(p, 2, 8, NT_ALLGATHER, 4 * s->bytes);
	add(p, 2, 8, NT_REDUCESCATTER, 8 * s->bytes);
	add(p, 2, 8, NT_ALLREDUCE, 4);
	add(p, 2, 8, NT_ALLGATHER, s->log_is_large ? 1 << 16 : 64);
	add(p, 3, 2, NT_P2P_RECV, s->bytes);
	add(p, 3, 2, NT_P2P_SEND, s->bytes);
	add(p, 2, 8, NT_ALLREDUCE, 3 * s->bytes);
	for (unsigned i = 1; i < s->buckets && !s->equal; i++)
		add(p, 2, 8, NT_ALLREDUCE, s->bytes / (i + 1));
}

/* Computing passes between calls, or after all if the host runs ahead. */
static void compute(struct program *p, const struct shape *s, double *left_us, double us)
{
	if (s->ahead)
		*left_us += us;
	else
		pass(p, us);
}

static void pass_layers(struct program *p, const struct shape *s, bool back, double *left_us)
{
	for (unsigned i = 0; i < s->layers; i++) {
		if (s->sharded)
			call(p, GATHER);
		for (unsigned t = 0; t < s->tensor; t++) {
			compute(p, s, left_us, s->layer_us * (back ? s->backward : 1) / s->tensor);
			call(p, TENSOR);
		}
		if (s->tensor == 0)
			compute(p, s, left_us, s->layer_us * (back ? s->backward : 1));
		if (s->sharded && back)
			call(p, SCATTER);
	}
}

static void random_step(struct program *p, const struct shape *s, unsigned step)
{
	double left_us = 0;

	for (unsigned m = 0; m < s->micro; m++) {
		if (s->send)
			call(p, RECV);
		pass_layers(p, s, false, &left_us);
		pass_layers(p, s, true, &left_us);
		if (s->send)
			call(p, SEND);
	}
	for (unsigned i = 0; i < s->buckets; i++) {
		const unsigned key = s->equal ? BUCKET : BUCKET + i;

		compute(p, s, &left_us, s->bucket_us);
		call(p, key < p->keys ? key : BUCKET);
	}
	for (unsigned i = 0; i < s->norm; i++)
		call(p, LOSS);
	pass(p, left_us + s->optimizer_us);
	if (s->log && step % s->log == s->log - 1)
		call(p, LINE);
}

static void evaluate(struct program *p, const struct shape *s)
{
	double left_us = 0;

	for (int i = 0; i < 5; i++)
		pass_layers(p, s, false, &left_us);
	pass(p, left_us + s->evaluate_us);
	call(p, LOSS);
}

static void run_random(struct program *p, const struct shape *s, unsigned steps)
{
	add_keys(p, s);
	for (unsigned i = 0; i < steps; i++) {
		begin_step(p);
		random_step(p, s, i);
		end_step(p);
		if (i == 0)
			pass(p, SECOND * unit(p) * 5);
		if (s->evaluate && i % s->evaluate == s->evaluate - 1)
			evaluate(p, s);
	}
	finish(p);
}

static void print_wrong(const struct program *p, const struct shape *s, uint64_t seed)
{
	print_message(
		"# %llu: %.2f ms and %u steps, true %.2f ms and %u: layers %u tensor %u buckets %u%s "
		"micro %u send %u norm %u log %u%s evaluate %u sharded %d ahead %d, opt %.1f ms, a_step %u\n",
		(unsigned long long)seed, nt_marker_step_us(&p->marker) / MS,
		(unsigned)p->found.steps, true_us(p) / MS, p->steps, s->layers, s->tensor,
		s->buckets, s->equal ? "=" : "", s->micro, s->send, s->norm, s->log,
		s->log_is_large ? "L" : "", s->evaluate, s->sharded, s->ahead, s->optimizer_us / MS,
		p->found.a_step);
}

#define PROGRAMS 100 /* or as many as NT_PROGRAMS says */

static void wrong_answers_are_rare(void **state)
{
	static struct program p;
	const char *more = getenv("NT_PROGRAMS");
	const unsigned programs = more ? (unsigned)strtoul(more, NULL, 10) : PROGRAMS;
	unsigned wrong = 0, told = 0;

	for (uint64_t seed = 1; seed <= programs; seed++) {
		struct shape shape;

		start(&p, seed);
		p.jitter = 0.1 * unit(&p);
		shape = shape_of(&p);
		run_random(&p, &shape, (unsigned)between(&p, 30, 500));
		told += p.told;
		if (p.told && !is_right(&p)) {
			wrong++;
			print_wrong(&p, &shape, seed);
		}
	}
	print_message("# %u of %u told, %u wrong\n", told, programs, wrong);
	assert_true(wrong <= programs / 100);
	assert_true(told >= programs / 2);
}

UNIT_TESTS(steps_are_the_programs, twenty_steps_are_enough_beside_other_programs,
	   nothing_is_told_without_steps, wrong_answers_are_rare);
