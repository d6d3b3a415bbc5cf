/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* open.h - open and close the two halves, profiler and tuner, of a communicator's rank
 *
 * NCCL initialises the profiler, then the tuner, on one thread (init.cc:1251, :1352 @v2.28.9-1).
 * Only the profiler gets the rank, and up to v4 only it gets the communicator's hash. So the
 * profiler's init leaves the object where the tuner's init of the same thread finds it.
 *
 * Threads:  NCCL's init and destroy threads.
 * Memory:   objects are never freed before the process ends (tuner/comm.h).
 * Errors:   open: NULL if there is no room: NCCL then runs that communicator without us.
 */
#ifndef NT_OPEN_H
#define NT_OPEN_H

#include "tuner/comm.h"

struct nt_comm_identity {
	uint64_t id; /* 0: not known */
	const char *name; /* NULL: none, or not known */
	int rank; /* -1: not known */
	size_t ranks, nodes;
	int api; /* version of the calling interface */
};

struct nt_comm *nt_comm_open_profiler(struct nt_process *process,
				      const struct nt_comm_identity *who);
struct nt_comm *nt_comm_open_tuner(struct nt_process *process, const struct nt_comm_identity *who);
void nt_comm_close_tuner(struct nt_comm *comm); /* NULL is fine, in both */
void nt_comm_close_profiler(struct nt_comm *comm);

/* At the end of the process, with its lock held: leave the slots of communicators that NCCL has not
 * finalized. */
void nt_comm_leave_all(struct nt_process *process);
/* Free all; no thread may use one any more. */
void nt_comm_free_all(struct nt_process *process);

#endif
