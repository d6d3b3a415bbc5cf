/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - streams of the simulated GPU: work in order, each with its own clock
 *
 * Work also takes its simulated time times NT_SIM_REALTIME (1) in real time, or longer. The host's
 * clock is simulated too: it advances a little for each launch, and to a stream's clock if the host
 * waits for it.
 *
 * Threads:  any; each stream has a thread, which does its work.
 * Memory:   a stream is the caller's until nt_sim_stream_destroy(); work owns its argument.
 * Units:    nanoseconds.
 */
#ifndef NT_SIMLIB_STREAM_H
#define NT_SIMLIB_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include "tests/simlib/api.h"

struct nt_sim_span {
	uint64_t ready_ns; /* earliest begin, set by the caller */
	uint64_t from_ns; /* begin, initially ready_ns ... */
	uint64_t end_ns; /* ... and end */
	uint64_t wall_ns; /* real time at from_ns */
};

typedef void (*nt_sim_work)(void *arg, struct nt_sim_span *span);

NT_EXPORT void nt_sim_push(nt_stream stream, nt_sim_work work, void *arg);
NT_EXPORT uint64_t nt_sim_wall_ns(void);
NT_EXPORT uint64_t nt_sim_host_ns(void);
NT_EXPORT void nt_sim_host_spend(uint64_t ns);

/* NULL is CUDA's default stream, which others wait for unless they are independent. */
nt_stream nt_sim_stream_create(bool independent);
void nt_sim_stream_destroy(nt_stream stream); /* its work is done first */
void nt_sim_stream_wait(nt_stream stream);
bool nt_sim_stream_idle(nt_stream stream);
void nt_sim_stream_wait_all(void);

#endif
