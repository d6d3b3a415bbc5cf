/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - this process's GPU, and one collective at a time
 *
 * Threads:  one.
 * Memory:   the bench owns everything; nt_gpu_open and nt_gpu_close are a pair.
 * Errors:   every failed CUDA or NCCL call ends the process with status 1 and a line that names
 *           the rank, the call and the reason; the launcher ends the other ranks.
 * Units:    bytes, microseconds.
 * Host:     CUDA 11.4, NCCL 2.18 and later; ncclGroupSimulateEnd and ncclCommSplit's sharing where
 *           NCCL has them.
 */
#ifndef NT_BENCH_GPU_H
#define NT_BENCH_GPU_H

#include "bench/figure.h"
#include "bench/host.h"
#include "bench/meet.h"
#include "bench/options.h"

/* The communicator of all ranks, a part of it, and of all ranks again, held to one arm each. */
#define NT_LANES (2 + NT_BENCH_ARMS)
#define NT_DEVICE_NAME 256 /* cudaDeviceProp's own */

struct nt_lane {
	char name[NT_BENCH_ARM_NAME];
	const struct nt_bench_arm *arm; /* NULL: NCCL's choice, or the plugin's */
	ncclComm_t comm;
	int count, me;
	int *ranks; /* of the members, in the world */
};

struct nt_gpu {
	const struct nt_bench_options *options;
	struct nt_meet meet;
	int device, nccl_version;
	char device_name[NT_DEVICE_NAME];
	cudaStream_t stream;
	cudaEvent_t before, after;
	struct nt_lane lane[NT_LANES];
	int lanes, generation; /* how often the lanes were opened */
	void *send, *receive;
	float *host; /* as large as the larger of them */
	size_t send_bytes, receive_bytes;
	double init_ms;
	double start_mib, init_mib,
		end_mib; /* device memory in use: before NCCL, after init, at the end */
};

void nt_gpu_open(struct nt_gpu *g, const struct nt_bench_options *o, const char *run);
void nt_gpu_close(struct nt_gpu *g); /* after nt_lanes_close */

size_t nt_gpu_room(size_t bytes); /* of a result in the receive buffer */
void nt_gpu_measure_memory(struct nt_gpu *g, double *used_mib);

/* A collective of a size on a lane, in a graph where one was captured. */
struct nt_call {
	int lane, coll;
	int burst; /* calls to a sample */
	int stride; /* it is played in every stride-th round */
	struct nt_counts counts;
	size_t at; /* of its result, in the receive buffer */
	cudaGraphExec_t graph;
};

void nt_gpu_start(struct nt_gpu *g, const struct nt_call *call); /* onto the stream */
void nt_gpu_group(struct nt_gpu *g, const struct nt_call *call, size_t calls); /* in one group */
void nt_gpu_try(struct nt_gpu *g, const struct nt_call *call); /* and let it fail */
void nt_gpu_wait(struct nt_gpu *g);
/* Rank 0's numbers on all ranks, by a Broadcast of their own; nothing may be on the stream. */
void nt_gpu_tell(struct nt_gpu *g, int32_t *numbers, size_t count);
void nt_gpu_capture(struct nt_gpu *g, struct nt_call *call, int times);
void nt_gpu_replay(struct nt_gpu *g, const struct nt_call *call);
void nt_gpu_mark_before(struct nt_gpu *g);
void nt_gpu_mark_after(struct nt_gpu *g);
float nt_gpu_between_us(struct nt_gpu *g); /* the marks; both must be over */

/* Run it on a poisoned buffer and count wrong elements. */
size_t nt_gpu_check(struct nt_gpu *g, const struct nt_call *call);
void nt_gpu_check_group(struct nt_gpu *g, const struct nt_call *call, size_t calls, size_t *wrong);

/* What this collective would take, by NCCL's own model (ncclGroupSimulateEnd). */
float nt_gpu_simulate_us(struct nt_gpu *g, const struct nt_call *call);

/* A failed call, with its place; ends the process. */
void nt_bench_die(int rank, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

#define CUDA_CHECK(rank, call) nt_check_cuda(rank, (call), #call, __FILE__, __LINE__)
#define NCCL_CHECK(rank, call) nt_check_nccl(rank, (call), #call, __FILE__, __LINE__)

void nt_check_cuda(int rank, cudaError_t rc, const char *call, const char *file, int line);
void nt_check_nccl(int rank, ncclResult_t rc, const char *call, const char *file, int line);
void *nt_bench_allocate(int rank, size_t count, size_t bytes); /* zeros */

#endif
