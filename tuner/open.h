/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* open.h - open and close the two halves, profiler and tuner, of a communicator's rank
 *
 * NCCL initialises the profiler, then the tuner, on one thread (init.cc:1251, :1352 @v2.28.9-1).
 * Only the profiler gets the rank and, up to v4, the communicator's hash: its init leaves the
 * object where the tuner's init of the same thread finds it.
 *
 * Threads:  NCCL's init and destroy threads.
 * Memory:   objects live as long as the process (tuner/comm.h).
 * Errors:   open: NULL if there is no room: NCCL then runs that communicator without us.
 */
#ifndef NT_OPEN_H
#define NT_OPEN_H

#include "tuner/comm.h"

struct nt_comm_identity {
	uint64_t id; /* 0: unknown */
	const char *name; /* NULL: none, or unknown */
	int rank; /* -1: unknown */
	size_t ranks, nodes;
	int api; /* of the interface that calls */
};

struct nt_comm *nt_comm_open_profiler(struct nt_process *process,
				      const struct nt_comm_identity *who);
struct nt_comm *nt_comm_open_tuner(struct nt_process *process, const struct nt_comm_identity *who);
void nt_comm_close_tuner(struct nt_comm *comm); /* NULL is fine, as in the other one */
void nt_comm_close_profiler(struct nt_comm *comm);

/* At the end of the process, with its lock held: leave the slots that NCCL's communicators still
 * have. */
void nt_comm_leave_all(struct nt_process *process);
/* No thread may use one any more. */
void nt_comm_free_all(struct nt_process *process);

#endif
