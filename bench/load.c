/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load.h"

#include <stdlib.h>
#include <time.h>
#include "lib/clock.h"
#include "bench/gpu.h"

#define ROUNDS 4 /* a batch fills the GPU this often */
#define ALONE_MS 300
#define THREADS 256 /* per block, as in load.cu */

static const char kernel[] =
#include "bench/load-ptx.inc"
	;

/* Random numbers: a GPU multiplies zeros faster. */
static void fill(struct nt_load *l, float *matrices, int count)
{
	const size_t elements = (size_t)l->n * (size_t)l->n;
	float *host = nt_bench_allocate(elements, sizeof(float));
	uint32_t random = 2463534242u;

	for (size_t i = 0; i < elements; i++) {
		random = random * 1664525u + 1013904223u;
		host[i] = (float)(random >> 8) / (float)(1 << 24) - 0.5f;
	}
	for (int m = 0; m < count; m++)
		CUDA_CHECK(Memcpy(matrices + (size_t)m * elements, host, elements * sizeof(float),
				  NT_CUDA_TO_DEVICE));
	free(host);
}

static void check_driver(nt_driver_result rc)
{
	const char *text = "?";

	if (rc == 0)
		return;
	nt_driver.GetErrorString(rc, &text);
	nt_bench_die("--load: CUDA's driver: %s", text);
}

static void load_kernel(struct nt_load *l)
{
	struct nt_error err;
	nt_module module;

	if (nt_library_open_driver(&err) < 0)
		nt_bench_die("%s", err.text);
	check_driver(nt_driver.ModuleLoadData(&module, kernel));
	check_driver(nt_driver.ModuleGetFunction(&l->product, module, "nt_load_product"));
}

static void make(struct nt_load *l)
{
	const size_t bytes = (size_t)l->n * (size_t)l->n * sizeof(float);
	const int tiles = (l->n / NT_LOAD_TILE) * (l->n / NT_LOAD_TILE);
	int lowest, highest, processors;

	CUDA_CHECK(DeviceGetAttribute(&processors, NT_CUDA_PROCESSORS, l->device));
	l->batch = (2 * ROUNDS * processors + tiles - 1) / tiles;
	CUDA_CHECK(Malloc((void **)&l->a, bytes));
	CUDA_CHECK(Malloc((void **)&l->b, bytes * (size_t)l->batch));
	CUDA_CHECK(Malloc((void **)&l->c, bytes * (size_t)l->batch));
	fill(l, l->a, 1);
	fill(l, l->b, l->batch);
	CUDA_CHECK(DeviceGetStreamPriorityRange(&lowest, &highest));
	CUDA_CHECK(StreamCreateWithPriority(&l->stream, NT_CUDA_STREAM_NON_BLOCKING, lowest));
	for (int i = 0; i < NT_LOAD_QUEUED; i++)
		CUDA_CHECK(EventCreateWithFlags(&l->done[i],
						NT_CUDA_EVENT_NO_TIMING | NT_CUDA_EVENT_BLOCKING));
}

static void launch(struct nt_load *l, uint64_t number)
{
	const unsigned tiles = (unsigned)(l->n / NT_LOAD_TILE);
	void *arguments[] = { &l->a, &l->b, &l->c, &l->n };

	check_driver(nt_driver.LaunchKernel(l->product, tiles, tiles, (unsigned)l->batch, THREADS,
					    1, 1, 0, l->stream, arguments, NULL));
	CUDA_CHECK(EventRecord(l->done[number % NT_LOAD_QUEUED], l->stream));
}

static void *run(void *arg)
{
	struct nt_load *l = arg;
	uint64_t launched = 0;

	CUDA_CHECK(SetDevice(l->device));
	while (!atomic_load(&l->stop)) {
		if (launched >= NT_LOAD_QUEUED) {
			CUDA_CHECK(EventSynchronize(l->done[launched % NT_LOAD_QUEUED]));
			atomic_fetch_add(&l->batches, 1);
		}
		launch(l, launched++);
	}
	return NULL;
}

void nt_load_start(struct nt_load *l, int device, int n)
{
	const struct timespec alone = { .tv_nsec = ALONE_MS * 1000000L };
	uint64_t batches;
	double start_us;
	int rc;

	l->device = device;
	l->n = n;
	make(l);
	load_kernel(l);
	/* Load the kernel onto the GPU before anything else runs there. */
	launch(l, 0);
	CUDA_CHECK(StreamSynchronize(l->stream));
	rc = pthread_create(&l->thread, NULL, run, l);
	if (rc != 0)
		nt_bench_die("cannot create a thread for --load: error %d", rc);
	nanosleep(&alone, NULL);
	batches = nt_load_batches(l);
	start_us = nt_clock_exact_us();
	nanosleep(&alone, NULL);
	l->alone_gflops = nt_load_gflops(l, (double)(nt_load_batches(l) - batches),
					 nt_clock_exact_us() - start_us);
}

void nt_load_stop(struct nt_load *l)
{
	atomic_store(&l->stop, true);
	pthread_join(l->thread, NULL);
	CUDA_CHECK(StreamSynchronize(l->stream));
	for (int i = 0; i < NT_LOAD_QUEUED; i++)
		CUDA_CHECK(EventDestroy(l->done[i]));
	CUDA_CHECK(StreamDestroy(l->stream));
	CUDA_CHECK(Free(l->a));
	CUDA_CHECK(Free(l->b));
	CUDA_CHECK(Free(l->c));
}

double nt_load_gflops(const struct nt_load *l, double batches, double us)
{
	const double n = l->n;

	return us > 0 ? batches * l->batch * 2 * n * n * n / us / 1e3 : 0;
}
