/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* lane.h - the communicators: of all ranks, of a part of them, and of all ranks held to an arm
 *
 * Threads:  one.
 * Memory:   in nt_gpu; nt_lanes_open and nt_lanes_close are a pair, between nt_gpu_open and
 *           nt_gpu_close.
 * Errors:   as in gpu.h.
 */
#ifndef NT_BENCH_LANE_H
#define NT_BENCH_LANE_H

#include "bench/gpu.h"

/* Fills g->lane, and says in g->init_ms and g->init_mib what that took. */
void nt_lanes_open(struct nt_gpu *g);
void nt_lanes_close(struct nt_gpu *g);
/* Aborts whatever is under way, and opens them anew. */
void nt_lanes_abort(struct nt_gpu *g);

#endif
