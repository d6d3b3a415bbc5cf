/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - a rank's GPU: a stream that computes, one for each communicator, and what waits for what
 *
 * A stream's times are known as soon as those of what it waits for are: only a collective waits for
 * other ranks.
 *
 * Threads:  as vtime.h; push on the rank's fiber.
 * Memory:   operations of a step live until nt_gpu_sync() has come back.
 * Units:    nanoseconds of program time.
 */
#ifndef NT_PROGRAMS_GPU_H
#define NT_PROGRAMS_GPU_H

#include "lab/programs/world.h"

void nt_gpus_open(struct nt_world *w);
void nt_gpus_close(struct nt_world *w);

void nt_gpu_compute(struct nt_world *w, unsigned rank, uint64_t host_ns, uint64_t ns);
/* async: computing does not wait for it. */
void nt_gpu_call(struct nt_world *w, unsigned rank, uint64_t host_ns, unsigned key,
		 const struct nt_choice_made *choice, bool async);
void nt_gpu_wait(struct nt_world *w, unsigned rank, uint64_t host_ns, unsigned kind);
/* On the rank's fiber: until all streams are empty. */
void nt_gpu_finish(struct nt_world *w, unsigned rank);

#endif
