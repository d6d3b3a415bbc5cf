/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* play.c - the rounds of the benchmark */
#include "bench/play.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Where this process is, for the handler of SIGALRM, which may write but not format: the text is
 * made before each sample, outside the time that is measured. */
static char stall_text[128];

static void *allocate(const struct nt_play *p, size_t count, size_t bytes)
{
	void *memory = calloc(count, bytes);

	if (!memory)
		nt_bench_die(p->gpu->options->rank, "no memory for %zu samples", count);
	return memory;
}

void nt_play_create(struct nt_play *p, struct nt_gpu *gpu)
{
	const struct nt_bench_options *o = gpu->options;
	const size_t calls = (size_t)gpu->lanes * o->colls * o->sizes;

	*p = (struct nt_play){ .gpu = gpu };
	p->call = allocate(p, calls, sizeof(p->call[0]));
	for (int lane = 0; lane < gpu->lanes; lane++) {
		for (unsigned c = 0; c < o->colls; c++) {
			for (unsigned s = 0; s < o->sizes; s++)
				p->call[p->calls++] = (struct nt_call){
					.lane = lane,
					.coll = o->coll[c],
					.counts = nt_figure_counts(o->coll[c], o->size_bytes[s],
								   gpu->lane[lane].count),
				};
		}
	}
	p->host_us = allocate(p, calls * (size_t)o->iters, sizeof(float));
	p->gpu_us = allocate(p, calls * (size_t)o->iters, sizeof(float));
	p->wrong = allocate(p, calls, sizeof(size_t));
	p->checks = allocate(p, calls, sizeof(size_t));
	p->model_us = allocate(p, calls, sizeof(float));
	for (size_t i = 0; i < calls; i++)
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

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void on_stall(int number)
{
	(void)number;
	if (write(STDERR_FILENO, stall_text, strlen(stall_text)) < 0)
		_exit(2);
	_exit(1);
}

static void note_place(const struct nt_gpu *g, const struct nt_call *call, int round)
{
	snprintf(stall_text, sizeof(stall_text),
		 "nccl-tune-bench: rank %d: stalled in round %d: %s of %zu bytes on %s, %d s\n",
		 g->options->rank, round, nt_coll_name(call->coll), call->counts.bytes,
		 g->lane[call->lane].name, g->options->stall_s);
}

static void watch_stalls(const struct nt_gpu *g)
{
	struct sigaction action = { .sa_handler = on_stall };

	snprintf(stall_text, sizeof(stall_text), "nccl-tune-bench: rank %d: stalled in a capture\n",
		 g->options->rank);
	sigaction(SIGALRM, &action, NULL);
}

/* Captured work in this round? */
static bool replays(const struct nt_bench_options *o, int round)
{
	return o->mode == NT_BENCH_GRAPH || (o->mode == NT_BENCH_MIXED && round % 2);
}

static void sample(struct nt_play *p, size_t c, int round, size_t at)
{
	struct nt_gpu *g = p->gpu;
	const struct nt_bench_options *o = g->options;
	const bool graph = replays(o, round);
	const int burst = o->mode == NT_BENCH_SEQ ? 1 : o->burst;
	double start_us, end_us;

	nt_gpu_mark_before(g);
	start_us = now_us();
	if (graph) {
		nt_gpu_replay(g, &p->call[c]);
	} else {
		for (int i = 0; i < burst; i++)
			nt_gpu_start(g, &p->call[c]);
	}
	nt_gpu_mark_after(g);
	nt_gpu_wait(g);
	end_us = now_us();
	if (round < 0)
		return;
	p->host_us[at] = (float)((end_us - start_us) / burst);
	p->gpu_us[at] = nt_gpu_between_us(g) / (float)burst;
}

static void simulate(struct nt_play *p, size_t c, int round)
{
	const struct nt_bench_options *o = p->gpu->options;

	if (o->simulate_every == 0 || round < 0 || round % o->simulate_every != 0)
		return;
	if (o->simulate_all || o->simulate_rank == o->rank)
		p->model_us[c] = nt_gpu_simulate_us(p->gpu, &p->call[c]);
}

static void one_round(struct nt_play *p, int round)
{
	const struct nt_bench_options *o = p->gpu->options;
	const bool check = o->check_every && round >= 0 && round % o->check_every == 0;

	alarm((unsigned)o->stall_s);
	for (size_t c = 0; c < p->calls; c++) {
		note_place(p->gpu, &p->call[c], round);
		simulate(p, c, round);
		sample(p, c, round, (size_t)(round < 0 ? 0 : round) * p->calls + c);
		if (check) {
			p->wrong[c] += nt_gpu_check(p->gpu, &p->call[c]);
			p->checks[c]++;
		}
	}
}

/* Algorithms connect at their first use, which must not happen while a stream is captured. */
static void capture(struct nt_play *p)
{
	const struct nt_bench_options *o = p->gpu->options;

	if (o->mode != NT_BENCH_GRAPH && o->mode != NT_BENCH_MIXED)
		return;
	for (size_t c = 0; c < p->calls; c++) {
		nt_gpu_start(p->gpu, &p->call[c]);
		nt_gpu_wait(p->gpu);
		nt_gpu_capture(p->gpu, &p->call[c], o->burst);
	}
}

static void release(struct nt_play *p)
{
	for (size_t c = 0; c < p->calls; c++) {
		if (p->call[c].graph)
			cudaGraphExecDestroy(p->call[c].graph);
	}
}

void nt_play_run(struct nt_play *p)
{
	const struct nt_bench_options *o = p->gpu->options;

	watch_stalls(p->gpu);
	alarm((unsigned)o->stall_s);
	capture(p);
	for (int round = -o->warmup; round < o->iters; round++)
		one_round(p, round);
	nt_gpu_measure_memory(p->gpu, &p->gpu->end_mib);
	release(p);
	snprintf(stall_text, sizeof(stall_text), "nccl-tune-bench: rank %d: stalled at the end\n",
		 o->rank);
	alarm((unsigned)o->stall_s);
}
