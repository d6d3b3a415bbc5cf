/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* play.h - the iterations of the benchmark and their samples
 *
 * An iteration is one sample of every collective and size on every communicator, in a fixed order;
 * calls that --even makes rarer are missing in some. A sample is the time from just before the
 * call until the stream is empty, and the time between two CUDA events around it. Only
 * NCCL keeps the ranks together.
 *
 * Threads:  one.
 * Memory:   create and destroy are a pair.
 * Errors:   as gpu.h; an iteration that takes too long ends the process.
 * Units:    microseconds.
 */
#ifndef NT_BENCH_PLAY_H
#define NT_BENCH_PLAY_H

#include "bench/gpu.h"
#include "bench/pace.h"

struct nt_play {
	struct nt_bench_gpu *gpu;
	struct nt_bench_call *call; /* in an iteration */
	size_t calls;
	int iterations, last_from; /* completed iterations; first iteration of the last part */
	/* Sample of iteration r and call c: [r * calls + c]; below 0: not called. */
	float *host_us, *gpu_us;
	size_t *wrong; /* elements, of each call */
	size_t *checks; /* how often it was checked */
	float *model_us; /* NCCL's prediction; below 0: not asked for */
	struct nt_bench_pace pace; /* with --seconds */
	int aborts;
	bool wrong_somewhere; /* on any rank, in anything that was checked */
};

/* Wrong results are reported on stderr at once. With --check=light, no iteration runs if the first
 * check finds one. */
void nt_play_create(struct nt_play *p, struct nt_bench_gpu *gpu);
void nt_play_run(struct nt_play *p);
void nt_play_destroy(struct nt_play *p);

#endif
