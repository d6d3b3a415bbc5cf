/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/gpu.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POISON 0xff /* a NaN in every element that no collective has written */

#define VOTES 64 /* floats that carry one bit */
#define ALIGN 512 /* of results in the buffer at the same time */

int nt_bench_rank;

void nt_bench_die(const char *format, ...)
{
	va_list args;
	char text[512];

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "nccl-tune-bench: rank %d: %s\n", nt_bench_rank, text);
	fflush(NULL);
	_Exit(1);
}

void nt_check_cuda(nt_cuda_error rc, const char *call, const char *file, int line)
{
	if (rc != NT_CUDA_OK)
		nt_bench_die("%s (%s:%d): %s", call, file, line, nt_cuda.GetErrorString(rc));
}

void nt_check_nccl(nt_nccl_result rc, const char *call, const char *file, int line)
{
	if (rc != NT_NCCL_OK)
		nt_bench_die("%s (%s:%d): %s: %s", call, file, line, nt_nccl.GetErrorString(rc),
			     nt_nccl.GetLastError(NULL));
}

void *nt_bench_allocate(size_t count, size_t bytes)
{
	void *memory = calloc(count ? count : 1, bytes);

	if (!memory)
		nt_bench_die("no memory for %zu times %zu bytes", count, bytes);
	return memory;
}

/* With several emulated nodes on one host, each process sees the GPUs of all: use the global
 * rank. */
static void choose_device(struct nt_bench_gpu *g)
{
	const struct nt_bench_options *o = g->options;
	/* Larger than in any release, and aligned like the real one. */
	static union {
		char name[NT_CUDA_NAME_BYTES];
		long long all[NT_CUDA_PROPERTIES_BYTES / sizeof(long long)];
	} properties;
	int seen;

	CUDA_CHECK(GetDeviceCount(&seen));
	g->device = seen >= o->ranks ? o->rank : o->local_rank;
	/* Slurm may show each task only its own GPU; each task of several processes may see its own
	 * GPUs, or those of all tasks. */
	if (seen == 1)
		g->device = 0;
	else if (o->channel && seen > 0 && seen < o->ranks)
		g->device = o->local_rank % seen;
	if (g->device >= seen)
		nt_bench_die("no GPU %d: %d seen", g->device, seen);
	CUDA_CHECK(SetDevice(g->device));
	CUDA_CHECK(GetDeviceProperties((struct cudaDeviceProp *)&properties, g->device));
	snprintf(g->device_name, sizeof(g->device_name), "%.*s", NT_CUDA_NAME_BYTES - 1,
		 properties.name);
}

void nt_gpu_measure_memory(double *used_mib)
{
	size_t left, total;

	CUDA_CHECK(MemGetInfo(&left, &total));
	*used_mib = (double)(total - left) / (1 << 20);
}

/* All calls share the send buffer, and the receive buffer unless several calls run at once. */
static void size_buffers(struct nt_bench_gpu *g)
{
	const struct nt_bench_options *o = g->options;
	const size_t least = (size_t)o->ranks * sizeof(float); /* see nt_figure_counts */
	size_t sum = 0;

	for (unsigned s = 0; s < o->sizes; s++) {
		const size_t bytes = o->size_bytes[s] < least ? least : o->size_bytes[s];

		if (bytes > g->send_bytes)
			g->send_bytes = bytes;
		sum += nt_gpu_aligned(bytes);
	}
	g->receive_bytes = g->send_bytes;
	if (o->mode == NT_BENCH_GROUPED)
		g->receive_bytes = NT_LANES * o->colls * sum;
}

size_t nt_gpu_aligned(size_t bytes)
{
	return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static void make_buffers(struct nt_bench_gpu *g)
{
	const int rank = g->options->rank;

	size_buffers(g);
	CUDA_CHECK(Malloc(&g->send, g->send_bytes));
	CUDA_CHECK(Malloc(&g->receive, g->receive_bytes));
	g->host = nt_bench_allocate(g->receive_bytes, 1);
	for (size_t i = 0; i < g->send_bytes / sizeof(float); i++)
		g->host[i] = nt_figure_input(rank, i);
	CUDA_CHECK(Memcpy(g->send, g->host, g->send_bytes, NT_CUDA_TO_DEVICE));
	CUDA_CHECK(Memset(g->receive, POISON, g->receive_bytes));
}

void nt_gpu_open(struct nt_bench_gpu *g, const struct nt_bench_options *o,
		 const struct nt_library *nccl, const char *run)
{
	*g = (struct nt_bench_gpu){ .options = o,
				    .nccl = nccl,
				    .meet = { o->meet_dir, run, o->rank, o->ranks } };
	nt_bench_rank = o->rank;
	choose_device(g);
	CUDA_CHECK(StreamCreateWithFlags(&g->stream, NT_CUDA_STREAM_NON_BLOCKING));
	CUDA_CHECK(EventCreate(&g->before));
	CUDA_CHECK(EventCreate(&g->after));
	make_buffers(g);
	nt_gpu_measure_memory(&g->start_mib);
}

void nt_gpu_close(struct nt_bench_gpu *g)
{
	CUDA_CHECK(Free(g->send));
	CUDA_CHECK(Free(g->receive));
	CUDA_CHECK(EventDestroy(g->before));
	CUDA_CHECK(EventDestroy(g->after));
	CUDA_CHECK(StreamDestroy(g->stream));
	free(g->host);
}

static nt_nccl_result exchange(struct nt_bench_gpu *g, const struct nt_bench_call *call, int to,
			       int from, size_t part)
{
	const nt_nccl_comm comm = g->lane[call->lane].comm;
	const size_t n = call->counts.call;
	float *result = (float *)((char *)g->receive + call->at);
	nt_nccl_result rc = nt_nccl.Send((const float *)g->send + (size_t)to * part, n,
					 NT_NCCL_FLOAT32, to, comm, g->stream);

	if (rc != NT_NCCL_OK)
		return rc;
	return nt_nccl.Recv(result + (size_t)from * part, n, NT_NCCL_FLOAT32, from, comm,
			    g->stream);
}

/* Grouped sends and receives, as in programs. */
static nt_nccl_result issue_sends(struct nt_bench_gpu *g, const struct nt_bench_call *call)
{
	const struct nt_lane *lane = &g->lane[call->lane];
	nt_nccl_result rc = nt_nccl.GroupStart(), ended;

	if (rc != NT_NCCL_OK)
		return rc;
	if (call->coll == NT_P2P_SENDRECV)
		rc = exchange(g, call, (lane->me + 1) % lane->count,
			      (lane->me + lane->count - 1) % lane->count, 0);
	for (int r = 0; call->coll == NT_P2P_ALLTOALL && rc == NT_NCCL_OK && r < lane->count; r++)
		rc = exchange(g, call, r, r, call->counts.call);
	ended = nt_nccl.GroupEnd();
	return rc != NT_NCCL_OK ? rc : ended;
}

static nt_nccl_result issue(struct nt_bench_gpu *g, const struct nt_bench_call *call)
{
	const nt_nccl_comm comm = g->lane[call->lane].comm;
	const size_t n = call->counts.call;
	void *result = (char *)g->receive + call->at;

	switch (call->coll) {
	case NT_ALLREDUCE:
		return nt_nccl.AllReduce(g->send, result, n, NT_NCCL_FLOAT32, NT_NCCL_SUM, comm,
					 g->stream);
	case NT_ALLGATHER:
		return nt_nccl.AllGather(g->send, result, n, NT_NCCL_FLOAT32, comm, g->stream);
	case NT_REDUCESCATTER:
		return nt_nccl.ReduceScatter(g->send, result, n, NT_NCCL_FLOAT32, NT_NCCL_SUM, comm,
					     g->stream);
	case NT_BROADCAST:
		return nt_nccl.Broadcast(g->send, result, n, NT_NCCL_FLOAT32, 0, comm, g->stream);
	case NT_REDUCE:
		return nt_nccl.Reduce(g->send, result, n, NT_NCCL_FLOAT32, NT_NCCL_SUM, 0, comm,
				      g->stream);
	case NT_P2P_ALLTOALL:
	case NT_P2P_SENDRECV: return issue_sends(g, call);
	default: return NT_NCCL_INVALID_ARGUMENT;
	}
}

static void check_issued(nt_nccl_result rc)
{
	nt_check_nccl(rc, "a collective", __FILE__, __LINE__);
}

void nt_gpu_start(struct nt_bench_gpu *g, const struct nt_bench_call *call)
{
	check_issued(issue(g, call));
}

void nt_gpu_try(struct nt_bench_gpu *g, const struct nt_bench_call *call)
{
	(void)issue(g, call);
}

void nt_gpu_group(struct nt_bench_gpu *g, const struct nt_bench_call *call, size_t calls)
{
	NCCL_CHECK(GroupStart());
	for (size_t c = 0; c < calls; c++)
		check_issued(issue(g, &call[c]));
	NCCL_CHECK(GroupEnd());
}

void nt_gpu_wait(struct nt_bench_gpu *g)
{
	CUDA_CHECK(StreamSynchronize(g->stream));
}

void nt_gpu_tell(struct nt_bench_gpu *g, int32_t *numbers, size_t count)
{
	const size_t bytes = count * sizeof(numbers[0]);

	CUDA_CHECK(Memcpy(g->receive, numbers, bytes, NT_CUDA_TO_DEVICE));
	NCCL_CHECK(Broadcast(g->receive, g->receive, count, NT_NCCL_INT32, 0, g->lane[0].comm,
			     g->stream));
	nt_gpu_wait(g);
	CUDA_CHECK(Memcpy(numbers, g->receive, bytes, NT_CUDA_TO_HOST));
}

void nt_gpu_slowest(struct nt_bench_gpu *g, float *values, size_t count)
{
	const size_t size = g->receive_bytes / sizeof(float);

	while (count > 0) {
		const size_t part = count < size ? count : size, bytes = part * sizeof(float);

		CUDA_CHECK(Memcpy(g->receive, values, bytes, NT_CUDA_TO_DEVICE));
		NCCL_CHECK(AllReduce(g->receive, g->receive, part, NT_NCCL_FLOAT32, NT_NCCL_MAX,
				     g->lane[0].comm, g->stream));
		nt_gpu_wait(g);
		CUDA_CHECK(Memcpy(values, g->receive, bytes, NT_CUDA_TO_HOST));
		values += part;
		count -= part;
	}
}

void nt_gpu_capture(struct nt_bench_gpu *g, struct nt_bench_call *call, int times)
{
	nt_graph graph;

	CUDA_CHECK(StreamBeginCapture(g->stream, NT_CUDA_CAPTURE_THREAD_LOCAL));
	for (int i = 0; i < times; i++)
		check_issued(issue(g, call));
	CUDA_CHECK(StreamEndCapture(g->stream, &graph));
	CUDA_CHECK(GraphInstantiateWithFlags(&call->graph, graph, 0));
	CUDA_CHECK(GraphDestroy(graph));
}

void nt_gpu_replay(struct nt_bench_gpu *g, const struct nt_bench_call *call)
{
	CUDA_CHECK(GraphLaunch(call->graph, g->stream));
}

void nt_gpu_mark_before(struct nt_bench_gpu *g)
{
	if (!g->options->no_gpu_times)
		CUDA_CHECK(EventRecord(g->before, g->stream));
}

void nt_gpu_mark_after(struct nt_bench_gpu *g)
{
	if (!g->options->no_gpu_times)
		CUDA_CHECK(EventRecord(g->after, g->stream));
}

float nt_gpu_between_us(struct nt_bench_gpu *g)
{
	float ms = 0;

	if (!g->options->no_gpu_times)
		CUDA_CHECK(EventElapsedTime(&ms, g->before, g->after));
	return ms * 1000;
}

void nt_gpu_poison(struct nt_bench_gpu *g, const struct nt_bench_call *call, struct nt_piece piece)
{
	float *result = (float *)((char *)g->receive + call->at);

	CUDA_CHECK(
		MemsetAsync(result + piece.first, POISON, piece.count * sizeof(float), g->stream));
}

size_t nt_gpu_wrong(struct nt_bench_gpu *g, const struct nt_bench_call *call, struct nt_piece piece)
{
	const struct nt_lane *lane = &g->lane[call->lane];
	const float *result = (const float *)((char *)g->receive + call->at);

	CUDA_CHECK(Memcpy(g->host, result + piece.first, piece.count * sizeof(float),
			  NT_CUDA_TO_HOST));
	return nt_figure_wrong(call->coll, lane->ranks, lane->count, lane->me, g->host,
			       call->counts, piece);
}

static struct nt_piece whole(const struct nt_bench_call *call)
{
	return (struct nt_piece){ 0, call->counts.receive };
}

size_t nt_gpu_check(struct nt_bench_gpu *g, const struct nt_bench_call *call)
{
	nt_gpu_poison(g, call, whole(call));
	if (call->graph)
		nt_gpu_replay(g, call);
	else
		nt_gpu_start(g, call);
	nt_gpu_wait(g);
	return nt_gpu_wrong(g, call, whole(call));
}

void nt_gpu_check_group(struct nt_bench_gpu *g, const struct nt_bench_call *call, size_t calls,
			size_t *wrong)
{
	CUDA_CHECK(MemsetAsync(g->receive, POISON, g->receive_bytes, g->stream));
	nt_gpu_group(g, call, calls);
	nt_gpu_wait(g);
	for (size_t c = 0; c < calls; c++)
		wrong[c] = nt_gpu_wrong(g, &call[c], whole(&call[c]));
}

/* This sum may be wrong, too: the majority decides. */
bool nt_gpu_any(struct nt_bench_gpu *g, bool mine)
{
	const size_t size = g->receive_bytes / sizeof(float), votes = size < VOTES ? size : VOTES;
	float vote[VOTES];
	size_t yes = 0;

	for (size_t i = 0; i < votes; i++)
		vote[i] = mine;
	CUDA_CHECK(Memcpy(g->receive, vote, votes * sizeof(vote[0]), NT_CUDA_TO_DEVICE));
	NCCL_CHECK(AllReduce(g->receive, g->receive, votes, NT_NCCL_FLOAT32, NT_NCCL_SUM,
			     g->lane[0].comm, g->stream));
	nt_gpu_wait(g);
	CUDA_CHECK(Memcpy(vote, g->receive, votes * sizeof(vote[0]), NT_CUDA_TO_HOST));
	for (size_t i = 0; i < votes; i++)
		yes += !(vote[i] == 0);
	return mine || 2 * yes > votes;
}

float nt_gpu_simulate_us(struct nt_bench_gpu *g, const struct nt_bench_call *call)
{
	nt_nccl_sim info = { .size = sizeof(info),
			     .magic = NT_NCCL_SIM_MAGIC,
			     .version = NT_NCCL_SIM_VERSION,
			     .estimatedTime = NT_NCCL_SIM_UNKNOWN };

	NCCL_CHECK(GroupStart());
	check_issued(issue(g, call));
	NCCL_CHECK(GroupSimulateEnd(&info));
	return info.estimatedTime;
}
