/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.c - this process's GPU, its communicators, and one collective at a time */
#include "bench/gpu.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MEET_S 120 /* how long processes may take to start */
#define POISON 0xff /* a NaN in every element that no collective wrote */

#define CUDA_CHECK(g, call) check_cuda(g, (call), #call, __LINE__)
#define NCCL_CHECK(g, call) check_nccl(g, (call), #call, __LINE__)

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

static void check_cuda(const struct nt_gpu *g, cudaError_t rc, const char *call, int line)
{
	if (rc != cudaSuccess)
		nt_bench_die(g->options->rank, "%s (line %d): %s", call, line,
			     cudaGetErrorString(rc));
}

static void check_nccl(const struct nt_gpu *g, ncclResult_t rc, const char *call, int line)
{
	if (rc != ncclSuccess)
		nt_bench_die(g->options->rank, "%s (line %d): %s: %s", call, line,
			     ncclGetErrorString(rc), ncclGetLastError(NULL));
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Several nodes may be pretended on one host: then the GPUs of all of them are seen, and the
 * global rank counts. */
static void choose_device(struct nt_gpu *g)
{
	const struct nt_bench_options *o = g->options;
	struct cudaDeviceProp properties;
	bool global = o->device == NT_DEVICE_GLOBAL;
	int seen;

	CUDA_CHECK(g, cudaGetDeviceCount(&seen));
	if (o->device == NT_DEVICE_AUTO)
		global = seen >= o->gpu_base + o->ranks;
	g->device = o->gpu_base + (global ? o->rank : o->local_rank);
	if (g->device >= seen)
		nt_bench_die(o->rank, "no GPU %d: %d seen", g->device, seen);
	CUDA_CHECK(g, cudaSetDevice(g->device));
	CUDA_CHECK(g, cudaGetDeviceProperties(&properties, g->device));
	snprintf(g->device_name, sizeof(g->device_name), "%s", properties.name);
}

void nt_gpu_measure_memory(struct nt_gpu *g, double *used_mib)
{
	size_t left, total;

	CUDA_CHECK(g, cudaMemGetInfo(&left, &total));
	*used_mib = (double)(total - left) / (1 << 20);
}

static void *allocate(const struct nt_gpu *g, size_t bytes)
{
	void *p = malloc(bytes);

	if (!p)
		nt_bench_die(g->options->rank, "no memory for %zu bytes", bytes);
	return p;
}

static void make_buffers(struct nt_gpu *g)
{
	const struct nt_bench_options *o = g->options;

	for (unsigned s = 0; s < o->sizes; s++) {
		if (o->size_bytes[s] > g->buffer_bytes)
			g->buffer_bytes = o->size_bytes[s];
	}
	/* A size below one element a rank is rounded up (nt_figure_counts). */
	if (g->buffer_bytes < (size_t)o->ranks * sizeof(float))
		g->buffer_bytes = (size_t)o->ranks * sizeof(float);
	CUDA_CHECK(g, cudaMalloc(&g->send, g->buffer_bytes));
	CUDA_CHECK(g, cudaMalloc(&g->receive, g->buffer_bytes));
	g->host = allocate(g, g->buffer_bytes);
	for (size_t i = 0; i < g->buffer_bytes / sizeof(float); i++)
		g->host[i] = nt_figure_input(o->rank, i);
	CUDA_CHECK(g, cudaMemcpy(g->send, g->host, g->buffer_bytes, cudaMemcpyHostToDevice));
	CUDA_CHECK(g, cudaMemset(g->receive, POISON, g->buffer_bytes));
}

static void join_world(struct nt_gpu *g)
{
	const struct nt_bench_options *o = g->options;
	struct nt_lane *lane = &g->lane[g->lanes++];
	struct nt_error err;
	ncclUniqueId id;

	*lane = (struct nt_lane){ .name = "world", .count = o->ranks, .me = o->rank };
	lane->ranks = allocate(g, (size_t)o->ranks * sizeof(int));
	for (int r = 0; r < o->ranks; r++)
		lane->ranks[r] = r;
	if (o->rank == 0) {
		NCCL_CHECK(g, ncclGetUniqueId(&id));
		if (nt_meet_put(&g->meet, "id", &id, sizeof(id), &err) < 0)
			nt_bench_die(o->rank, "%s", err.text);
	} else if (nt_meet_get(&g->meet, "id", &id, sizeof(id), MEET_S, &err) < 0) {
		nt_bench_die(o->rank, "%s", err.text);
	}
	NCCL_CHECK(g, ncclCommInitRank(&lane->comm, o->ranks, id, o->rank));
	/* All have read it: the communicator is complete. */
	if (o->rank == 0)
		nt_meet_remove(&g->meet, "id");
}

static void split_world(struct nt_gpu *g)
{
	const struct nt_bench_options *o = g->options;
	struct nt_lane *lane = &g->lane[g->lanes++];
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	const bool block = o->split == NT_SPLIT_BLOCK;
	const int color = block ? o->rank / o->split_ranks : o->rank % o->split_ranks;

	*lane = (struct nt_lane){ .name = "part" };
	lane->count = block ? o->split_ranks : o->ranks / o->split_ranks;
	lane->ranks = allocate(g, (size_t)lane->count * sizeof(int));
	for (int i = 0; i < lane->count; i++) {
		lane->ranks[i] = block ? color * o->split_ranks + i : color + i * o->split_ranks;
		if (lane->ranks[i] == o->rank)
			lane->me = i;
	}
	config.splitShare = o->split_share;
	NCCL_CHECK(g, ncclCommSplit(g->lane[0].comm, color, o->rank, &lane->comm, &config));
}

void nt_gpu_open(struct nt_gpu *g, const struct nt_bench_options *o, const char *run)
{
	double start_ms;

	*g = (struct nt_gpu){ .options = o, .meet = { .dir = o->meet_dir, .run = run } };
	choose_device(g);
	NCCL_CHECK(g, ncclGetVersion(&g->nccl_version));
	CUDA_CHECK(g, cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking));
	CUDA_CHECK(g, cudaEventCreate(&g->before));
	CUDA_CHECK(g, cudaEventCreate(&g->after));
	make_buffers(g);
	nt_gpu_measure_memory(g, &g->start_mib);
	start_ms = now_ms();
	join_world(g);
	if (o->split != NT_SPLIT_NONE)
		split_world(g);
	g->init_ms = now_ms() - start_ms;
	nt_gpu_measure_memory(g, &g->init_mib);
}

void nt_gpu_close(struct nt_gpu *g)
{
	/* Children first, as applications do. */
	for (int i = g->lanes - 1; i >= 0; i--) {
		NCCL_CHECK(g, ncclCommDestroy(g->lane[i].comm));
		free(g->lane[i].ranks);
	}
	CUDA_CHECK(g, cudaFree(g->send));
	CUDA_CHECK(g, cudaFree(g->receive));
	CUDA_CHECK(g, cudaEventDestroy(g->before));
	CUDA_CHECK(g, cudaEventDestroy(g->after));
	CUDA_CHECK(g, cudaStreamDestroy(g->stream));
	free(g->host);
}

static ncclResult_t issue(struct nt_gpu *g, const struct nt_call *call)
{
	const ncclComm_t comm = g->lane[call->lane].comm;
	const size_t n = call->counts.call;

	switch (call->coll) {
	case NT_ALLREDUCE:
		return ncclAllReduce(g->send, g->receive, n, ncclFloat32, ncclSum, comm, g->stream);
	case NT_ALLGATHER:
		return ncclAllGather(g->send, g->receive, n, ncclFloat32, comm, g->stream);
	case NT_REDUCESCATTER:
		return ncclReduceScatter(g->send, g->receive, n, ncclFloat32, ncclSum, comm,
					 g->stream);
	case NT_BROADCAST:
		return ncclBroadcast(g->send, g->receive, n, ncclFloat32, 0, comm, g->stream);
	case NT_REDUCE:
		return ncclReduce(g->send, g->receive, n, ncclFloat32, ncclSum, 0, comm, g->stream);
	default: return ncclInvalidArgument;
	}
}

void nt_gpu_start(struct nt_gpu *g, const struct nt_call *call)
{
	NCCL_CHECK(g, issue(g, call));
}

void nt_gpu_wait(struct nt_gpu *g)
{
	CUDA_CHECK(g, cudaStreamSynchronize(g->stream));
}

void nt_gpu_capture(struct nt_gpu *g, struct nt_call *call, int times)
{
	cudaGraph_t graph;

	CUDA_CHECK(g, cudaStreamBeginCapture(g->stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < times; i++)
		NCCL_CHECK(g, issue(g, call));
	CUDA_CHECK(g, cudaStreamEndCapture(g->stream, &graph));
	CUDA_CHECK(g, cudaGraphInstantiateWithFlags(&call->graph, graph, 0));
	CUDA_CHECK(g, cudaGraphDestroy(graph));
}

void nt_gpu_replay(struct nt_gpu *g, const struct nt_call *call)
{
	CUDA_CHECK(g, cudaGraphLaunch(call->graph, g->stream));
}

void nt_gpu_mark_before(struct nt_gpu *g)
{
	if (!g->options->no_gpu_times)
		CUDA_CHECK(g, cudaEventRecord(g->before, g->stream));
}

void nt_gpu_mark_after(struct nt_gpu *g)
{
	if (!g->options->no_gpu_times)
		CUDA_CHECK(g, cudaEventRecord(g->after, g->stream));
}

float nt_gpu_between_us(struct nt_gpu *g)
{
	float ms = 0;

	if (!g->options->no_gpu_times)
		CUDA_CHECK(g, cudaEventElapsedTime(&ms, g->before, g->after));
	return ms * 1000;
}

size_t nt_gpu_check(struct nt_gpu *g, const struct nt_call *call)
{
	const struct nt_lane *lane = &g->lane[call->lane];
	const size_t bytes = call->counts.receive * sizeof(float);

	CUDA_CHECK(g, cudaMemsetAsync(g->receive, POISON, bytes, g->stream));
	if (call->graph)
		nt_gpu_replay(g, call);
	else
		nt_gpu_start(g, call);
	nt_gpu_wait(g);
	CUDA_CHECK(g, cudaMemcpy(g->host, g->receive, bytes, cudaMemcpyDeviceToHost));
	return nt_figure_wrong(call->coll, lane->ranks, lane->count, lane->me, g->host,
			       call->counts);
}

float nt_gpu_simulate_us(struct nt_gpu *g, const struct nt_call *call)
{
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 22, 3)
	ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;

	NCCL_CHECK(g, ncclGroupStart());
	NCCL_CHECK(g, issue(g, call));
	NCCL_CHECK(g, ncclGroupSimulateEnd(&info));
	return info.estimatedTime;
#else
	(void)call;
	nt_bench_die(g->options->rank, "--simulate-on: NCCL %d cannot", NCCL_VERSION_CODE);
#endif
}
