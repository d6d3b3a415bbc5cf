/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - NCCL's profiler events: turns, the arm that a collective really used, the time until
 * the next one, and its duration
 *
 * Threads:  named at each function as in tuner/comm.h.
 * Memory:   no allocation, no system call, no lock except the mask's when a capture begins.
 * Errors:   none; events that match nothing are counted.
 */
#ifndef NT_TUNER_EVENT_H
#define NT_TUNER_EVENT_H

#include "tuner/comm.h"

struct nt_coll_event {
	const char *func, *datatype, *algo, *proto;
	uint64_t seq;
	size_t count;
	uint8_t channels; /* 0: not told */
	bool symmetric; /* by a symmetric kernel, which no decision has chosen */
};

/* Event thread. Returns the handle that NCCL keeps; NULL: none. */
void *nt_event_coll(struct nt_comm *comm, const struct nt_coll_event *event);
void nt_event_group_stop(struct nt_process *process, void *group);

/* Decision thread: a group begins, on this communicator or another one. */
void nt_event_group_call(struct nt_comm *comm, bool captured);
/* v4: a plan is launched. */
void *nt_event_group_v4(struct nt_comm *comm);
/* Decision thread: a send or receive, when it is called (v5) or launched (v4) */
void nt_event_p2p_call(struct nt_comm *comm, const struct nt_p2p_event *event);
/* Launch thread: a launched one's handle, for its kernels; NULL: none. */
void *nt_event_p2p(struct nt_comm *comm);

/* Decision thread: a call; captured: into a CUDA graph. */
void nt_event_call(struct nt_comm *comm, bool captured);

/* Launch thread. The Group event may instead come on CUDA's callback thread. */
void nt_event_launch(struct nt_comm *comm);
void *nt_event_group(struct nt_comm *comm);

/* Kernel event thread (tuner/comm.h): a kernel of this handle's collective starts on a channel.
 * Returns a handle if its end is wanted, else NULL. */
void *nt_event_kernel(struct nt_comm *comm, void *coll, unsigned channel, uint64_t start_ns);
/* ... it has ended. */
void nt_event_kernel_end(struct nt_process *process, void *kernel, uint64_t stop_ns);

#endif
