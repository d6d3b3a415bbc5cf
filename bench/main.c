/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - nccl-tune-bench: time NCCL's collectives call by call, one process for each GPU
 *
 * Exit status: 0; 1 a failed call or a stall; 2 a wrong command line; 3 a wrong result, on this
 * rank or another.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "bench/lane.h"
#include "bench/results.h"
#include "profiles/memory-dir.h"

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
		fprintf(stderr, "nccl-tune-bench: NCCL %d.%d.%d from %s (%s)\n",
			nccl->version / 10000, nccl->version / 100 % 100, nccl->version % 100,
			nccl->path, found.why);
	return 0;
}

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
		nt_gpu_slowest(&gpu, play.host_us, play.calls * (size_t)play.rounds);
	nt_lanes_close(&gpu);
	nt_gpu_close(&gpu);
	alarm(0);
	if (o->channel && o->rank == 0 && !play.wrong_somewhere)
		nt_bench_report_channel(&play);
	else if (!o->channel)
		nt_bench_report(&play, run);
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
