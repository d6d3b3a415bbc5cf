/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - matrix products that run on another stream during the collectives
 *
 * A thread keeps a few batches of products queued. A batch has as many products of N x N matrices
 * as fill the GPU four times. The kernel is our own (load.cu, load.ptx): fp32, tiles of 128 x 128.
 * The stream has the lowest priority, as computation has that hides communication.
 *
 * Threads:  start and stop from one thread; nt_load_batches from any.
 * Memory:   start and stop are a pair; 4 N^2 (1 + 2 times the batch) bytes of the GPU.
 * Errors:   a failed CUDA call ends the process with status 1.
 * Units:    floating-point operations.
 */
#ifndef NT_BENCH_LOAD_H
#define NT_BENCH_LOAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "bench/cuda-nccl.h"

#define NT_LOAD_QUEUED 4 /* batches */

struct nt_load {
	int device, n, batch;
	double alone_gflops;
	float *a, *b, *c;
	nt_stream stream;
	nt_function product;
	nt_event done[NT_LOAD_QUEUED];
	pthread_t thread;
	_Atomic bool stop;
	_Atomic uint64_t batches; /* completed */
};

/* Start, and measure the load alone: nothing else may use the GPU meanwhile. */
void nt_load_start(struct nt_load *l, int device, int n);
void nt_load_stop(struct nt_load *l);

static inline uint64_t nt_load_batches(struct nt_load *l)
{
	return atomic_load_explicit(&l->batches, memory_order_relaxed);
}

double nt_load_gflops(const struct nt_load *l, double batches, double us);

/* n is a multiple of it (load.cu). */
#define NT_LOAD_TILE 128

#endif
