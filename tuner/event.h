/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - what NCCL's profiler tells: turns, which arm a collective really ran, the time until
 *           the next one, and its own
 *
 * Threads:  named at each function as in tuner/comm.h.
 * Memory:   no allocation, no lock but the mask's where a capture begins, no system call.
 * Errors:   none; what fits nothing is counted.
 */
#ifndef NT_TUNER_EVENT_H
#define NT_TUNER_EVENT_H

#include "tuner/comm.h"

struct nt_coll_event {
	const char *func, *datatype, *algo, *proto;
	uint64_t seq;
	size_t count;
	uint8_t channels; /* 0: not told */
	bool symmetric; /* ran by a symmetric kernel, which no decision is for */
};

/* Event thread. Handles are numbers for NCCL to keep; NULL: none. */
void *nt_event_coll(struct nt_comm *comm, const struct nt_coll_event *event);
void nt_event_group_stop(struct nt_process *process, void *group);

/* Decision thread: a call, which may be captured. */
void nt_event_call(struct nt_comm *comm, bool captured);

/* Launch thread; the Group event may come on CUDA's callback thread instead. */
void nt_event_launch(struct nt_comm *comm);
void *nt_event_group(struct nt_comm *comm);

/* The thread of the kernels' times (tuner/comm.h): a kernel of the collective with this handle
 * starts on a channel. Returns a handle where its end is wanted, else NULL. */
void *nt_event_kernel(struct nt_comm *comm, void *coll, unsigned channel, uint64_t start_ns);
/* ... and that kernel has ended. */
void nt_event_kernel_end(struct nt_process *process, void *kernel, uint64_t stop_ns);

#endif
