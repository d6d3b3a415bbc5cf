/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* open.h - the two halves of a communicator's rank open and close
 *
 * NCCL initialises the profiler, then the tuner, on one thread (init.cc:1251, :1352 @v2.28.9-1);
 * only the profiler is told the rank, and up to v4 only it is told the communicator's hash. So the
 * profiler's init leaves the object where the tuner's init of the same thread finds it.
 *
 * Threads:  NCCL's init and destroy threads.
 * Memory:   objects are never freed before the process ends (tuner/comm.h).
 * Errors:   open: NULL where there is no room: NCCL runs that communicator as without us.
 */
#ifndef NT_OPEN_H
#define NT_OPEN_H

#include "tuner/comm.h"

struct nt_comm_identity {
	uint64_t id; /* 0: not told */
	const char *name; /* NULL: none, or not told */
	int rank; /* -1: not told */
	size_t ranks, nodes;
	int api; /* version of the interface that speaks */
};

struct nt_comm *nt_comm_open_profiler(struct nt_process *process,
				      const struct nt_comm_identity *who);
struct nt_comm *nt_comm_open_tuner(struct nt_process *process, const struct nt_comm_identity *who);
void nt_comm_close_tuner(struct nt_comm *comm); /* NULL is fine, in both */
void nt_comm_close_profiler(struct nt_comm *comm);

/* The process ends, its lock is held: the seats of what NCCL has not finalized are left. */
void nt_comm_leave_all(struct nt_process *process);
/* No thread is there that uses one: all are freed. */
void nt_comm_free_all(struct nt_process *process);

#endif
