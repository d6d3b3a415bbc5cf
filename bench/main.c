/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - nccl-tune-bench: time NCCL's collectives call by call, one process for each GPU
 *
 * Rank 0 gathers the samples of all ranks and prints one JSON object a line: the run, then every
 * collective and size on every communicator.
 *   host_us     on rank 0
 *   slowest_us  the longest of all ranks
 *   gpu_us      the shortest of all ranks: the rank that comes last waits least
 * each for all samples, for the first part and for the last, a quarter. algbw and busbw are
 * those of slowest_us's median in the last part.
 *
 * Exit status: 0; 1 a failed call or a stall; 2 a wrong command line; 3 a wrong result, on this
 * rank or another.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "bench/lane.h"
#include "bench/play.h"
#include "launch/memory-dir.h"

#define GATHER_S 60 /* ranks end within one collective of each other */

static int complain(const char *text, int status)
{
	fprintf(stderr, "nccl-tune-bench: %s\n", text);
	return status;
}

/* Each rank searches on its own node, by the same rules; lane.c checks that all found the same
 * version. */
static int load_nccl(const struct nt_bench_options *o, struct nt_library *nccl,
		     struct nt_error *err)
{
	char directory[NT_PATH_MAX], remembered[NT_LIBRARY_MAX] = "";
	struct nt_search search = { .named = o->nccl_path,
				    .remembered = remembered,
				    .preload = getenv("LD_PRELOAD"),
				    .library_path = getenv("LD_LIBRARY_PATH"),
				    .ask_python = nt_search_ask_python };
	struct nt_found found;

	if (!o->nccl_path && nt_memory_directory(directory, NULL) == 0)
		nt_search_remembered(directory, (int64_t)time(NULL), remembered, &search.job);
	if (nt_library_open(&search, &found, nccl, err) < 0)
		return -1;
	if (o->rank == 0 && !o->channel)
		fprintf(stderr, "nccl-tune-bench: NCCL " NT_NCCL_TEXT " from %s (%s)\n",
			NT_NCCL_PARTS(nccl->version), nccl->path, found.why);
	return 0;
}

/* ---- results */

/* Each rank's part: host times, GPU times, wrong elements of each call. */
struct gathered {
	char *parts;
	size_t bytes; /* of a part */
	size_t samples; /* of a rank */
};

enum times { HOST, GPU };

static float time_of(const struct gathered *all, int rank, enum times times, size_t at)
{
	const float *part = (const float *)(all->parts + (size_t)rank * all->bytes);

	return part[(size_t)times * all->samples + at];
}

static size_t wrong_of(const struct nt_play *p, const struct gathered *all, size_t c)
{
	const size_t before = 2 * all->samples * sizeof(float) + c * sizeof(size_t);
	size_t sum = 0, wrong;

	for (int r = 0; r < p->gpu->options->ranks; r++) {
		memcpy(&wrong, all->parts + (size_t)r * all->bytes + before, sizeof(wrong));
		sum += wrong;
	}
	return sum;
}

static void gather(const struct nt_play *p, struct gathered *all)
{
	const size_t samples = p->calls * (size_t)p->iterations, times = samples * sizeof(float);
	struct nt_error err;

	all->samples = samples;
	all->bytes = 2 * times + p->calls * sizeof(size_t);
	all->parts = nt_bench_allocate(1, all->bytes);
	memcpy(all->parts, p->host_us, times);
	memcpy(all->parts + times, p->gpu_us, times);
	memcpy(all->parts + 2 * times, p->wrong, p->calls * sizeof(size_t));
	if (nt_meet_gather(&p->gpu->meet, "part", &all->parts, all->bytes, GATHER_S, &err) < 0)
		nt_bench_die("%s", err.text);
}

enum over { RANK_0, LONGEST, SHORTEST };

static float combined(const struct nt_play *p, const struct gathered *all, enum times times,
		      size_t at, enum over over)
{
	float value = time_of(all, 0, times, at);

	for (int r = 1; over != RANK_0 && r < p->gpu->options->ranks; r++) {
		float other = time_of(all, r, times, at);

		if (over == LONGEST ? other > value : other < value)
			value = other;
	}
	return value;
}

/* Call c in iterations first..end, except where it was not made. */
static struct nt_quartiles quartiles(const struct nt_play *p, const struct gathered *all,
				     enum times times, size_t c, int first, int end, enum over over)
{
	float *values = nt_bench_allocate((size_t)(end - first), sizeof(float));
	struct nt_quartiles q;
	size_t count = 0;

	for (int r = first; r < end; r++) {
		const size_t at = (size_t)r * p->calls + c;

		if (time_of(all, 0, times, at) >= 0)
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
			enum times times, size_t c, enum over over)
{
	printf(",\"%s\":{", name);
	print_quartiles("all", quartiles(p, all, times, c, 0, p->iterations, over));
	printf(",");
	print_quartiles("first",
			quartiles(p, all, times, c, 0, p->iterations - p->last_from, over));
	printf(",");
	print_quartiles("last", quartiles(p, all, times, c, p->last_from, p->iterations, over));
	printf("}");
}

static void print_call(const struct nt_play *p, const struct gathered *all, size_t c)
{
	const struct nt_bench_options *o = p->gpu->options;
	const struct nt_bench_call *call = &p->call[c];
	const struct nt_lane *lane = &p->gpu->lane[call->lane];
	struct nt_quartiles every = quartiles(p, all, HOST, c, 0, p->iterations, LONGEST);
	struct nt_quartiles last = quartiles(p, all, HOST, c, p->last_from, p->iterations, LONGEST);
	double gbs = last.median > 0 ? (double)call->counts.bytes / last.median / 1e3 : 0;

	printf("{\"comm\":\"%s\",\"ranks\":%d,\"coll\":\"%s\",\"bytes\":%zu,\"burst\":%d,"
	       "\"samples\":%zu,\"part\":%zu",
	       lane->name, lane->count, nt_coll_name(call->coll), call->counts.bytes, call->burst,
	       every.samples, last.samples);
	print_times(p, all, "host_us", HOST, c, RANK_0);
	print_times(p, all, "slowest_us", HOST, c, LONGEST);
	if (!o->no_gpu_times)
		print_times(p, all, "gpu_us", GPU, c, SHORTEST);
	printf(",\"algbw_gbs\":%.3f,\"busbw_gbs\":%.3f", gbs,
	       gbs * nt_coll_bus_factor(call->coll, lane->count));
	if (p->model_us[c] >= 0)
		printf(",\"simulated_us\":%.2f", p->model_us[c]);
	if (p->checks[c])
		printf(",\"checks\":%zu,\"errors\":%zu", p->checks[c], wrong_of(p, all, c));
	printf("}\n");
}

static void print_run(const struct nt_play *p, const char *run)
{
	const struct nt_bench_gpu *g = p->gpu;
	const struct nt_bench_options *o = g->options;

	printf("{\"run\":\"%s\",\"nccl\":\"" NT_NCCL_TEXT
	       "\",\"device\":\"%s\",\"ranks\":%d,\"nodes\":%d,"
	       "\"mode\":\"%s\",\"iterations\":%d,\"warmup\":%d,\"init_ms\":%.1f,\"init_mib\":%.1f,"
	       "\"iterations_mib\":%.1f",
	       run, NT_NCCL_PARTS(g->nccl->version), g->device_name, o->ranks, o->nodes,
	       nt_bench_mode_name(o->mode), p->iterations, o->warmup, g->init_ms,
	       g->init_mib - g->start_mib, g->end_mib - g->init_mib);
	if (o->abort_every)
		printf(",\"aborts\":%d", p->aborts);
	printf("}\n");
}

static void write_samples(const struct nt_play *p, const struct gathered *all)
{
	const struct nt_bench_options *o = p->gpu->options;
	FILE *f = fopen(o->samples_path, "w");

	if (!f)
		nt_bench_die("--samples %s: %s", o->samples_path, strerror(errno));
	fprintf(f, "iteration,comm,coll,bytes,rank,host_us,gpu_us\n");
	for (size_t at = 0; at < all->samples; at++) {
		const struct nt_bench_call *call = &p->call[at % p->calls];

		for (int r = 0; r < o->ranks && time_of(all, 0, HOST, at) >= 0; r++)
			fprintf(f, "%zu,%s,%s,%zu,%d,%.2f,%.2f\n", at / p->calls,
				p->gpu->lane[call->lane].name, nt_coll_name(call->coll),
				call->counts.bytes, r, time_of(all, r, HOST, at),
				time_of(all, r, GPU, at));
	}
	if (fclose(f) != 0)
		nt_bench_die("--samples %s: %s", o->samples_path, strerror(errno));
}

static void report(struct nt_play *p, const char *run)
{
	const struct nt_bench_options *o = p->gpu->options;
	struct gathered all;

	gather(p, &all);
	if (o->rank == 0) {
		print_run(p, run);
		for (size_t c = 0; c < p->calls; c++)
			print_call(p, &all, c);
		if (o->samples_path)
			write_samples(p, &all);
		fflush(stdout);
	}
	free(all.parts);
}

/* On rank 0, whose host_us has the slowest rank's times: for the driver of a calibration,
 *   library VERSION PATH         NCCL's
 *   call INDEX P25 MEDIAN P75 SAMPLES
 * for each call, in microseconds. */
static void report_channel(const struct nt_play *p)
{
	const struct gathered all = { .parts = (char *)p->host_us,
				      .samples = p->calls * (size_t)p->iterations };
	const struct nt_library *nccl = p->gpu->nccl;
	const int fd = p->gpu->options->channel;

	dprintf(fd, "library %d %s\n", nccl->version, nccl->path);
	for (size_t c = 0; c < p->calls; c++) {
		const struct nt_quartiles q = quartiles(p, &all, HOST, c, 0, p->iterations, RANK_0);

		dprintf(fd, "call %zu %.3f %.3f %.3f %zu\n", c, q.p25, q.median, q.p75, q.samples);
	}
}

/* ---- the run */

static void play(const struct nt_bench_options *o, const struct nt_library *nccl)
{
	struct nt_bench_gpu gpu;
	struct nt_play play;
	char run[64];

	nt_bench_run_name(run, sizeof(run));
	nt_gpu_open(&gpu, o, nccl, run);
	nt_lanes_open(&gpu);
	nt_play_create(&play, &gpu);
	nt_play_run(&play);
	/* All ranks know, and each exits by itself. Some launchers kill all ranks after the first
	 * failure, and report the signal instead of this status. */
	if (play.wrong_somewhere)
		signal(SIGTERM, SIG_IGN);
	if (play.wrong_somewhere && o->check_every == NT_CHECK_LIGHT)
		exit(NT_BENCH_WRONG);
	if (o->channel && !play.wrong_somewhere)
		nt_gpu_slowest(&gpu, play.host_us, play.calls * (size_t)play.iterations);
	nt_lanes_close(&gpu);
	nt_gpu_close(&gpu);
	alarm(0);
	if (o->channel && o->rank == 0 && !play.wrong_somewhere)
		report_channel(&play);
	else if (!o->channel)
		report(&play, run);
	if (play.wrong_somewhere)
		exit(NT_BENCH_WRONG);
	nt_play_destroy(&play);
}

static int count_gpus(void)
{
	int seen;

	CUDA_CHECK(GetDeviceCount(&seen));
	printf("%d\n", seen);
	return 0;
}

/* In each process of the task: true. In the one that started them, at their end: false, and the
 * largest exit status. */
static bool become_rank(struct nt_bench_options *o, int *status)
{
	int how;

	for (int i = 0; i < o->procs; i++) {
		const pid_t pid = fork();

		if (pid > 0)
			continue;
		o->rank += i;
		o->local_rank += i;
		if (pid == 0)
			return true;
		exit(complain("cannot start a process", 1));
	}
	*status = 0;
	while (wait(&how) > 0) {
		const int code = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);

		*status = code > *status ? code : *status;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct nt_bench_options options;
	struct nt_library nccl;
	struct nt_error err;
	bool help;
	int status;

	if (nt_bench_parse(&options, argc, argv, &help, &err) < 0)
		return complain(err.text, 2);
	if (help)
		return 0;
	if (options.procs > 1 && !become_rank(&options, &status))
		return status;
	/* Not for the search's own processes. */
	if (options.channel)
		(void)fcntl(options.channel, F_SETFD, FD_CLOEXEC);
	if (load_nccl(&options, &nccl, &err) < 0)
		return complain(err.text, options.nccl_path ? 2 : 1);
	if (nt_library_open_cuda(nccl.path, &err) < 0 || nt_library_check(&options, &err) < 0)
		return complain(err.text, 1);
	if (options.count_gpus)
		return count_gpus();
	play(&options, &nccl);
	return 0;
}
