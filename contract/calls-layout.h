/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* calls-layout.h - a file with the calls that each rank of a process has begun and ended, which
 * outlives a killed process
 *
 * calls.<task>.<pid> in the step's runtime directory, mapped and written by its process alone. A
 * reader (record/calls-record.h) trusts nothing in it. A call is begun when NCCL asks for its
 * decision, and ended when the GPU reports its end, which it does only for measured calls.
 *
 * Threads:  one writer for each word, named next to it; C11 atomics only. Readers are other
 *           processes, and see what was stored before the writer was killed.
 * Memory:   48 KiB a process.
 * Units:    milliseconds since 1970. Increase NT_CALLS_LAYOUT with every change.
 */
#ifndef NT_CALLS_LAYOUT_H
#define NT_CALLS_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

#define NT_CALLS_MAGIC 0x6c63746eu /* "ntcl" */
#define NT_CALLS_LAYOUT 1u
#define NT_CALLS_COMMS 256 /* communicators of a process */
#define NT_CALLS_LAST 64 /* newest calls that are kept; a power of two */

enum nt_calls_state {
	NT_CALLS_FREE = 0,
	NT_CALLS_OPEN,
	NT_CALLS_LEFT, /* NCCL has finalized the communicator */
};

struct nt_calls_comm {
	_Atomic uint32_t state; /* NCCL's init and finalize: enum nt_calls_state */
	int32_t rank; /* init, before state is NT_CALLS_OPEN; so are the next three */
	uint64_t id;
	uint32_t ranks, nodes;
	_Atomic uint64_t moved_ms; /* helper thread: when begun last grew */
	_Atomic uint64_t begun; /* deciding thread: calls */
	_Atomic uint64_t ended; /* kernel event thread: newest call that has ended; 0: none */
	/* deciding thread: nt_calls_kind() of call n, counted from 0, at n % NT_CALLS_LAST */
	_Atomic uint16_t last[NT_CALLS_LAST];
};

struct nt_calls {
	_Atomic uint32_t magic; /* stored last */
	uint32_t layout;
	uint32_t task, pid;
	char node[64];
	uint32_t stall_s; /* setting stall */
	_Atomic uint32_t ended; /* helper thread: the process has ended by itself */
	_Atomic uint64_t seen_ms; /* helper thread: when it last looked */
	struct nt_calls_comm comm[NT_CALLS_COMMS];
};

_Static_assert(sizeof(struct nt_calls_comm) == 176 &&
		       sizeof(struct nt_calls) == 96 + NT_CALLS_COMMS * 176,
	       "no padding, the same everywhere");

/* Collective and size band (contract/coll.h) in one word. */
static inline uint16_t nt_calls_kind(unsigned coll, unsigned band)
{
	return (uint16_t)(coll << 8 | band);
}

#endif
