/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* cuda-nccl.h - our own declarations of the NCCL and CUDA functions that the benchmark calls
 *
 * It builds without either, and loads both at run time (library.h). Where the real headers are
 * installed, tests/unit/bench/bench-abi.c compares every line with them. Only nt_nccl_sim has a
 * size that depends on the release, and it contains its size.
 *
 * Threads:  types only.
 * Host:     NCCL 2.18 to 2.32, libcudart 11.4 to 13. Enums without negative values are unsigned, as
 *           compilers make them.
 */
#ifndef NT_BENCH_CUDA_NCCL_H
#define NT_BENCH_CUDA_NCCL_H

#include <stddef.h>

typedef unsigned nt_nccl_result; /* ncclResult_t */
typedef unsigned nt_cuda_error; /* cudaError_t */
typedef struct ncclComm *nt_nccl_comm;
typedef struct CUstream_st *nt_stream;
typedef struct CUevent_st *nt_event;
typedef struct CUgraph_st *nt_graph;
typedef struct CUgraphExec_st *nt_graph_exec;

#define NT_NCCL_OK 0u
#define NT_NCCL_INVALID_ARGUMENT 4u
#define NT_NCCL_INT32 2u /* ncclDataType_t */
#define NT_NCCL_FLOAT32 7u
#define NT_NCCL_SUM 0u /* ncclRedOp_t */
#define NT_NCCL_MAX 2u
#define NT_NCCL_NO_COLOR (-1) /* NCCL_SPLIT_NOCOLOR */
#define NT_CUDA_OK 0u
#define NT_CUDA_OLD_DRIVER 35u /* cudaErrorInsufficientDriver */
#define NT_CUDA_TO_DEVICE 1u /* cudaMemcpyKind */
#define NT_CUDA_TO_HOST 2u
#define NT_CUDA_STREAM_NON_BLOCKING 1u
#define NT_CUDA_CAPTURE_THREAD_LOCAL 1u /* cudaStreamCaptureMode */

#define NT_NCCL_ID_BYTES 128
#ifdef NCCL_UNIQUE_ID_BYTES /* the comparison includes the real header */
typedef ncclUniqueId nt_nccl_id;
typedef ncclSimInfo_t nt_nccl_sim;
typedef ncclConfig_t nt_nccl_config;
#else
typedef struct nt_nccl_config nt_nccl_config; /* always NULL: the parent's configuration */
typedef struct {
	char internal[NT_NCCL_ID_BYTES];
} nt_nccl_id;

/* ncclSimInfo_t, the same in all releases since 2.22.3, the first one with it. */
typedef struct {
	size_t size;
	unsigned int magic;
	unsigned int version;
	float estimatedTime; /* microseconds */
} nt_nccl_sim;
#endif
#define NT_NCCL_SIM_MAGIC 0x74685283u
#define NT_NCCL_SIM_VERSION 22203u
#define NT_NCCL_SIM_UNKNOWN (-1.0f)

/* cudaDeviceProp grows from release to release; its first member is always the name. */
#define NT_CUDA_NAME_BYTES 256
#define NT_CUDA_PROPERTIES_BYTES 4096 /* 1032 are used in CUDA 12 */
struct cudaDeviceProp;

/* X(result, name without its prefix, parameters) */
/* clang-format off */
#define NT_NCCL_NEEDED(X) \
	X(nt_nccl_result, GetVersion, (int *)) \
	X(nt_nccl_result, GetUniqueId, (nt_nccl_id *)) \
	X(nt_nccl_result, CommInitRank, (nt_nccl_comm *, int, nt_nccl_id, int)) \
	X(nt_nccl_result, CommDestroy, (nt_nccl_comm)) \
	X(nt_nccl_result, CommAbort, (nt_nccl_comm)) \
	X(const char *, GetErrorString, (nt_nccl_result)) \
	X(const char *, GetLastError, (nt_nccl_comm)) \
	X(nt_nccl_result, GroupStart, (void)) \
	X(nt_nccl_result, GroupEnd, (void)) \
	X(nt_nccl_result, AllReduce, (const void *, void *, size_t, unsigned, unsigned, nt_nccl_comm, nt_stream)) \
	X(nt_nccl_result, AllGather, (const void *, void *, size_t, unsigned, nt_nccl_comm, nt_stream)) \
	X(nt_nccl_result, ReduceScatter, (const void *, void *, size_t, unsigned, unsigned, nt_nccl_comm, nt_stream)) \
	X(nt_nccl_result, Broadcast, (const void *, void *, size_t, unsigned, int, nt_nccl_comm, nt_stream)) \
	X(nt_nccl_result, Reduce, (const void *, void *, size_t, unsigned, unsigned, int, nt_nccl_comm, nt_stream))

#define NT_NCCL_OPTIONAL(X) \
	X(nt_nccl_result, Send, (const void *, size_t, unsigned, int, nt_nccl_comm, nt_stream)) \
	X(nt_nccl_result, Recv, (void *, size_t, unsigned, int, nt_nccl_comm, nt_stream)) \
	X(nt_nccl_result, CommSplit, (nt_nccl_comm, int, int, nt_nccl_comm *, nt_nccl_config *)) \
	X(nt_nccl_result, GroupSimulateEnd, (nt_nccl_sim *))

#define NT_CUDA_NEEDED(X) \
	X(nt_cuda_error, GetDeviceCount, (int *)) \
	X(nt_cuda_error, SetDevice, (int)) \
	X(nt_cuda_error, GetDeviceProperties, (struct cudaDeviceProp *, int)) \
	X(const char *, GetErrorString, (nt_cuda_error)) \
	X(nt_cuda_error, MemGetInfo, (size_t *, size_t *)) \
	X(nt_cuda_error, Malloc, (void **, size_t)) \
	X(nt_cuda_error, Free, (void *)) \
	X(nt_cuda_error, Memcpy, (void *, const void *, size_t, unsigned)) \
	X(nt_cuda_error, Memset, (void *, int, size_t)) \
	X(nt_cuda_error, MemsetAsync, (void *, int, size_t, nt_stream)) \
	X(nt_cuda_error, StreamCreateWithFlags, (nt_stream *, unsigned)) \
	X(nt_cuda_error, StreamDestroy, (nt_stream)) \
	X(nt_cuda_error, StreamSynchronize, (nt_stream)) \
	X(nt_cuda_error, EventCreate, (nt_event *)) \
	X(nt_cuda_error, EventDestroy, (nt_event)) \
	X(nt_cuda_error, EventRecord, (nt_event, nt_stream)) \
	X(nt_cuda_error, EventElapsedTime, (float *, nt_event, nt_event))

#define NT_CUDA_OPTIONAL(X) \
	X(nt_cuda_error, StreamBeginCapture, (nt_stream, unsigned)) \
	X(nt_cuda_error, StreamEndCapture, (nt_stream, nt_graph *)) \
	X(nt_cuda_error, GraphInstantiateWithFlags, (nt_graph_exec *, nt_graph, unsigned long long)) \
	X(nt_cuda_error, GraphDestroy, (nt_graph)) \
	X(nt_cuda_error, GraphLaunch, (nt_graph_exec, nt_stream)) \
	X(nt_cuda_error, GraphExecDestroy, (nt_graph_exec))
/* clang-format on */

#define NT_ABI_MEMBER(result, name, parameters) result(*name) parameters;

struct nt_nccl {
	NT_NCCL_NEEDED(NT_ABI_MEMBER)
	NT_NCCL_OPTIONAL(NT_ABI_MEMBER)
};

struct nt_cuda {
	NT_CUDA_NEEDED(NT_ABI_MEMBER)
	NT_CUDA_OPTIONAL(NT_ABI_MEMBER)
};

#endif
