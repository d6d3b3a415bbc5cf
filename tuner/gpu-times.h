/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* gpu-times.h - may this process ask NCCL for GPU times?
 *
 * All communicators of a process have one event mask, so each new one is a new question: with the
 * mask on, each opens what tuner/proxy-pool.h describes at its first call. The ranks of the node do
 * so alike: as many pools are needed as this process has communicators without one, times the
 * node's ranks. That a pool is there shows in the first GPU time of its communicator.
 *
 * A no is for good: the events are never asked for again in this process. A communicator that is
 * opened later publishes it with its capabilities, so that all its ranks decide alike; in those
 * that have agreed, plans end for all ranks and no new ones begin, as when a CUDA graph is
 * captured. Mode policy goes on, since remembered arms need no times.
 *
 * The helper thread looks again until the mask asks for times: other users of /dev/shm may have
 * filled it. It counts the pools of this process alone, since other ranks may open theirs first.
 * Room that is taken between its look and NCCL's call ends the process; the reserve of
 * tuner/proxy-pool.h is against that.
 *
 * Threads:  admit and look with the process's lock held; NCCL's init and the helper thread.
 */
#ifndef NT_GPU_TIMES_H
#define NT_GPU_TIMES_H

#include "tuner/comm.h"

/* A communicator's profiler has been opened, and NCCL calls nothing of it yet. */
void nt_gpu_times_admit(struct nt_process *process);

/* In every pass of the helper thread */
void nt_gpu_times_look(struct nt_process *process);

/* There is no helper thread. */
void nt_gpu_times_refuse(struct nt_process *process);

/* What this process lacks for tuning: NT_IDLE_NO, NT_IDLE_ROOM or NT_IDLE_LIMITS */
enum nt_idle nt_gpu_times_lack(struct nt_process *process);

/* Proxy thread: a GPU time of the communicator has come. */
static inline void nt_gpu_times_came(struct nt_comm *comm)
{
	if (!atomic_load_explicit(&comm->laps.timed, memory_order_relaxed))
		atomic_store_explicit(&comm->laps.timed, true, memory_order_relaxed);
}

#endif
