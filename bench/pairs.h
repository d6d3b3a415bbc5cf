/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.h - time pairs of GPUs, to find slow nodes, GPUs and NICs
 *
 * In a round each GPU is paired with another one of its node, then with the one with its number on
 * another node; each pair has its own communicator, and all pairs run at the same time. A pair
 * first checks the results of an AllReduce of both sizes, then times it several times, and gets
 * NCCL's prediction. From time to time rank 0 collects the times, evaluates them
 * (profiles/measure/low-nodes.h) and prints the result as one line of JSON; the last line counts.
 * It ends when nothing is undecided, or when the time is over. Ranks exchange messages through
 * files: if NCCL gives wrong results, messages sent with it might be wrong, too.
 *
 * Threads:  one.
 * Errors:   as gpu.h; a call that does not end in time ends the process, with a line that names the
 *           pair.
 */
#ifndef NT_BENCH_PAIRS_H
#define NT_BENCH_PAIRS_H

#include "bench/gpu.h"

/* Called by all ranks, after nt_lanes_open(). */
void nt_pairs_play(struct nt_bench_gpu *g);

#endif
