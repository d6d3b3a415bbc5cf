/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* wire_memory.h - the layout of the shared memory of a simulated job; only wire.c writes here
 *
 * Zero-filled memory is valid and empty. Members that are not atomic are written by one rank before
 * it arrives at a meeting, and read by others after it.
 */
#ifndef NT_FAKE_WIRE_MEMORY_H
#define NT_FAKE_WIRE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "tests/fake/wire.h"

struct wire_entry {
	_Atomic uint64_t tag; /* operation + 1 */
	uint32_t tasks;
	struct nt_wire_task task[NT_MAX_TASKS];
};

struct wire_meet {
	_Atomic uint32_t arrived;
	_Atomic uint32_t turn; /* futex: meetings so far */
	_Atomic uint32_t came[NT_MAX_RANKS]; /* of each rank, to name the missing ones */
};

struct wire_comm {
	_Atomic uint64_t id; /* lock */
	uint32_t life; /* lock */
	uint32_t left; /* lock: ranks that have finished with it */
	_Atomic uint32_t ranks;
	_Atomic bool aborted;
	struct wire_meet host;
	struct wire_meet gpu;
	uint64_t start_ns[NT_MAX_RANKS];
	struct nt_wire_result result[2];
	uint32_t cursor[NT_MAX_ROWS]; /* of the rank that resolves a meeting */
	struct wire_entry ring[NT_MAX_RANKS][NT_WIRE_RING];
};

struct wire_memory {
	_Atomic uint32_t ranks;
	_Atomic uint32_t attached;
	_Atomic uint32_t lock; /* of the communicators' places: its holder's ticket; 0: free */
	_Atomic uint32_t tickets;
	_Atomic uint32_t alarm; /* 1: being written, 2: alarm_text is there */
	_Atomic uint32_t mourners;
	_Atomic uint32_t reported; /* futex */
	_Atomic uint32_t busy[NT_WIRE_LOOKS];
	char alarm_text[400];
	uint64_t world;
	char node[NT_MAX_RANKS][64];
	char launch[NT_MAX_RANKS][NT_MAX_LAUNCH_TEXT];
	_Alignas(64) char report[NT_MAX_RANKS][NT_WIRE_REPORT_BYTES];
	struct wire_comm comm[NT_MAX_COMMS + 1];
};

/* A process's handle of a communicator's place. */
struct nt_wire_comm {
	struct nt_wire *wire;
	struct wire_comm *memory;
};

#endif
