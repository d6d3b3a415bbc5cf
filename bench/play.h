/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* play.h - the rounds of the benchmark, and the samples they leave
 *
 * A round is one sample of every collective and size on every communicator, in a fixed order; what
 * --even makes rarer is missing in some. A sample is the time from just before the call to the end
 * of the stream's work, and the time between two CUDA events around it. Nothing but NCCL itself
 * keeps the ranks together, unless --align.
 *
 * Threads:  one.
 * Memory:   create and destroy are a pair.
 * Errors:   as gpu.h; a round that does not end in time ends the process.
 * Units:    microseconds.
 */
#ifndef NT_BENCH_PLAY_H
#define NT_BENCH_PLAY_H

#include "bench/gpu.h"
#include "bench/load.h"
#include "bench/pace.h"
#include "bench/plan.h"
#include "bench/together.h"

struct nt_play {
	struct nt_gpu *gpu;
	struct nt_call *call; /* of a round */
	size_t calls;
	int rounds, last_from; /* that were played; where the last part begins */
	/* Sample of round r and call c at [r * calls + c]; below 0 where it was not played. */
	float *host_us, *gpu_us;
	size_t *wrong; /* elements, of each call */
	size_t *checks; /* how often it was looked at */
	float *model_us; /* NCCL's own estimate; below 0: not asked for */
	struct nt_together together; /* with --align */
	struct nt_pace pace; /* of --seconds, without */
	struct nt_load load;
	/* Of each call in the last part: batches of products that ended in its samples, and
	 * their time. */
	double *load_batches, *load_us;
	int aborts;
};

/* Is the call sampled in this round? */
static inline bool nt_play_has(const struct nt_call *call, int round)
{
	return round % call->stride == 0;
}

void nt_play_create(struct nt_play *p, struct nt_gpu *gpu);
void nt_play_run(struct nt_play *p);
void nt_play_destroy(struct nt_play *p);

#endif
