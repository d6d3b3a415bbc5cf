/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.c - this process's GPU, and one collective at a time */
#include "bench/gpu.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POISON 0xff /* a NaN in every element that no collective wrote */

#define ALIGN 512 /* of results that are there at the same time */

void nt_bench_die(int rank, const char *format, ...)
{
	va_list args;
	char text[512];

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "nccl-tune-bench: rank %d: %s\n", rank, text);
	fflush(NULL);
	_Exit(1);
}

void nt_check_cuda(int rank, cudaError_t rc, const char *call, const char *file, int line)
{
	if (rc != cudaSuccess)
		nt_bench_die(rank, "%s (%s:%d): %s", call, file, line, cudaGetErrorString(rc));
}

void nt_check_nccl(int rank, ncclResult_t rc, const char *call, const char *file, int line)
{
	if (rc != ncclSuccess)
		nt_bench_die(rank, "%s (%s:%d): %s: %s", call, file, line, ncclGetErrorString(rc),
			     ncclGetLastError(NULL));
}

void *nt_bench_allocate(int rank, size_t count, size_t bytes)
{
	void *memory = calloc(count ? count : 1, bytes);

	if (!memory)
		nt_bench_die(rank, "no memory for %zu times %zu bytes", count, bytes);
	return memory;
}

/* Several nodes may be pretended on one host: then the GPUs of all of them are seen, and the
 * global rank counts. */
static void choose_device(struct nt_gpu *g)
{
	const struct nt_bench_options *o = g->options;
	struct cudaDeviceProp properties;
	bool global = o->device == NT_DEVICE_GLOBAL;
	int seen;

	CUDA_CHECK(g->options->rank, cudaGetDeviceCount(&seen));
	if (o->device == NT_DEVICE_AUTO)
		global = seen >= o->gpu_base + o->ranks;
	g->device = o->gpu_base + (global ? o->rank : o->local_rank);
	/* Slurm may show each task its own GPU alone. */
	if (o->device == NT_DEVICE_AUTO && seen == 1)
		g->device = 0;
	if (g->device >= seen)
		nt_bench_die(o->rank, "no GPU %d: %d seen", g->device, seen);
	CUDA_CHECK(g->options->rank, cudaSetDevice(g->device));
	CUDA_CHECK(g->options->rank, cudaGetDeviceProperties(&properties, g->device));
	snprintf(g->device_name, sizeof(g->device_name), "%s", properties.name);
}

void nt_gpu_measure_memory(struct nt_gpu *g, double *used_mib)
{
	size_t left, total;

	CUDA_CHECK(g->options->rank, cudaMemGetInfo(&left, &total));
	*used_mib = (double)(total - left) / (1 << 20);
}

/* Sends are shared; results as well, but where several calls are in flight at once. */
static void size_buffers(struct nt_gpu *g)
{
	const struct nt_bench_options *o = g->options;
	const size_t least = (size_t)o->ranks * sizeof(float); /* see nt_figure_counts */
	size_t sum = 0;

	for (unsigned s = 0; s < o->sizes; s++) {
		const size_t bytes = o->size_bytes[s] < least ? least : o->size_bytes[s];

		if (bytes > g->send_bytes)
			g->send_bytes = bytes;
		sum += nt_gpu_room(bytes);
	}
	g->receive_bytes = g->send_bytes;
	if (o->mode == NT_BENCH_GROUPED)
		g->receive_bytes = NT_LANES * o->colls * sum;
}

size_t nt_gpu_room(size_t bytes)
{
	return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static void make_buffers(struct nt_gpu *g)
{
	const int rank = g->options->rank;

	size_buffers(g);
	CUDA_CHECK(rank, cudaMalloc(&g->send, g->send_bytes));
	CUDA_CHECK(rank, cudaMalloc(&g->receive, g->receive_bytes));
	g->host = nt_bench_allocate(rank, g->receive_bytes, 1);
	for (size_t i = 0; i < g->send_bytes / sizeof(float); i++)
		g->host[i] = nt_figure_input(rank, i);
	CUDA_CHECK(rank, cudaMemcpy(g->send, g->host, g->send_bytes, cudaMemcpyHostToDevice));
	CUDA_CHECK(rank, cudaMemset(g->receive, POISON, g->receive_bytes));
}

/* Beside a product, a collective waits for the end of a tile, not of all that was launched
 * before. */
static void make_stream(struct nt_gpu *g)
{
	const int rank = g->options->rank;
	int lowest, highest;

	CUDA_CHECK(rank, cudaDeviceGetStreamPriorityRange(&lowest, &highest));
	CUDA_CHECK(rank, cudaStreamCreateWithPriority(&g->stream, cudaStreamNonBlocking,
						      g->options->load_n ? highest : lowest));
}

void nt_gpu_open(struct nt_gpu *g, const struct nt_bench_options *o, const char *run)
{
	*g = (struct nt_gpu){ .options = o, .meet = { .dir = o->meet_dir, .run = run } };
	choose_device(g);
	NCCL_CHECK(g->options->rank, ncclGetVersion(&g->nccl_version));
	make_stream(g);
	CUDA_CHECK(g->options->rank, cudaEventCreate(&g->before));
	CUDA_CHECK(g->options->rank, cudaEventCreate(&g->after));
	make_buffers(g);
	nt_gpu_measure_memory(g, &g->start_mib);
}

void nt_gpu_close(struct nt_gpu *g)
{
	CUDA_CHECK(g->options->rank, cudaFree(g->send));
	CUDA_CHECK(g->options->rank, cudaFree(g->receive));
	CUDA_CHECK(g->options->rank, cudaEventDestroy(g->before));
	CUDA_CHECK(g->options->rank, cudaEventDestroy(g->after));
	CUDA_CHECK(g->options->rank, cudaStreamDestroy(g->stream));
	free(g->host);
}

static ncclResult_t issue(struct nt_gpu *g, const struct nt_call *call)
{
	const ncclComm_t comm = g->lane[call->lane].comm;
	const size_t n = call->counts.call;
	void *result = (char *)g->receive + call->at;

	switch (call->coll) {
	case NT_ALLREDUCE:
		return ncclAllReduce(g->send, result, n, ncclFloat32, ncclSum, comm, g->stream);
	case NT_ALLGATHER: return ncclAllGather(g->send, result, n, ncclFloat32, comm, g->stream);
	case NT_REDUCESCATTER:
		return ncclReduceScatter(g->send, result, n, ncclFloat32, ncclSum, comm, g->stream);
	case NT_BROADCAST:
		return ncclBroadcast(g->send, result, n, ncclFloat32, 0, comm, g->stream);
	case NT_REDUCE:
		return ncclReduce(g->send, result, n, ncclFloat32, ncclSum, 0, comm, g->stream);
	default: return ncclInvalidArgument;
	}
}

void nt_gpu_start(struct nt_gpu *g, const struct nt_call *call)
{
	NCCL_CHECK(g->options->rank, issue(g, call));
}

void nt_gpu_try(struct nt_gpu *g, const struct nt_call *call)
{
	(void)issue(g, call);
}

void nt_gpu_group(struct nt_gpu *g, const struct nt_call *call, size_t calls)
{
	NCCL_CHECK(g->options->rank, ncclGroupStart());
	for (size_t c = 0; c < calls; c++)
		NCCL_CHECK(g->options->rank, issue(g, &call[c]));
	NCCL_CHECK(g->options->rank, ncclGroupEnd());
}

void nt_gpu_wait(struct nt_gpu *g)
{
	CUDA_CHECK(g->options->rank, cudaStreamSynchronize(g->stream));
}

void nt_gpu_tell(struct nt_gpu *g, int32_t *numbers, size_t count)
{
	const int rank = g->options->rank;
	const size_t bytes = count * sizeof(numbers[0]);

	CUDA_CHECK(rank, cudaMemcpy(g->receive, numbers, bytes, cudaMemcpyHostToDevice));
	NCCL_CHECK(rank, ncclBroadcast(g->receive, g->receive, count, ncclInt32, 0, g->lane[0].comm,
				       g->stream));
	nt_gpu_wait(g);
	CUDA_CHECK(rank, cudaMemcpy(numbers, g->receive, bytes, cudaMemcpyDeviceToHost));
}

void nt_gpu_capture(struct nt_gpu *g, struct nt_call *call, int times)
{
	cudaGraph_t graph;

	CUDA_CHECK(g->options->rank,
		   cudaStreamBeginCapture(g->stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < times; i++)
		NCCL_CHECK(g->options->rank, issue(g, call));
	CUDA_CHECK(g->options->rank, cudaStreamEndCapture(g->stream, &graph));
	CUDA_CHECK(g->options->rank, cudaGraphInstantiateWithFlags(&call->graph, graph, 0));
	CUDA_CHECK(g->options->rank, cudaGraphDestroy(graph));
}

void nt_gpu_replay(struct nt_gpu *g, const struct nt_call *call)
{
	CUDA_CHECK(g->options->rank, cudaGraphLaunch(call->graph, g->stream));
}

void nt_gpu_mark_before(struct nt_gpu *g)
{
	if (!g->options->no_gpu_times)
		CUDA_CHECK(g->options->rank, cudaEventRecord(g->before, g->stream));
}

void nt_gpu_mark_after(struct nt_gpu *g)
{
	if (!g->options->no_gpu_times)
		CUDA_CHECK(g->options->rank, cudaEventRecord(g->after, g->stream));
}

float nt_gpu_between_us(struct nt_gpu *g)
{
	float ms = 0;

	if (!g->options->no_gpu_times)
		CUDA_CHECK(g->options->rank, cudaEventElapsedTime(&ms, g->before, g->after));
	return ms * 1000;
}

static size_t wrong_of(struct nt_gpu *g, const struct nt_call *call)
{
	const struct nt_lane *lane = &g->lane[call->lane];
	const size_t bytes = call->counts.receive * sizeof(float);

	CUDA_CHECK(g->options->rank, cudaMemcpy(g->host, (char *)g->receive + call->at, bytes,
						cudaMemcpyDeviceToHost));
	return nt_figure_wrong(call->coll, lane->ranks, lane->count, lane->me, g->host,
			       call->counts);
}

size_t nt_gpu_check(struct nt_gpu *g, const struct nt_call *call)
{
	CUDA_CHECK(g->options->rank,
		   cudaMemsetAsync((char *)g->receive + call->at, POISON,
				   call->counts.receive * sizeof(float), g->stream));
	if (call->graph)
		nt_gpu_replay(g, call);
	else
		nt_gpu_start(g, call);
	nt_gpu_wait(g);
	return wrong_of(g, call);
}

void nt_gpu_check_group(struct nt_gpu *g, const struct nt_call *call, size_t calls, size_t *wrong)
{
	CUDA_CHECK(g->options->rank,
		   cudaMemsetAsync(g->receive, POISON, g->receive_bytes, g->stream));
	nt_gpu_group(g, call, calls);
	nt_gpu_wait(g);
	for (size_t c = 0; c < calls; c++)
		wrong[c] += wrong_of(g, &call[c]);
}

float nt_gpu_simulate_us(struct nt_gpu *g, const struct nt_call *call)
{
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 22, 3)
	ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;

	NCCL_CHECK(g->options->rank, ncclGroupStart());
	NCCL_CHECK(g->options->rank, issue(g, call));
	NCCL_CHECK(g->options->rank, ncclGroupSimulateEnd(&info));
	return info.estimatedTime;
#else
	(void)call;
	nt_bench_die(g->options->rank, "--simulate-on: NCCL %d cannot", NCCL_VERSION_CODE);
#endif
}
