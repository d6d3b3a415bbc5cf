/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - matrix products on a stream of their own */
#include "bench/load.h"

#include <stdlib.h>
#include <time.h>
#include "bench/gpu.h"

#define ROUNDS 4 /* times that a batch fills the GPU */
#define ALONE_MS 300

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Not zeros, which a GPU multiplies faster. */
static void fill(struct nt_load *l, float *matrices, int count)
{
	const size_t elements = (size_t)l->n * (size_t)l->n;
	float *host = nt_bench_allocate(l->rank, elements, sizeof(float));
	uint32_t random = 2463534242u;

	for (size_t i = 0; i < elements; i++) {
		random = random * 1664525u + 1013904223u;
		host[i] = (float)(random >> 8) / (float)(1 << 24) - 0.5f;
	}
	for (int m = 0; m < count; m++)
		CUDA_CHECK(l->rank, cudaMemcpy(matrices + (size_t)m * elements, host,
					       elements * sizeof(float), cudaMemcpyHostToDevice));
	free(host);
}

static void make(struct nt_load *l)
{
	const size_t bytes = (size_t)l->n * (size_t)l->n * sizeof(float);
	const int tiles = (l->n / NT_LOAD_TILE) * (l->n / NT_LOAD_TILE);
	int lowest, highest, processors;

	CUDA_CHECK(l->rank,
		   cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, l->device));
	l->batch = (2 * ROUNDS * processors + tiles - 1) / tiles;
	CUDA_CHECK(l->rank, cudaMalloc((void **)&l->a, bytes));
	CUDA_CHECK(l->rank, cudaMalloc((void **)&l->b, bytes * (size_t)l->batch));
	CUDA_CHECK(l->rank, cudaMalloc((void **)&l->c, bytes * (size_t)l->batch));
	fill(l, l->a, 1);
	fill(l, l->b, l->batch);
	CUDA_CHECK(l->rank, cudaDeviceGetStreamPriorityRange(&lowest, &highest));
	CUDA_CHECK(l->rank,
		   cudaStreamCreateWithPriority(&l->stream, cudaStreamNonBlocking, lowest));
	for (int i = 0; i < NT_LOAD_QUEUED; i++)
		CUDA_CHECK(l->rank,
			   cudaEventCreateWithFlags(&l->done[i], cudaEventDisableTiming |
									 cudaEventBlockingSync));
}

static void launch(struct nt_load *l, uint64_t number)
{
	CUDA_CHECK(l->rank, nt_load_launch(l->a, l->b, l->c, l->n, l->batch, l->stream));
	CUDA_CHECK(l->rank, cudaEventRecord(l->done[number % NT_LOAD_QUEUED], l->stream));
}

static void *run(void *arg)
{
	struct nt_load *l = arg;
	uint64_t launched = 0;

	CUDA_CHECK(l->rank, cudaSetDevice(l->device));
	while (!atomic_load(&l->stop)) {
		if (launched >= NT_LOAD_QUEUED) {
			CUDA_CHECK(l->rank,
				   cudaEventSynchronize(l->done[launched % NT_LOAD_QUEUED]));
			atomic_fetch_add(&l->batches, 1);
		}
		launch(l, launched++);
	}
	return NULL;
}

void nt_load_start(struct nt_load *l, int rank, int device, int n)
{
	const struct timespec alone = { .tv_nsec = ALONE_MS * 1000000L };
	uint64_t batches;
	double start_us;
	int rc;

	l->rank = rank;
	l->device = device;
	l->n = n;
	make(l);
	/* The kernel is brought onto the GPU before anything else runs there. */
	launch(l, 0);
	CUDA_CHECK(rank, cudaStreamSynchronize(l->stream));
	rc = pthread_create(&l->thread, NULL, run, l);
	if (rc != 0)
		nt_bench_die(rank, "no thread for --load: error %d", rc);
	nanosleep(&alone, NULL);
	batches = nt_load_batches(l);
	start_us = now_us();
	nanosleep(&alone, NULL);
	l->alone_gflops = nt_load_gflops(l, (double)(nt_load_batches(l) - batches),
					 now_us() - start_us);
}

void nt_load_stop(struct nt_load *l)
{
	atomic_store(&l->stop, true);
	pthread_join(l->thread, NULL);
	CUDA_CHECK(l->rank, cudaStreamSynchronize(l->stream));
	for (int i = 0; i < NT_LOAD_QUEUED; i++)
		CUDA_CHECK(l->rank, cudaEventDestroy(l->done[i]));
	CUDA_CHECK(l->rank, cudaStreamDestroy(l->stream));
	CUDA_CHECK(l->rank, cudaFree(l->a));
	CUDA_CHECK(l->rank, cudaFree(l->b));
	CUDA_CHECK(l->rank, cudaFree(l->c));
}

double nt_load_gflops(const struct nt_load *l, double batches, double us)
{
	const double n = l->n;

	return us > 0 ? batches * l->batch * 2 * n * n * n / us / 1e3 : 0;
}
