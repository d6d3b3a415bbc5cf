/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - a communicator's stream on a rank's simulated GPU: plans in order with their own clock,
 * and the proxy that reports them
 *
 * Threads:  all functions on the rank's host thread.
 * Memory:   a pushed plan is referenced until it has run.
 * Units:    nanoseconds; stamps for the plugin tick in 32 ns and start at an offset of the
 *           GPU's own.
 */
#ifndef NT_FAKE_GPU_H
#define NT_FAKE_GPU_H

#include "tests/fake/fake.h"

struct nt_gpu *nt_gpu_create(struct nt_rank *r);
void nt_gpu_destroy(struct nt_gpu *g);

/* Waits until a plan can be pushed. */
void nt_gpu_reserve(struct nt_gpu *g);

/* op: the plan's operation, published on the wire. */
void nt_gpu_push(struct nt_gpu *g, struct nt_plan *p, uint64_t op);

/* Waits until the stream is empty; returns its clock. */
uint64_t nt_gpu_sync(struct nt_gpu *g);

/* Waits until the proxy has reported everything. */
void nt_gpu_drain(struct nt_gpu *g);

/* The proxy reports nothing while held. */
void nt_gpu_hold(struct nt_gpu *g, bool held);

/* Drops plans that have not run and reports of the proxy: ncclCommAbort. */
void nt_gpu_abandon(struct nt_gpu *g);

#endif
