/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* api.h - our own declarations of the simulated parts of NCCL and of the CUDA runtime
 *
 * Threads:  as in NCCL and CUDA: one thread at a time uses a communicator.
 * Memory:   device memory is the process's own.
 * Errors:   NCCL's and CUDA's numbers. A rank that cannot go on ends its process (fake.h).
 * Host:     nccl.h@v2.28.9-1, cuda_runtime_api.h of CUDA 13.0.
 */
#ifndef NT_SIMLIB_API_H
#define NT_SIMLIB_API_H

#include <stddef.h>
#include <stdint.h>
#include "config.h"

typedef int nt_cuda_rc;
typedef int nt_nccl_rc;
typedef struct CUstream_st *nt_stream;
typedef struct CUevent_st *nt_event;
typedef struct ncclComm *nt_nccl_comm;

enum {
	NT_CUDA_OK = 0,
	NT_CUDA_INVALID_VALUE = 1,
	NT_CUDA_NO_MEMORY = 2,
	NT_CUDA_INVALID_DEVICE = 101,
	NT_CUDA_NOT_READY = 600,
	NT_CUDA_NOT_SUPPORTED = 801,
};
enum {
	NT_RC_OK = 0,
	NT_RC_SYSTEM = 2,
	NT_RC_INVALID_ARGUMENT = 4,
	NT_RC_INVALID_USAGE = 5,
};
enum nt_type {
	NT_INT8,
	NT_UINT8,
	NT_INT32,
	NT_UINT32,
	NT_INT64,
	NT_UINT64,
	NT_FLOAT16,
	NT_FLOAT32,
	NT_FLOAT64,
	NT_BFLOAT16,
	NT_FLOAT8E4M3,
	NT_FLOAT8E5M2,
	NT_TYPES,
};
enum nt_op { NT_SUM, NT_PROD, NT_MAX, NT_MIN, NT_AVG, NT_OPS };

struct nt_unique_id {
	char internal[128];
};

struct nt_sim_info { /* ncclSimInfo_t */
	size_t size;
	unsigned magic, version;
	float us;
};

NT_EXPORT nt_cuda_rc cudaGetDeviceCount(int *count);
NT_EXPORT nt_cuda_rc cudaSetDevice(int device);
NT_EXPORT nt_cuda_rc cudaGetDevice(int *device);
NT_EXPORT nt_cuda_rc cudaGetDeviceProperties(void *properties, int device);
NT_EXPORT nt_cuda_rc cudaGetDeviceProperties_v2(void *properties, int device);
NT_EXPORT nt_cuda_rc cudaDeviceGetAttribute(int *value, int attribute, int device);
NT_EXPORT nt_cuda_rc cudaDeviceGetPCIBusId(char *text, int bytes, int device);
NT_EXPORT nt_cuda_rc cudaDeviceSynchronize(void);
NT_EXPORT nt_cuda_rc cudaDeviceGetStreamPriorityRange(int *lowest, int *highest);
NT_EXPORT nt_cuda_rc cudaRuntimeGetVersion(int *version);
NT_EXPORT nt_cuda_rc cudaDriverGetVersion(int *version);
NT_EXPORT nt_cuda_rc cudaGetLastError(void);
NT_EXPORT nt_cuda_rc cudaPeekAtLastError(void);
NT_EXPORT const char *cudaGetErrorString(nt_cuda_rc rc);
NT_EXPORT const char *cudaGetErrorName(nt_cuda_rc rc);
NT_EXPORT nt_cuda_rc cudaMalloc(void **memory, size_t bytes);
NT_EXPORT nt_cuda_rc cudaFree(void *memory);
NT_EXPORT nt_cuda_rc cudaMallocHost(void **memory, size_t bytes);
NT_EXPORT nt_cuda_rc cudaFreeHost(void *memory);
NT_EXPORT nt_cuda_rc cudaMemGetInfo(size_t *left, size_t *total);
NT_EXPORT nt_cuda_rc cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
NT_EXPORT nt_cuda_rc cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind,
				     nt_stream stream);
NT_EXPORT nt_cuda_rc cudaMemset(void *to, int value, size_t bytes);
NT_EXPORT nt_cuda_rc cudaMemsetAsync(void *to, int value, size_t bytes, nt_stream stream);
NT_EXPORT nt_cuda_rc cudaStreamCreate(nt_stream *stream);
NT_EXPORT nt_cuda_rc cudaStreamCreateWithFlags(nt_stream *stream, unsigned flags);
NT_EXPORT nt_cuda_rc cudaStreamCreateWithPriority(nt_stream *stream, unsigned flags, int priority);
NT_EXPORT nt_cuda_rc cudaStreamDestroy(nt_stream stream);
NT_EXPORT nt_cuda_rc cudaStreamSynchronize(nt_stream stream);
NT_EXPORT nt_cuda_rc cudaStreamQuery(nt_stream stream);
NT_EXPORT nt_cuda_rc cudaStreamWaitEvent(nt_stream stream, nt_event event, unsigned flags);
NT_EXPORT nt_cuda_rc cudaLaunchHostFunc(nt_stream stream, void (*function)(void *), void *arg);
NT_EXPORT nt_cuda_rc cudaStreamBeginCapture(nt_stream stream, int mode);
NT_EXPORT nt_cuda_rc cudaEventCreate(nt_event *event);
NT_EXPORT nt_cuda_rc cudaEventCreateWithFlags(nt_event *event, unsigned flags);
NT_EXPORT nt_cuda_rc cudaEventDestroy(nt_event event);
NT_EXPORT nt_cuda_rc cudaEventRecord(nt_event event, nt_stream stream);
NT_EXPORT nt_cuda_rc cudaEventSynchronize(nt_event event);
NT_EXPORT nt_cuda_rc cudaEventQuery(nt_event event);
NT_EXPORT nt_cuda_rc cudaEventElapsedTime(float *ms, nt_event from, nt_event to);

NT_EXPORT nt_nccl_rc ncclGetVersion(int *version);
NT_EXPORT nt_nccl_rc ncclGetUniqueId(struct nt_unique_id *id);
NT_EXPORT nt_nccl_rc ncclCommInitRank(nt_nccl_comm *comm, int ranks, struct nt_unique_id id,
				      int rank);
NT_EXPORT nt_nccl_rc ncclCommInitRankConfig(nt_nccl_comm *comm, int ranks, struct nt_unique_id id,
					    int rank, const void *config);
NT_EXPORT nt_nccl_rc ncclCommSplit(nt_nccl_comm comm, int color, int key, nt_nccl_comm *made,
				   const void *config);
NT_EXPORT nt_nccl_rc ncclCommFinalize(nt_nccl_comm comm);
NT_EXPORT nt_nccl_rc ncclCommDestroy(nt_nccl_comm comm);
NT_EXPORT nt_nccl_rc ncclCommAbort(nt_nccl_comm comm);
NT_EXPORT nt_nccl_rc ncclCommCount(nt_nccl_comm comm, int *ranks);
NT_EXPORT nt_nccl_rc ncclCommUserRank(nt_nccl_comm comm, int *rank);
NT_EXPORT nt_nccl_rc ncclCommCuDevice(nt_nccl_comm comm, int *device);
NT_EXPORT nt_nccl_rc ncclCommGetAsyncError(nt_nccl_comm comm, nt_nccl_rc *rc);
NT_EXPORT const char *ncclGetErrorString(nt_nccl_rc rc);
NT_EXPORT const char *ncclGetLastError(nt_nccl_comm comm);
NT_EXPORT nt_nccl_rc ncclGroupStart(void);
NT_EXPORT nt_nccl_rc ncclGroupEnd(void);
NT_EXPORT nt_nccl_rc ncclGroupSimulateEnd(struct nt_sim_info *info);
NT_EXPORT nt_nccl_rc ncclMemAlloc(void **memory, size_t bytes);
NT_EXPORT nt_nccl_rc ncclMemFree(void *memory);
NT_EXPORT nt_nccl_rc ncclAllReduce(const void *send, void *receive, size_t count, int type, int op,
				   nt_nccl_comm comm, nt_stream stream);
NT_EXPORT nt_nccl_rc ncclReduceScatter(const void *send, void *receive, size_t count, int type,
				       int op, nt_nccl_comm comm, nt_stream stream);
NT_EXPORT nt_nccl_rc ncclReduce(const void *send, void *receive, size_t count, int type, int op,
				int root, nt_nccl_comm comm, nt_stream stream);
NT_EXPORT nt_nccl_rc ncclAllGather(const void *send, void *receive, size_t count, int type,
				   nt_nccl_comm comm, nt_stream stream);
NT_EXPORT nt_nccl_rc ncclBroadcast(const void *send, void *receive, size_t count, int type,
				   int root, nt_nccl_comm comm, nt_stream stream);
NT_EXPORT nt_nccl_rc ncclBcast(void *buffer, size_t count, int type, int root, nt_nccl_comm comm,
			       nt_stream stream);
NT_EXPORT nt_nccl_rc ncclAlltoAll(const void *send, void *receive, size_t count, int type,
				  nt_nccl_comm comm, nt_stream stream);
NT_EXPORT nt_nccl_rc ncclSend(const void *send, size_t count, int type, int peer, nt_nccl_comm comm,
			      nt_stream stream);
NT_EXPORT nt_nccl_rc ncclRecv(void *receive, size_t count, int type, int peer, nt_nccl_comm comm,
			      nt_stream stream);

#endif
