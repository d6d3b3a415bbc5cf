/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* lane.h - the benchmark's communicators: of all ranks, and of some
 *
 * Threads:  one.
 * Memory:   in nt_gpu; nt_lanes_open and nt_lanes_close are a pair, between nt_gpu_open and
 *           nt_gpu_close.
 * Errors:   as in gpu.h.
 */
#ifndef NT_BENCH_LANE_H
#define NT_BENCH_LANE_H

#include "bench/gpu.h"

/* Also sets g->init_ms and g->init_mib, the time and memory this took. */
void nt_lanes_open(struct nt_bench_gpu *g);
void nt_lanes_close(struct nt_bench_gpu *g);
/* Abort calls in flight, and open all communicators again. */
void nt_lanes_abort(struct nt_bench_gpu *g);

#endif
