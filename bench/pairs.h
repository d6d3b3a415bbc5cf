/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.h - time pairs of GPUs, to find slow nodes, GPUs and NICs
 *
 * In each round a GPU is paired with another one of its node, then with the GPU of its number on
 * another node. Each pair has its own communicator, and all pairs run at the same time. A pair
 * checks the results of an AllReduce of both sizes, times it several times, and gets NCCL's
 * prediction. From time to time rank 0 collects and evaluates the times
 * (profiles/measure/low-nodes.h) and prints a line of JSON; the last line counts. It ends when
 * nothing is undecided, or the time is over. Ranks exchange messages through files: if NCCL's
 * results are wrong, its messages may be, too.
 *
 * Threads:  one.
 * Errors:   as gpu.h; a call that takes too long ends the process with a line that names the pair.
 */
#ifndef NT_BENCH_PAIRS_H
#define NT_BENCH_PAIRS_H

#include "bench/gpu.h"

/* On all ranks, after nt_lanes_open(). */
void nt_pairs_play(struct nt_bench_gpu *g);

#endif
