/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* bench-abi.c - bench/cuda-nccl.h matches NCCL's and CUDA's headers; the compiler checks most. */
#include "tests/lib/unit.h"
#include <cuda_runtime.h>
#include <nccl.h>
#include "bench/cuda-nccl.h"

/* A parameter, result or function that differs from the header does not compile. */
#define SAME(table, prefix, name)                                                      \
	_Static_assert(__builtin_types_compatible_p(__typeof__(((table *)NULL)->name), \
						    __typeof__(&prefix##name)),        \
		       #prefix #name);
#define NCCL_SAME(result, name, parameters) SAME(struct nt_nccl, nccl, name)
#define CUDA_SAME(result, name, parameters) SAME(struct nt_cuda, cuda, name)

NT_NCCL_NEEDED(NCCL_SAME)
NT_NCCL_OPTIONAL(NCCL_SAME)
NT_CUDA_NEEDED(CUDA_SAME)
NT_CUDA_OPTIONAL(CUDA_SAME)

#define VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)

VALUE(NT_NCCL_OK, ncclSuccess);
VALUE(NT_NCCL_INVALID_ARGUMENT, ncclInvalidArgument);
VALUE(NT_NCCL_INT32, ncclInt32);
VALUE(NT_NCCL_FLOAT32, ncclFloat32);
VALUE(NT_NCCL_SUM, ncclSum);
VALUE(NT_NCCL_ID_BYTES, sizeof(ncclUniqueId));
VALUE(NT_CUDA_OK, cudaSuccess);
VALUE(NT_CUDA_OLD_DRIVER, cudaErrorInsufficientDriver);
VALUE(NT_CUDA_TO_DEVICE, cudaMemcpyHostToDevice);
VALUE(NT_CUDA_TO_HOST, cudaMemcpyDeviceToHost);
VALUE(NT_CUDA_STREAM_NON_BLOCKING, cudaStreamNonBlocking);
VALUE(NT_CUDA_CAPTURE_THREAD_LOCAL, cudaStreamCaptureModeThreadLocal);
VALUE(NT_CUDA_NAME_BYTES, sizeof(((struct cudaDeviceProp *)NULL)->name));
VALUE(0, offsetof(struct cudaDeviceProp, name));
_Static_assert(NT_CUDA_PROPERTIES_BYTES >= 2 * sizeof(struct cudaDeviceProp), "room to grow");

/* The struct in abi.h, used without the header. */
struct sim {
	size_t size;
	unsigned int magic;
	unsigned int version;
	float estimatedTime;
};
VALUE(sizeof(struct sim), sizeof(ncclSimInfo_t));
VALUE(offsetof(struct sim, estimatedTime), offsetof(ncclSimInfo_t, estimatedTime));

static void the_request_is_theirs(void **state)
{
	const ncclSimInfo_t theirs = NCCL_SIM_INFO_INITIALIZER;

	assert_int_equal(theirs.magic, NT_NCCL_SIM_MAGIC);
	assert_true(theirs.version >= NT_NCCL_SIM_VERSION);
	assert_true(theirs.estimatedTime == NT_NCCL_SIM_UNKNOWN);
}

UNIT_TESTS(the_request_is_theirs);
