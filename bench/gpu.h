/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - this process's GPU, and one collective at a time
 *
 * Threads:  one.
 * Memory:   the bench owns everything; nt_gpu_open and nt_gpu_close are a pair.
 * Errors:   a failed CUDA or NCCL call ends the process with status 1 and a line that names the
 *           rank, the call and the reason; the launcher ends the other ranks.
 * Units:    bytes, microseconds.
 * Host:     what library.h has loaded.
 */
#ifndef NT_BENCH_GPU_H
#define NT_BENCH_GPU_H

#include "bench/cuda-nccl.h"
#include "bench/figure.h"
#include "bench/library.h"
#include "bench/meet.h"
#include "bench/options.h"

/* A communicator of all ranks, or of some of them. */
#define NT_LANES 2

struct nt_lane {
	const char *name;
	nt_nccl_comm comm;
	int count, me;
	int *ranks; /* ranks of the members in the world */
};

struct nt_bench_gpu {
	const struct nt_bench_options *options;
	struct nt_meet meet;
	const struct nt_library *nccl;
	int device;
	char device_name[NT_CUDA_NAME_BYTES];
	nt_stream stream;
	nt_event before, after;
	struct nt_lane lane[NT_LANES];
	int lanes, generation; /* how often the communicators were opened */
	void *send, *receive;
	float *host; /* as large as the larger buffer */
	size_t send_bytes, receive_bytes;
	double init_ms;
	double start_mib, init_mib,
		end_mib; /* device memory in use: before NCCL, after init, at the end */
};

void nt_gpu_open(struct nt_bench_gpu *g, const struct nt_bench_options *o,
		 const struct nt_library *nccl, const char *run);
void nt_gpu_close(struct nt_bench_gpu *g); /* after nt_lanes_close */

size_t nt_gpu_aligned(size_t bytes); /* that a result takes in the receive buffer */
void nt_gpu_measure_memory(double *used_mib);

/* A collective of one size on one communicator, perhaps captured in a graph. */
struct nt_bench_call {
	int lane, coll;
	int burst; /* calls in each sample */
	int stride; /* it runs in every stride-th iteration */
	struct nt_counts counts;
	size_t at; /* offset of its result in the receive buffer */
	nt_graph_exec graph;
};

void nt_gpu_start(struct nt_bench_gpu *g, const struct nt_bench_call *call); /* onto the stream */
void nt_gpu_group(struct nt_bench_gpu *g, const struct nt_bench_call *call,
		  size_t calls); /* all in one group */
void nt_gpu_try(struct nt_bench_gpu *g, const struct nt_bench_call *call); /* ignores failures */
void nt_gpu_wait(struct nt_bench_gpu *g);
/* Broadcasts rank 0's numbers to all ranks. The stream must be empty. */
void nt_gpu_tell(struct nt_bench_gpu *g, int32_t *numbers, size_t count);
/* On all ranks: replaces each value by the largest of all ranks. The stream must be empty. */
void nt_gpu_slowest(struct nt_bench_gpu *g, float *values, size_t count);
void nt_gpu_capture(struct nt_bench_gpu *g, struct nt_bench_call *call, int times);
void nt_gpu_replay(struct nt_bench_gpu *g, const struct nt_bench_call *call);
void nt_gpu_mark_before(struct nt_bench_gpu *g);
void nt_gpu_mark_after(struct nt_bench_gpu *g);
float nt_gpu_between_us(struct nt_bench_gpu *g); /* after both marks have completed */

/* Fill the result with poison, run the call, and count wrong elements. */
size_t nt_gpu_check(struct nt_bench_gpu *g, const struct nt_bench_call *call);

/* For a call that runs anyway: poison a piece of its result before it, and check it afterwards. */
void nt_gpu_poison(struct nt_bench_gpu *g, const struct nt_bench_call *call, struct nt_piece piece);
size_t nt_gpu_wrong(struct nt_bench_gpu *g, const struct nt_bench_call *call,
		    struct nt_piece piece);

/* On all ranks: is it true on any of them? The stream must be empty. */
bool nt_gpu_any(struct nt_bench_gpu *g, bool mine);
void nt_gpu_check_group(struct nt_bench_gpu *g, const struct nt_bench_call *call, size_t calls,
			size_t *wrong);

/* NCCL's own prediction for this call (ncclGroupSimulateEnd). */
float nt_gpu_simulate_us(struct nt_bench_gpu *g, const struct nt_bench_call *call);

extern int nt_bench_rank; /* for messages; set by nt_gpu_open() */

/* End the process with a line that names this rank. */
void nt_bench_die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Write the call without its prefix, cuda or nccl. If it fails, the process ends with its name and
 * source line. */
#define CUDA_CHECK(call) nt_check_cuda(nt_cuda.call, "cuda" #call, __FILE__, __LINE__)
#define NCCL_CHECK(call) nt_check_nccl(nt_nccl.call, "nccl" #call, __FILE__, __LINE__)

void nt_check_cuda(nt_cuda_error rc, const char *call, const char *file, int line);
void nt_check_nccl(nt_nccl_result rc, const char *call, const char *file, int line);
void *nt_bench_allocate(size_t count, size_t bytes); /* zeros */

#endif
