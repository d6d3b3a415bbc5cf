/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - nccl-tune-bench: NCCL's collectives, one process a GPU, call by call
 *
 * Exit status: 0; 1 a failed call, a stall or a wrong result; 2 a command line that makes no sense.
 */
#include <stdio.h>
#include <unistd.h>
#include "bench/lane.h"
#include "bench/report.h"

static int complain(const char *text)
{
	fprintf(stderr, "nccl-tune-bench: %s\n", text);
	return 2;
}

int main(int argc, char **argv)
{
	struct nt_bench_options options;
	struct nt_gpu gpu;
	struct nt_play play;
	struct nt_error err;
	size_t wrong;
	char run[64];
	bool help;

	if (nt_bench_parse(&options, argc, argv, &help, &err) < 0)
		return complain(err.text);
	if (help) {
		nt_bench_usage();
		return 0;
	}
	nt_bench_run_name(run, sizeof(run));
	nt_gpu_open(&gpu, &options, run);
	nt_lanes_open(&gpu);
	nt_play_create(&play, &gpu);
	nt_play_run(&play);
	nt_lanes_close(&gpu);
	nt_gpu_close(&gpu);
	alarm(0);
	wrong = nt_bench_report(&play, run);
	nt_play_destroy(&play);
	if (wrong)
		fprintf(stderr, "nccl-tune-bench: rank %d: %zu wrong elements\n", options.rank,
			wrong);
	return wrong ? 1 : 0;
}
