/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* results.c - bring the samples of all ranks together and print what they say */
#include "bench/results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GATHER_S 60 /* ranks end within one collective of each other */

/* Samples of all ranks: rank r's begin at r * samples. */
struct gathered {
	float *host_us, *gpu_us;
	size_t *wrong; /* of each call, over all ranks */
	size_t samples; /* of one rank */
};

/* host times, GPU times, wrong elements */
static size_t part_bytes(const struct nt_play *p, size_t samples)
{
	return samples * 2 * sizeof(float) + p->calls * sizeof(size_t);
}

static void send_part(const struct nt_play *p, size_t samples)
{
	const size_t times = samples * sizeof(float);
	char *part = nt_bench_allocate(p->gpu->options->rank, 1, part_bytes(p, samples));
	struct nt_error err;
	char name[32];

	memcpy(part, p->host_us, times);
	memcpy(part + times, p->gpu_us, times);
	memcpy(part + 2 * times, p->wrong, p->calls * sizeof(size_t));
	snprintf(name, sizeof(name), "part.%d", p->gpu->options->rank);
	if (nt_meet_put(&p->gpu->meet, name, part, part_bytes(p, samples), &err) < 0)
		nt_bench_die(p->gpu->options->rank, "%s", err.text);
	free(part);
}

static void receive_part(const struct nt_play *p, int rank, struct gathered *all)
{
	const size_t times = all->samples * sizeof(float);
	char *part = nt_bench_allocate(p->gpu->options->rank, 1, part_bytes(p, all->samples));
	struct nt_error err;
	size_t wrong;
	char name[32];

	snprintf(name, sizeof(name), "part.%d", rank);
	if (nt_meet_get(&p->gpu->meet, name, part, part_bytes(p, all->samples), GATHER_S, &err) < 0)
		nt_bench_die(0, "%s", err.text);
	nt_meet_remove(&p->gpu->meet, name);
	memcpy(all->host_us + (size_t)rank * all->samples, part, times);
	memcpy(all->gpu_us + (size_t)rank * all->samples, part + times, times);
	for (size_t c = 0; c < p->calls; c++) {
		memcpy(&wrong, part + 2 * times + c * sizeof(wrong), sizeof(wrong));
		all->wrong[c] += wrong;
	}
	free(part);
}

static void gather(const struct nt_play *p, struct gathered *all)
{
	const int ranks = p->gpu->options->ranks;

	all->samples = p->calls * (size_t)p->rounds;
	all->host_us = nt_bench_allocate(p->gpu->options->rank, (size_t)ranks * all->samples,
					 sizeof(float));
	all->gpu_us = nt_bench_allocate(p->gpu->options->rank, (size_t)ranks * all->samples,
					sizeof(float));
	all->wrong = nt_bench_allocate(p->gpu->options->rank, p->calls, sizeof(size_t));
	memcpy(all->host_us, p->host_us, all->samples * sizeof(float));
	memcpy(all->gpu_us, p->gpu_us, all->samples * sizeof(float));
	memcpy(all->wrong, p->wrong, p->calls * sizeof(size_t));
	for (int r = 1; r < ranks; r++)
		receive_part(p, r, all);
}

enum over { RANK_0, LONGEST, SHORTEST };

static float combined(const struct nt_play *p, const struct gathered *all, const float *times,
		      size_t at, enum over over)
{
	float value = times[at];

	for (int r = 1; over != RANK_0 && r < p->gpu->options->ranks; r++) {
		float other = times[(size_t)r * all->samples + at];

		if (over == LONGEST ? other > value : other < value)
			value = other;
	}
	return value;
}

/* Call c in rounds first..end, without those in which it was not made. */
static struct nt_quartiles quartiles(const struct nt_play *p, const struct gathered *all,
				     const float *times, size_t c, int first, int end,
				     enum over over)
{
	float *values = nt_bench_allocate(p->gpu->options->rank, (size_t)(end - first),
					  sizeof(float));
	struct nt_quartiles q;
	size_t count = 0;

	for (int r = first; r < end; r++) {
		const size_t at = (size_t)r * p->calls + c;

		if (times[at] >= 0)
			values[count++] = combined(p, all, times, at, over);
	}
	q = nt_figure_quartiles(values, count);
	free(values);
	return q;
}

static void print_quartiles(const char *name, struct nt_quartiles q)
{
	printf("\"%s\":{\"median\":%.2f,\"p25\":%.2f,\"p75\":%.2f,\"min\":%.2f,\"mean\":%.2f}",
	       name, q.median, q.p25, q.p75, q.min, q.mean);
}

static void print_times(const struct nt_play *p, const struct gathered *all, const char *name,
			const float *times, size_t c, enum over over)
{
	printf(",\"%s\":{", name);
	print_quartiles("all", quartiles(p, all, times, c, 0, p->rounds, over));
	printf(",");
	print_quartiles("first", quartiles(p, all, times, c, 0, p->rounds - p->last_from, over));
	printf(",");
	print_quartiles("last", quartiles(p, all, times, c, p->last_from, p->rounds, over));
	printf("}");
}

static void print_call(const struct nt_play *p, const struct gathered *all, size_t c)
{
	const struct nt_bench_options *o = p->gpu->options;
	const struct nt_bench_call *call = &p->call[c];
	const struct nt_lane *lane = &p->gpu->lane[call->lane];
	struct nt_quartiles every = quartiles(p, all, all->host_us, c, 0, p->rounds, LONGEST);
	struct nt_quartiles last = quartiles(p, all, all->host_us, c, p->last_from, p->rounds,
					     LONGEST);
	double gbs = last.median > 0 ? (double)call->counts.bytes / last.median / 1e3 : 0;

	printf("{\"comm\":\"%s\",\"ranks\":%d,\"coll\":\"%s\",\"bytes\":%zu,\"burst\":%d,"
	       "\"samples\":%zu,\"part\":%zu",
	       lane->name, lane->count, nt_coll_name(call->coll), call->counts.bytes, call->burst,
	       every.samples, last.samples);
	print_times(p, all, "host_us", all->host_us, c, RANK_0);
	print_times(p, all, "slowest_us", all->host_us, c, LONGEST);
	if (!o->no_gpu_times)
		print_times(p, all, "gpu_us", all->gpu_us, c, SHORTEST);
	printf(",\"algbw_gbs\":%.3f,\"busbw_gbs\":%.3f", gbs,
	       gbs * nt_coll_bus_factor(call->coll, lane->count));
	if (o->load_n)
		printf(",\"load_gflops\":%.0f",
		       nt_load_gflops(&p->load, p->load_batches[c], p->load_us[c]));
	if (p->model_us[c] >= 0)
		printf(",\"simulated_us\":%.2f", p->model_us[c]);
	if (p->checks[c])
		printf(",\"checks\":%zu,\"errors\":%zu", p->checks[c], all->wrong[c]);
	printf("}\n");
}

static void print_run(const struct nt_play *p, const char *run)
{
	const struct nt_bench_gpu *g = p->gpu;
	const struct nt_bench_options *o = g->options;
	const int v = g->nccl->version;

	printf("{\"run\":\"%s\",\"nccl\":\"%d.%d.%d\",\"device\":\"%s\",\"ranks\":%d,\"nodes\":%d,"
	       "\"mode\":\"%s\",\"rounds\":%d,\"warmup\":%d,\"init_ms\":%.1f,\"init_mib\":%.1f,"
	       "\"rounds_mib\":%.1f",
	       run, v / 10000, v / 100 % 100, v % 100, g->device_name, o->ranks, o->nodes,
	       nt_bench_mode_name(o->mode), p->rounds, o->warmup, g->init_ms,
	       g->init_mib - g->start_mib, g->end_mib - g->init_mib);
	if (o->load_n)
		printf(",\"load\":%d,\"load_batch\":%d,\"load_alone_gflops\":%.0f", o->load_n,
		       p->load.batch, p->load.alone_gflops);
	if (o->abort_every)
		printf(",\"aborts\":%d", p->aborts);
	printf("}\n");
}

static void write_samples(const struct nt_play *p, const struct gathered *all)
{
	const struct nt_bench_options *o = p->gpu->options;
	FILE *f = fopen(o->samples_path, "w");

	if (!f)
		nt_bench_die(o->rank, "--samples %s: %s", o->samples_path, strerror(errno));
	fprintf(f, "round,comm,coll,bytes,rank,host_us,gpu_us\n");
	for (size_t at = 0; at < all->samples; at++) {
		const struct nt_bench_call *call = &p->call[at % p->calls];

		for (int r = 0; r < o->ranks && all->host_us[at] >= 0; r++)
			fprintf(f, "%zu,%s,%s,%zu,%d,%.2f,%.2f\n", at / p->calls,
				p->gpu->lane[call->lane].name, nt_coll_name(call->coll),
				call->counts.bytes, r, all->host_us[(size_t)r * all->samples + at],
				all->gpu_us[(size_t)r * all->samples + at]);
	}
	if (fclose(f) != 0)
		nt_bench_die(o->rank, "--samples %s: %s", o->samples_path, strerror(errno));
}

void nt_bench_report(struct nt_play *p, const char *run)
{
	const struct nt_bench_options *o = p->gpu->options;
	struct gathered all = { .host_us = NULL };

	if (o->rank != 0) {
		send_part(p, p->calls * (size_t)p->rounds);
		return;
	}
	gather(p, &all);
	print_run(p, run);
	for (size_t c = 0; c < p->calls; c++)
		print_call(p, &all, c);
	if (o->samples_path)
		write_samples(p, &all);
	fflush(stdout);
	free(all.host_us);
	free(all.gpu_us);
	free(all.wrong);
}
