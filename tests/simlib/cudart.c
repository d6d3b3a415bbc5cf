/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* cudart.c - the simulated CUDA runtime: device memory is host memory, streams are threads */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/simlib/memory.h"
#include "tests/simlib/stream.h"

#define GPUS_MAX 8
#define TOTAL_BYTES ((size_t)80 << 30)
#define COPY_BYTES_PER_US 20000
#define SET_BYTES_PER_US 1000000
#define CUDA_VERSION 13000
#define PROCESSORS 132
#define NON_BLOCKING 1 /* cudaStreamNonBlocking */

static _Thread_local int current;

static int devices(void)
{
	const char *text = getenv("NT_SIM_GPUS");
	long n = text && *text ? strtol(text, NULL, 10) : 1;

	return n < 1 ? 1 : n > GPUS_MAX ? GPUS_MAX : (int)n;
}

nt_cuda_rc cudaGetDeviceCount(int *count)
{
	*count = devices();
	return NT_CUDA_OK;
}

nt_cuda_rc cudaSetDevice(int device)
{
	if (device < 0 || device >= devices())
		return NT_CUDA_INVALID_DEVICE;
	current = device;
	return NT_CUDA_OK;
}

nt_cuda_rc cudaGetDevice(int *device)
{
	*device = current;
	return NT_CUDA_OK;
}

/* The head of cudaDeviceProp, which is equal in all releases; the rest is not written. */
nt_cuda_rc cudaGetDeviceProperties(void *properties, int device)
{
	struct head {
		char name[256];
		char uuid[16], luid[8];
		unsigned mask;
		size_t total;
	} *p = properties;

	if (device < 0 || device >= devices())
		return NT_CUDA_INVALID_DEVICE;
	memset(p, 0, sizeof(*p));
	snprintf(p->name, sizeof(p->name), "simulated GPU");
	p->total = TOTAL_BYTES;
	return NT_CUDA_OK;
}

nt_cuda_rc cudaGetDeviceProperties_v2(void *properties, int device)
{
	return cudaGetDeviceProperties(properties, device);
}

nt_cuda_rc cudaDeviceGetAttribute(int *value, int attribute, int device)
{
	enum { PROCESSOR_COUNT = 16, MAJOR = 75, MINOR = 76 };

	if (device < 0 || device >= devices())
		return NT_CUDA_INVALID_DEVICE;
	*value = attribute == PROCESSOR_COUNT ? PROCESSORS : attribute == MAJOR ? 9 : 0;
	return NT_CUDA_OK;
}

nt_cuda_rc cudaDeviceGetPCIBusId(char *text, int bytes, int device)
{
	if (bytes < 13)
		return NT_CUDA_INVALID_VALUE;
	snprintf(text, (size_t)bytes, "0000:%02X:00.0", device + 1);
	return NT_CUDA_OK;
}

nt_cuda_rc cudaDeviceSynchronize(void)
{
	nt_sim_stream_wait_all();
	return NT_CUDA_OK;
}

nt_cuda_rc cudaDeviceGetStreamPriorityRange(int *lowest, int *highest)
{
	*lowest = *highest = 0;
	return NT_CUDA_OK;
}

nt_cuda_rc cudaRuntimeGetVersion(int *version)
{
	*version = CUDA_VERSION;
	return NT_CUDA_OK;
}

nt_cuda_rc cudaDriverGetVersion(int *version)
{
	return cudaRuntimeGetVersion(version);
}

nt_cuda_rc cudaGetLastError(void)
{
	return NT_CUDA_OK;
}

nt_cuda_rc cudaPeekAtLastError(void)
{
	return NT_CUDA_OK;
}

const char *cudaGetErrorString(nt_cuda_rc rc)
{
	switch (rc) {
	case NT_CUDA_OK: return "no error";
	case NT_CUDA_INVALID_VALUE: return "invalid argument";
	case NT_CUDA_NO_MEMORY: return "out of memory";
	case NT_CUDA_INVALID_DEVICE: return "invalid device ordinal";
	case NT_CUDA_NOT_READY: return "device not ready";
	case NT_CUDA_NOT_SUPPORTED: return "not simulated";
	default: return "unknown error";
	}
}

const char *cudaGetErrorName(nt_cuda_rc rc)
{
	return cudaGetErrorString(rc);
}

/* ---- memory */

nt_cuda_rc cudaMalloc(void **memory, size_t bytes)
{
	*memory = bytes ? nt_sim_memory_new(bytes) : NULL;
	return *memory || !bytes ? NT_CUDA_OK : NT_CUDA_NO_MEMORY;
}

nt_cuda_rc cudaFree(void *memory)
{
	nt_sim_stream_wait_all();
	nt_sim_memory_free(memory);
	return NT_CUDA_OK;
}

nt_cuda_rc cudaMallocHost(void **memory, size_t bytes)
{
	*memory = calloc(bytes ? bytes : 1, 1);
	return *memory ? NT_CUDA_OK : NT_CUDA_NO_MEMORY;
}

nt_cuda_rc cudaFreeHost(void *memory)
{
	free(memory);
	return NT_CUDA_OK;
}

nt_cuda_rc cudaMemGetInfo(size_t *left, size_t *total)
{
	size_t used = nt_sim_memory_used();

	*total = TOTAL_BYTES;
	*left = used < TOTAL_BYTES ? TOTAL_BYTES - used : 0;
	return NT_CUDA_OK;
}

struct transfer {
	void *to;
	const void *from; /* NULL: set to value */
	size_t bytes;
	int value;
};

static void transfer(void *arg, struct nt_sim_span *span)
{
	struct transfer *t = arg;

	if (t->from) {
		nt_sim_memory_expect(t->from, t->bytes, "cudaMemcpy");
		memmove(t->to, t->from, t->bytes);
	} else {
		memset(t->to, t->value, t->bytes);
	}
	nt_sim_memory_wrote(t->to, t->bytes);
	span->end_ns += 1000 * (1 + t->bytes / (t->from ? COPY_BYTES_PER_US : SET_BYTES_PER_US));
	free(t);
}

static nt_cuda_rc push(struct transfer t, nt_stream stream)
{
	struct transfer *copy = malloc(sizeof(*copy));

	if (!copy)
		return NT_CUDA_NO_MEMORY;
	*copy = t;
	nt_sim_push(stream, transfer, copy);
	return NT_CUDA_OK;
}

nt_cuda_rc cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, nt_stream stream)
{
	(void)kind;
	return bytes ? push((struct transfer){ .to = to, .from = from, .bytes = bytes }, stream)
		     : NT_CUDA_OK;
}

nt_cuda_rc cudaMemsetAsync(void *to, int value, size_t bytes, nt_stream stream)
{
	return push((struct transfer){ .to = to, .bytes = bytes, .value = value }, stream);
}

nt_cuda_rc cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
	nt_cuda_rc rc = cudaMemcpyAsync(to, from, bytes, kind, NULL);

	nt_sim_stream_wait(NULL);
	return rc;
}

nt_cuda_rc cudaMemset(void *to, int value, size_t bytes)
{
	nt_cuda_rc rc = cudaMemsetAsync(to, value, bytes, NULL);

	nt_sim_stream_wait(NULL);
	return rc;
}

/* ---- streams */

nt_cuda_rc cudaStreamCreateWithPriority(nt_stream *stream, unsigned flags, int priority)
{
	(void)priority;
	*stream = nt_sim_stream_create(flags & NON_BLOCKING);
	return *stream ? NT_CUDA_OK : NT_CUDA_NO_MEMORY;
}

nt_cuda_rc cudaStreamCreateWithFlags(nt_stream *stream, unsigned flags)
{
	return cudaStreamCreateWithPriority(stream, flags, 0);
}

nt_cuda_rc cudaStreamCreate(nt_stream *stream)
{
	return cudaStreamCreateWithPriority(stream, 0, 0);
}

nt_cuda_rc cudaStreamDestroy(nt_stream stream)
{
	nt_sim_stream_destroy(stream);
	return NT_CUDA_OK;
}

nt_cuda_rc cudaStreamSynchronize(nt_stream stream)
{
	nt_sim_stream_wait(stream);
	return NT_CUDA_OK;
}

nt_cuda_rc cudaStreamQuery(nt_stream stream)
{
	return nt_sim_stream_idle(stream) ? NT_CUDA_OK : NT_CUDA_NOT_READY;
}

nt_cuda_rc cudaStreamBeginCapture(nt_stream stream, int mode)
{
	(void)stream;
	(void)mode;
	return NT_CUDA_NOT_SUPPORTED;
}

struct callback {
	void (*function)(void *);
	void *arg;
};

static void call_back(void *arg, struct nt_sim_span *span)
{
	struct callback *c = arg;

	(void)span;
	c->function(c->arg);
	free(c);
}

nt_cuda_rc cudaLaunchHostFunc(nt_stream stream, void (*function)(void *), void *arg)
{
	struct callback *c = malloc(sizeof(*c));

	if (!c)
		return NT_CUDA_NO_MEMORY;
	*c = (struct callback){ function, arg };
	nt_sim_push(stream, call_back, c);
	return NT_CUDA_OK;
}

/* ---- events */

struct CUevent_st {
	unsigned records, done; /* events.lock */
	uint64_t at_ns; /* events.lock */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
} events = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER };

nt_cuda_rc cudaEventCreateWithFlags(nt_event *event, unsigned flags)
{
	(void)flags;
	*event = calloc(1, sizeof(**event));
	return *event ? NT_CUDA_OK : NT_CUDA_NO_MEMORY;
}

nt_cuda_rc cudaEventCreate(nt_event *event)
{
	return cudaEventCreateWithFlags(event, 0);
}

nt_cuda_rc cudaEventDestroy(nt_event event)
{
	cudaEventSynchronize(event);
	free(event);
	return NT_CUDA_OK;
}

static void reach(void *arg, struct nt_sim_span *span)
{
	nt_event e = arg;

	pthread_mutex_lock(&events.lock);
	e->done++;
	e->at_ns = span->ready_ns;
	pthread_cond_broadcast(&events.changed);
	pthread_mutex_unlock(&events.lock);
}

nt_cuda_rc cudaEventRecord(nt_event event, nt_stream stream)
{
	pthread_mutex_lock(&events.lock);
	event->records++;
	pthread_mutex_unlock(&events.lock);
	nt_sim_push(stream, reach, event);
	return NT_CUDA_OK;
}

static uint64_t wait_for(nt_event event)
{
	uint64_t at_ns;

	pthread_mutex_lock(&events.lock);
	while (event->done < event->records)
		pthread_cond_wait(&events.changed, &events.lock);
	at_ns = event->at_ns;
	pthread_mutex_unlock(&events.lock);
	return at_ns;
}

nt_cuda_rc cudaEventSynchronize(nt_event event)
{
	wait_for(event);
	return NT_CUDA_OK;
}

nt_cuda_rc cudaEventQuery(nt_event event)
{
	bool done;

	pthread_mutex_lock(&events.lock);
	done = event->done == event->records;
	pthread_mutex_unlock(&events.lock);
	return done ? NT_CUDA_OK : NT_CUDA_NOT_READY;
}

nt_cuda_rc cudaEventElapsedTime(float *ms, nt_event from, nt_event to)
{
	bool done;

	pthread_mutex_lock(&events.lock);
	done = from->done == from->records && to->done == to->records;
	*ms = (float)((double)(int64_t)(to->at_ns - from->at_ns) / 1e6);
	pthread_mutex_unlock(&events.lock);
	return done ? NT_CUDA_OK : NT_CUDA_NOT_READY;
}

static void wait_event(void *arg, struct nt_sim_span *span)
{
	uint64_t at_ns = wait_for(arg);

	if (at_ns > span->ready_ns)
		span->from_ns = span->end_ns = at_ns;
}

nt_cuda_rc cudaStreamWaitEvent(nt_stream stream, nt_event event, unsigned flags)
{
	(void)flags;
	nt_sim_push(stream, wait_event, event);
	return NT_CUDA_OK;
}
