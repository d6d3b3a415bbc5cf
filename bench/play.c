/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/play.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bench/lane.h"
#include "lib/clock.h"

#define MEET_S 120 /* a rank is at most this much later than the others */
#define GO "go" /* file of rank 0 */

#define CHECK_SAMPLES 8 /* --check=light checks one sample in so many */
#define CHECK_ELEMENTS ((size_t)16 << 10) /* ... and so many elements of it */
#define LINES 8 /* lines about wrong results, for each rank */

/* Sizes beyond even_bytes are called less often, and in shorter bursts. */
static int stride_of(const struct nt_bench_options *o, size_t bytes)
{
	int stride = 1;

	if (o->even_bytes == 0 || o->mode == NT_BENCH_GROUPED)
		return 1;
	while ((size_t)(stride + 1) * (size_t)(stride + 1) * o->even_bytes <= bytes)
		stride++;
	return stride;
}

static void add_call(struct nt_play *p, int lane, int coll, size_t bytes, bool burst)
{
	const struct nt_bench_options *o = p->gpu->options;
	struct nt_bench_call *call = &p->call[p->calls];

	*call = (struct nt_bench_call){
		.lane = lane,
		.coll = coll,
		.stride = stride_of(o, bytes),
		.burst = 1,
		.counts = nt_figure_counts(coll, bytes, p->gpu->lane[lane].count),
	};
	if (burst)
		call->burst = o->burst > call->stride ? o->burst / call->stride : 1;
	if (o->mode == NT_BENCH_GROUPED && p->calls > 0)
		call->at = call[-1].at + nt_gpu_aligned(call[-1].counts.bytes);
	p->calls++;
}

/* Every communicator in turn for each collective and size, so that they can be compared. */
static void list_calls(struct nt_play *p)
{
	const struct nt_bench_options *o = p->gpu->options;
	const bool burst = o->mode != NT_BENCH_SEQ && o->mode != NT_BENCH_GROUPED;
	const int first = o->listed && o->split != NT_SPLIT_NONE ? 1 : 0;

	for (unsigned at = 0; at < (o->listed ? 1 : o->colls) * o->sizes; at++) {
		const int coll = o->listed ? o->size_coll[at] : o->coll[at / o->sizes];
		const size_t bytes = o->size_bytes[at % o->sizes];

		for (int lane = first; lane < p->gpu->lanes; lane++)
			add_call(p, lane, coll, bytes, burst);
	}
}

void nt_play_create(struct nt_play *p, struct nt_bench_gpu *gpu)
{
	const struct nt_bench_options *o = gpu->options;
	const size_t most = (size_t)gpu->lanes * o->colls * o->sizes;
	size_t samples;

	*p = (struct nt_play){ .gpu = gpu };
	p->call = nt_bench_allocate(most, sizeof(p->call[0]));
	list_calls(p);
	samples = p->calls * (size_t)o->iters;
	p->host_us = nt_bench_allocate(samples, sizeof(float));
	p->gpu_us = nt_bench_allocate(samples, sizeof(float));
	for (size_t i = 0; i < samples; i++)
		p->host_us[i] = p->gpu_us[i] = -1;
	p->wrong = nt_bench_allocate(p->calls, sizeof(size_t));
	p->checks = nt_bench_allocate(p->calls, sizeof(size_t));
	p->model_us = nt_bench_allocate(p->calls, sizeof(float));
	for (size_t i = 0; i < p->calls; i++)
		p->model_us[i] = -1;
}

void nt_play_destroy(struct nt_play *p)
{
	free(p->call);
	free(p->host_us);
	free(p->gpu_us);
	free(p->wrong);
	free(p->checks);
	free(p->model_us);
}

/* ---- --stall */

/* A signal handler may write but not format: the text is prepared outside of measured times. */
static char stall_text[192];
static volatile sig_atomic_t stall_status = 1;

static void on_stall(int number)
{
	(void)number;
	if (write(STDERR_FILENO, stall_text, strlen(stall_text)) < 0)
		_exit(2);
	_exit(stall_status);
}

/* If the next o->stall_s seconds are not enough, the process ends: "rank N: stalled <where>". */
__attribute__((format(printf, 2, 3))) static void watch(const struct nt_bench_options *o,
							const char *format, ...)
{
	char where[128];
	va_list args;

	va_start(args, format);
	vsnprintf(where, sizeof(where), format, args);
	va_end(args);
	alarm(0);
	snprintf(stall_text, sizeof(stall_text), "nccl-tune-bench: rank %d: stalled %s\n", o->rank,
		 where);
	alarm((unsigned)o->stall_s);
}

/* ---- samples */

static void note_call(const struct nt_bench_gpu *g, const struct nt_bench_call *call, int iteration)
{
	watch(g->options, "in iteration %d: %s of %zu bytes on %s, %d s", iteration,
	      nt_coll_name(call->coll), call->counts.bytes, g->lane[call->lane].name,
	      g->options->stall_s);
}

/* Does this iteration replay captured graphs? */
static bool replays(const struct nt_bench_options *o, int iteration)
{
	return iteration >= o->capture_at &&
	       (o->mode == NT_BENCH_GRAPH || (o->mode == NT_BENCH_MIXED && iteration % 2));
}

static void issue(struct nt_play *p, size_t c, int iteration)
{
	const struct nt_bench_options *o = p->gpu->options;

	if (o->mode == NT_BENCH_GROUPED) {
		nt_gpu_group(p->gpu, p->call, p->calls);
	} else if (replays(o, iteration)) {
		nt_gpu_replay(p->gpu, &p->call[c]);
	} else {
		for (int i = 0; i < p->call[c].burst; i++)
			nt_gpu_start(p->gpu, &p->call[c]);
	}
}

static void note_wrong(struct nt_play *p, size_t c, size_t wrong, size_t looked_at)
{
	const struct nt_bench_call *call = &p->call[c];
	static unsigned lines;
	char size[16];

	if (wrong > 0 && p->wrong[c] == 0 && lines++ < LINES)
		fprintf(stderr,
			"nccl-tune-bench: wrong result: %s %s: %zu elements of %zu differ "
			"(rank %d)\n",
			nt_coll_name(call->coll),
			nt_size_text(call->counts.bytes, size, sizeof(size)), wrong, looked_at,
			p->gpu->options->rank);
	if (wrong > 0)
		stall_status = NT_BENCH_WRONG;
	p->wrong[c] += wrong;
	p->checks[c]++;
}

/* The piece of a sample that --check=light checks; mostly empty. */
static struct nt_piece piece_of(const struct nt_play *p, size_t c, int iteration)
{
	const struct nt_bench_call *call = &p->call[c];
	const int number = iteration < 0 ? 0 : iteration / call->stride;

	if (p->gpu->options->check_every != NT_CHECK_LIGHT || iteration < 0 ||
	    number % CHECK_SAMPLES != CHECK_SAMPLES - 1)
		return (struct nt_piece){ 0, 0 };
	return nt_figure_piece(call->counts, CHECK_ELEMENTS, (unsigned)(number / CHECK_SAMPLES));
}

/* A group is one sample, divided among its calls. */
static void sample(struct nt_play *p, size_t c, int iteration)
{
	struct nt_bench_gpu *g = p->gpu;
	const bool grouped = g->options->mode == NT_BENCH_GROUPED;
	const size_t end = grouped ? p->calls : c + 1;
	const float calls = grouped ? (float)p->calls : (float)p->call[c].burst;
	const struct nt_piece piece = piece_of(p, c, iteration);
	const size_t first = c;
	double start_us, us;

	if (piece.count) {
		nt_gpu_poison(g, &p->call[c], piece);
		nt_gpu_wait(g);
	}
	nt_gpu_mark_before(g);
	start_us = nt_clock_exact_us();
	issue(p, c, iteration);
	nt_gpu_mark_after(g);
	nt_gpu_wait(g);
	us = nt_clock_exact_us() - start_us;
	for (; iteration >= 0 && c < end; c++) {
		const size_t at = (size_t)iteration * p->calls + c;

		p->host_us[at] = (float)us / calls;
		p->gpu_us[at] = nt_gpu_between_us(g) / calls;
	}
	if (piece.count)
		note_wrong(p, first, nt_gpu_wrong(g, &p->call[first], piece), piece.count);
}

static void simulate(struct nt_play *p, size_t c, int iteration)
{
	const struct nt_bench_options *o = p->gpu->options;

	if (o->simulate_every == 0 || iteration < 0 || iteration % o->simulate_every != 0)
		return;
	if (o->simulate_all || o->simulate_rank == o->rank)
		p->model_us[c] = nt_gpu_simulate_us(p->gpu, &p->call[c]);
}

static void check(struct nt_play *p, size_t c)
{
	size_t *wrong;

	if (p->gpu->options->mode != NT_BENCH_GROUPED) {
		note_wrong(p, c, nt_gpu_check(p->gpu, &p->call[c]), p->call[c].counts.receive);
		return;
	}
	wrong = nt_bench_allocate(p->calls, sizeof(*wrong));
	nt_gpu_check_group(p->gpu, p->call, p->calls, wrong);
	for (size_t i = 0; i < p->calls; i++)
		note_wrong(p, i, wrong[i], p->call[i].counts.receive);
	free(wrong);
}

/* Make and check every call once. Afterwards every rank knows whether any result was wrong. */
static void check_all(struct nt_play *p)
{
	const struct nt_bench_options *o = p->gpu->options;
	const size_t calls = o->mode == NT_BENCH_GROUPED ? 1 : p->calls;

	for (size_t c = 0; c < calls && o->check_every == NT_CHECK_LIGHT; c++) {
		watch(o, "in a check");
		check(p, c);
	}
	if (o->check_every)
		p->wrong_somewhere = nt_gpu_any(p->gpu, stall_status == NT_BENCH_WRONG);
}

static bool looked_at(const struct nt_bench_options *o, const struct nt_bench_call *call,
		      int iteration)
{
	return o->check_every > 0 && iteration >= 0 &&
	       (iteration / call->stride + 1) % o->check_every == 0;
}

static void one_round(struct nt_play *p, int iteration)
{
	const struct nt_bench_options *o = p->gpu->options;
	const size_t calls = o->mode == NT_BENCH_GROUPED ? 1 : p->calls;

	for (size_t c = 0; c < calls; c++) {
		if (iteration >= 0 && iteration % p->call[c].stride != 0)
			continue;
		note_call(p->gpu, &p->call[c], iteration);
		simulate(p, c, iteration);
		sample(p, c, iteration);
		if (looked_at(o, &p->call[c], iteration))
			check(p, c);
	}
}

/* All ranks wait here for each other; the caller removes the file that lets them go. */
static void wait_for_all(const struct nt_meet *meet)
{
	char *part = nt_bench_allocate(1, 1), go;
	struct nt_error err;

	if (nt_meet_gather(meet, "here", &part, 1, MEET_S, &err) < 0 ||
	    (meet->rank == 0 ? nt_meet_put(meet, GO, "", 1, &err)
			     : nt_meet_get(meet, GO, &go, 1, MEET_S, &err)) < 0)
		nt_bench_die("%s", err.text);
	free(part);
}

/* All ranks abort their communicators during a call, and go on with new ones. They first wait for
 * each other: a rank whose call is over may still have data to send. The call may fail, since
 * others may have aborted already. */
static void abort_all(struct nt_play *p, int iteration)
{
	const struct nt_bench_options *o = p->gpu->options;

	if (o->abort_every == 0 || iteration <= 0 || iteration % o->abort_every != 0)
		return;
	watch(o, "in an abort");
	wait_for_all(&p->gpu->meet);
	nt_gpu_try(p->gpu, &p->call[(size_t)(iteration / o->abort_every) % p->calls]);
	nt_lanes_abort(p->gpu);
	if (o->rank == 0)
		nt_meet_remove(&p->gpu->meet, GO);
	p->aborts++;
}

/* Algorithms connect at their first use, which must not be during a capture. */
static void capture(struct nt_play *p, int iteration)
{
	const struct nt_bench_options *o = p->gpu->options;

	if ((o->mode != NT_BENCH_GRAPH && o->mode != NT_BENCH_MIXED) || iteration != o->capture_at)
		return;
	watch(o, "in a capture");
	for (size_t c = 0; c < p->calls; c++) {
		nt_gpu_start(p->gpu, &p->call[c]);
		nt_gpu_wait(p->gpu);
		nt_gpu_capture(p->gpu, &p->call[c], p->call[c].burst);
	}
}

static void release(struct nt_play *p)
{
	for (size_t c = 0; c < p->calls; c++) {
		if (p->call[c].graph)
			nt_cuda.GraphExecDestroy(p->call[c].graph);
	}
}

/* False: the iterations are over. Rank 0 sends its plan in a few of them, before the last one. */
static bool goes_on(struct nt_play *p, double start_s, int iteration)
{
	const struct nt_bench_options *o = p->gpu->options;

	if (iteration == o->iters)
		return false;
	if (o->seconds == 0)
		return true;
	if (nt_pace_due(&p->pace, iteration)) {
		if (o->rank == 0)
			nt_pace_look(&p->pace, iteration, nt_clock_exact_us() / 1e6 - start_s);
		nt_gpu_tell(p->gpu, p->pace.plan, 2);
		nt_pace_told(&p->pace, iteration);
	}
	p->last_from = p->pace.plan[0];
	return iteration < p->pace.plan[1];
}

static void play_rounds(struct nt_play *p)
{
	const struct nt_bench_options *o = p->gpu->options;
	const double start_s = nt_clock_exact_us() / 1e6;

	nt_pace_init(&p->pace, o->seconds, o->last_seconds);
	p->last_from = o->iters - (o->iters < 4 ? 1 : o->iters / 4);
	for (p->iterations = 0; goes_on(p, start_s, p->iterations); p->iterations++) {
		abort_all(p, p->iterations);
		capture(p, p->iterations);
		one_round(p, p->iterations);
	}
	if (p->last_from > p->iterations)
		p->last_from = p->iterations - p->iterations / 4;
}

void nt_play_run(struct nt_play *p)
{
	const struct nt_bench_options *o = p->gpu->options;
	const struct sigaction stalled = { .sa_handler = on_stall };

	sigaction(SIGALRM, &stalled, NULL);
	watch(o, "at the start");
	if (o->check_every == NT_CHECK_LIGHT)
		check_all(p);
	if (p->wrong_somewhere)
		return;
	for (int iteration = -o->warmup; iteration < 0; iteration++)
		one_round(p, iteration);
	play_rounds(p);
	nt_gpu_measure_memory(&p->gpu->end_mib);
	watch(o, "at the end");
	check_all(p);
	release(p);
}
