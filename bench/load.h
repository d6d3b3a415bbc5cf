/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - matrix products on a stream of their own, one after the other, beside the collectives
 *
 * A thread keeps a few batches of products queued; a batch is as many products of N x N matrices
 * as fill the GPU four times over. The kernel is our own (load.cu): fp32, tiles of 128 x 128, no
 * library. The stream has the lowest priority, as work beside which communication is hidden.
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
#include "bench/host.h"

#define NT_LOAD_QUEUED 4 /* batches */

struct nt_load {
	int rank, device, n, batch;
	double alone_gflops;
	float *a, *b, *c;
	cudaStream_t stream;
	cudaEvent_t done[NT_LOAD_QUEUED];
	pthread_t thread;
	_Atomic bool stop;
	_Atomic uint64_t batches; /* that are over */
};

/* Starts it, and measures it alone for a while: nothing else may use the GPU meanwhile. */
void nt_load_start(struct nt_load *l, int rank, int device, int n);
void nt_load_stop(struct nt_load *l);

static inline uint64_t nt_load_batches(struct nt_load *l)
{
	return atomic_load_explicit(&l->batches, memory_order_relaxed);
}

double nt_load_gflops(const struct nt_load *l, double batches, double us);

/* load.cu: C[z] = A B[z] for batch products; n is a multiple of NT_LOAD_TILE. */
#define NT_LOAD_TILE 128
#ifdef __cplusplus
extern "C"
#endif
	cudaError_t
	nt_load_launch(const float *a, const float *b, float *c, int n, int batch,
		       cudaStream_t stream);

#endif
