/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.h - time pairs of GPUs, to find slow nodes, GPUs and NICs
 *
 * In a round each GPU meets another one of its node, then the one with its number on another node,
 * each pair in a communicator of its own, and all pairs side by side. A pair first checks the
 * results of an AllReduce of both sizes, then times some more; NCCL's prediction is asked for. Now
 * and then rank 0 collects the times, judges them (profiles/measure/low-nodes.h) and prints what
 * it found as one line of JSON; the last line counts. It ends once nothing is open, or when the
 * time is over. Ranks meet in files: where results are wrong, messages by NCCL might be, too.
 *
 * Threads:  one.
 * Errors:   as gpu.h; what does not end in time ends the process, with a line that names the pair.
 */
#ifndef NT_BENCH_PAIRS_H
#define NT_BENCH_PAIRS_H

#include "bench/gpu.h"

/* Called by all ranks, after nt_lanes_open(). */
void nt_pairs_play(struct nt_bench_gpu *g);

#endif
