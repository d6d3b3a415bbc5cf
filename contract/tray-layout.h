/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* tray-layout.h - what processes leave for nt-recordd, in the node's memory behind the agreement
 *
 * The node's memory is struct nt_shm, then struct nt_trays. A process claims trays by compare-and-
 * swap: one for its record and its calls, one for each of NCCL's dumps; nt-calibrate claims one for
 * its result. A tray keeps its text in two halves: the process writes the half that readers do not
 * use, then raises `written`, so a process that is killed meanwhile leaves the text before. A
 * process that finds no tray counts itself in `refused`. Readers (recordd/collect.h) are other
 * processes, trust nothing, and copy before they look.
 *
 * A call is begun when NCCL asks for its decision, and ended when the GPU reports its end, which it
 * does only for measured calls.
 *
 * Threads:  one writer for each member, named next to it; C11 atomics only.
 * Memory:   sparse: a process has memory for its calls, 48 KiB, and for the texts that it has
 *           written. Charged to the job.
 * Units:    milliseconds since 1970. Increase NT_SHM_LAYOUT with every change.
 */
#ifndef NT_TRAY_LAYOUT_H
#define NT_TRAY_LAYOUT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/shm-layout.h"

#define NT_TRAYS 4096
#define NT_TRAY_TEXT (1024 * 1024) /* one half; a record is at most NT_RANK_RECORD_MAX */
#define NT_TRAY_ABOUT 64
#define NT_TRAY_ALIGN 65536 /* the largest page */
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
	uint32_t task, pid;
	char node[64];
	uint32_t stall_s; /* setting stall */
	_Atomic uint32_t ended; /* helper thread: the process has ended by itself */
	_Atomic uint64_t seen_ms; /* helper thread: when it last looked */
	struct nt_calls_comm comm[NT_CALLS_COMMS];
};

enum nt_tray_kind {
	NT_TRAY_NONE = 0, /* nothing yet */
	NT_TRAY_RANK, /* a rank record (record/rank.h), and calls */
	NT_TRAY_CALIBRATION, /* what the step's tasks measured (launch/calibrated.h) */
	NT_TRAY_GRAPHS, /* NCCL's dumps; about: NT_TRAY_DUMP */
	NT_TRAY_DEVICES,
};

/* A dump's communicator: its id, the rank that wrote, ranks, nodes. */
#define NT_TRAY_DUMP "%016" PRIx64 ".%" PRIu32 ".%" PRIu32 ".%" PRIu32

struct nt_tray {
	_Atomic uint32_t kind; /* the claiming process, once the rest is set */
	uint32_t bytes[2]; /* of the texts, before `written` */
	_Atomic uint32_t written; /* texts so far; the newest is in half written & 1 */
	char about[NT_TRAY_ABOUT];
	struct nt_calls calls;
};

struct nt_trays {
	_Atomic uint64_t changes; /* any: trays and texts so far */
	_Atomic uint32_t refused; /* processes without a tray */
	_Atomic uint32_t owner[NT_TRAYS]; /* the process's id; claimed by compare-and-swap */
};

#define NT_TRAY_BYTES (NT_TRAY_ALIGN + 2 * NT_TRAY_TEXT) /* with its texts */

_Static_assert(sizeof(struct nt_calls_comm) == 176 &&
		       sizeof(struct nt_calls) == 88 + NT_CALLS_COMMS * 176 &&
		       sizeof(struct nt_tray) <= NT_TRAY_ALIGN &&
		       sizeof(struct nt_trays) <= NT_TRAY_ALIGN,
	       "no padding, the same everywhere");

/* Offsets in the node's memory: struct nt_trays, a tray, the halves of its text; its size. */
#define NT_TRAYS_AT ((sizeof(struct nt_shm) + NT_TRAY_ALIGN - 1) / NT_TRAY_ALIGN * NT_TRAY_ALIGN)
#define NT_TRAY_AT(tray) (NT_TRAYS_AT + NT_TRAY_ALIGN + (size_t)(tray)*NT_TRAY_BYTES)
#define NT_TRAY_TEXT_AT(tray, half) \
	(NT_TRAY_AT(tray) + NT_TRAY_ALIGN + (size_t)((half)&1) * NT_TRAY_TEXT)
#define NT_SHM_BYTES NT_TRAY_AT(NT_TRAYS)

/* Collective and size band (contract/coll.h) in one number. */
static inline uint16_t nt_calls_kind(unsigned coll, unsigned band)
{
	return (uint16_t)(coll << 8 | band);
}

#endif
