/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* p2p.h - a communicator's sends, receives and all-to-alls: counts of all, times of some
 *
 * NCCL asks no tuner about them, and its profiler tells of them only while the event mask asks:
 * from v5 on by a P2pApi event when a task is called, before by a P2p event when it is launched. A
 * call here is what one group sends and receives on the communicator. No event from v5 on names
 * ncclAlltoAll or peers, so a call that sends to all other ranks and receives from all is an
 * AllToAll.
 *
 * Times come while GPU times are on, from the first kernel's start to the last one's end. One
 * thread of a block stamps the end; of several transfers at once that is the end of one of them.
 *
 * Threads:  calls: the thread that makes the communicator's calls (v4: launches them). Kernels: the
 *           holder of the communicator's laps (tuner/comm.h). Reading: any thread.
 * Memory:   part of the communicator; bounded. No allocation, lock or system call.
 * Errors:   none; what has no room is counted by the caller.
 * Units:    bytes; nanoseconds of the GPU's clock.
 * Host:     p2pTaskAppend() sets info->coll to Send or Recv before the event, for ncclAlltoAll,
 *           ncclGather and ncclScatter, too (src/enqueue.cc:2388@v2.28.9-1, :2625@v2.30.7-1); the
 *           P2p event (src/plugin/profiler.cc:434@v2.28.9-1, :275@v2.27.7-1). Thread 0 stamps
 *           (src/device/common.h:311@v2.28.9-1).
 */
#ifndef NT_P2P_H
#define NT_P2P_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/coll.h"

#define NT_P2P_KEYS 64 /* kinds and size bands */
#define NT_P2P_TIMES 32 /* newest times of each */
#define NT_P2P_CALLS 64 /* the newest, whose times may still come */
#define NT_P2P_THREADS 16 /* that make groups; more share a number */
#define NT_P2P_SERIALS (UINT32_C(1) << 22) /* numbers of calls in a handle */

/* Of a process: the groups that threads have begun */
struct nt_p2p_groups {
	_Atomic uint32_t begun[NT_P2P_THREADS];
	_Atomic bool seen; /* since it was last cleared */
};

struct nt_p2p_key {
	_Atomic uint32_t what; /* kind << 8 | band; 0: none */
	_Atomic uint32_t timed; /* times so far */
	_Atomic uint64_t calls, sent_bytes;
	_Atomic uint32_t time[NT_P2P_TIMES]; /* a ring, of nt_shm_time() */
};

/* What one group has sent and received so far */
struct nt_p2p_call {
	_Atomic uint32_t sends, receives;
	_Atomic uint64_t sent_bytes, received_bytes;
};

struct nt_p2p {
	/* Calls */
	uintptr_t thread; /* of the newest call */
	uint32_t group; /* its group, as counted for that thread */
	bool captured; /* into a CUDA graph */
	_Atomic uint32_t serial; /* its number, from 1; 0: none yet */
	struct nt_p2p_call call;
	_Atomic uint64_t ended[NT_P2P_CALLS]; /* serial << 32 | index of its key */
	struct nt_p2p_key key[NT_P2P_KEYS];
	/* Kernels: the newest call that began on the GPU */
	uint32_t began; /* its serial modulo NT_P2P_SERIALS; 0: none */
	uint64_t start_ns, stop_ns;
};

/* One task */
struct nt_p2p_event {
	const char *func, *datatype;
	size_t count;
	bool captured;
};

/* This thread begins a group. */
void nt_p2p_begin_group(struct nt_p2p_groups *groups);

/* Of the group of this thread. False: the key, or that of the call before, has no room. */
bool nt_p2p_note(struct nt_p2p *p2p, struct nt_p2p_groups *groups, uint32_t ranks,
		 const struct nt_p2p_event *event);

/* The call that this thread now launches, for its kernels; 0: it is not timed. */
uint32_t nt_p2p_launch(const struct nt_p2p *p2p);

/* A kernel of that call begins, and ends. */
void nt_p2p_kernel(struct nt_p2p *p2p, uint32_t serial, uint64_t start_ns);
void nt_p2p_kernel_end(struct nt_p2p *p2p, uint32_t serial, uint64_t stop_ns);

/* Any thread: calls so far */
static inline uint32_t nt_p2p_calls(const struct nt_p2p *p2p)
{
	/* A single number; nothing to pair with. */
	return atomic_load_explicit(&p2p->serial, memory_order_relaxed);
}

/* What is known of a key, the call under way included */
struct nt_p2p_seen {
	int kind; /* enum nt_p2p_kind */
	unsigned band;
	uint64_t calls, sent_bytes;
	unsigned times;
	uint64_t time_ns[NT_P2P_TIMES]; /* in no order */
};

/* Returns the number of keys. */
unsigned nt_p2p_read(const struct nt_p2p *p2p, uint32_t ranks, struct nt_p2p_seen out[NT_P2P_KEYS]);

#endif
