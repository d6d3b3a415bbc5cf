/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* kept-calls.h - own times of some of a communicator's calls, the same calls on all ranks
 *
 * Ranks end a collective together: who took the shortest came last. To compare ranks, a call has a
 * name that all of them know: its collective and turn. When the table is full, those calls stay
 * that a hash of the names selects, about half.
 *
 * Threads:  the holder of the communicator's laps writes (tuner/comm.h), any thread reads.
 * Memory:   part of the communicator.
 * Errors:   none: what does not fit together is not kept.
 * Units:    nanoseconds of the GPU's clock, of which only differences are used.
 */
#ifndef NT_KEPT_CALLS_H
#define NT_KEPT_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define NT_KEPT_CALLS 256

struct nt_kept_call {
	_Atomic uint64_t entry; /* name << 32 | nt_shm_time() of its own time */
	_Atomic uint32_t when_ms; /* its start, after the first measured one's */
};

struct nt_kept_calls {
	const void *handle; /* the newest measured call that began; NULL: none */
	uint64_t start_ns, first_ns;
	unsigned level; /* bits of the hash that select */
	_Atomic uint32_t count;
	struct nt_kept_call call[NT_KEPT_CALLS];
};

struct nt_kept {
	int coll;
	bool ring; /* algorithm Ring: its ends are stamped right */
	uint32_t turn; /* its first task's, modulo 2^27 */
	uint64_t ns, when_ms;
};

/* 0: ranks do not end such a call together, and it is not kept. */
uint32_t nt_kept_name(int coll, int algo, uint64_t turn);

/* A measured call begins on its first channel, ... */
static inline void nt_kept_begin(struct nt_kept_calls *kept, const void *handle, uint64_t start_ns)
{
	kept->handle = handle;
	kept->start_ns = start_ns;
}

/* ... and ends there. Of several ends the last counts. */
void nt_kept_end(struct nt_kept_calls *kept, const void *handle, uint32_t name, uint64_t stop_ns);

/* False: there is no such call. */
bool nt_kept_read(const struct nt_kept_calls *kept, unsigned index, struct nt_kept *out);

#endif
