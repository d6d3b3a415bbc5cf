/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* board.h - the layout of a node's board: the shared memory of all ranks of one step on one node
 *
 * A zero-filled board is a valid empty one. Each word has one writer, named beside it, except
 * where a claim by compare-and-swap says otherwise. "rank" is the member's own decision thread,
 * "speaker" the one process of the node that talks to other nodes (pmix-sync/speaker.h).
 *
 * The turn of a collective function on a communicator is NCCL's own sequence number of the next
 * task of that function: one more than the seqNumber of the last Coll event
 * (ncclProfilerStartTaskEvents, src/plugin/profiler.cc:427@v2.28.9-1: counted per communicator
 * and function on every rank, with or without a profiler, graph-captured plans excepted). All
 * ranks issue a communicator's collectives in one order and all decisions of a group precede the
 * group's Coll events, so a decision sees the same turn on every rank, whatever probes,
 * simulated groups or failed calls one rank alone may have made in between.
 *
 * Threads:  C11 atomics only; a rank that dies between two stores leaves nothing that others
 *           wait for.
 * Memory:   one file, mapped shared, with holes: of a communicator's keys the first sixteen have
 *           memory, and as many as it says beside (16 MiB for a node, and 28 KiB for sixteen keys
 *           more). NT_BOARD_LAYOUT changes with every change of a size or a meaning here.
 * Units:    samples as nt_board_time() has them; turns in tasks; 0 means "nothing yet" unless said
 *           otherwise.
 */
#ifndef NT_BOARD_LAYOUT_H
#define NT_BOARD_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>
#include "contract/coll.h"
#include "contract/key.h"

#define NT_BOARD_MAGIC 0x6474626eu /* "nbtd" */
#define NT_BOARD_LAYOUT 6u

#define NT_BOARD_COMMS 128 /* communicators alive at once on a node; more stay on AUTO */
#define NT_BOARD_MEMBERS 64 /* ranks of one communicator on one node */
#define NT_BOARD_KEYS 256 /* keys of one communicator; more stay on AUTO */
#define NT_BOARD_KEYS_AT_ONCE 16 /* by so many keys a communicator's memory grows */
#define NT_BOARD_RUNS 32 /* explorations at once on a node */
#define NT_PLAN_PAYLOAD 104 /* bytes of a plan that only tuner/ reads */

#define NT_NEVER UINT64_MAX /* a turn that never comes */
#define NT_TURN_UNKNOWN 0u /* turns are published plus one, so that 0 means "not known" */

/* What every rank of a communicator must have in common (all but rank and task). Packed by hand:
 * 48 bytes. */
struct nt_card {
	uint64_t fingerprint; /* of the node's hardware */
	uint32_t build; /* of the plugin */
	uint32_t policy; /* nt_policy_hash */
	uint32_t warm; /* nt_warm_hash of the remembered arms in use; 0: none are */
	uint32_t nccl; /* NCCL's version number (22809), 0 unknown */
	uint32_t api; /* tuner version * 256 + profiler version */
	uint32_t active; /* 1: may be tuned; 0: this rank takes no plan, reason in idle */
	uint32_t idle; /* enum nt_idle */
	int32_t rank; /* in the communicator */
	uint32_t task; /* in the step (SLURM_PROCID) */
	uint32_t pad;
};

/* Why a rank takes no plan. */
enum nt_idle {
	NT_IDLE_NO = 0,
	NT_IDLE_MODE, /* the mode tries nothing */
	NT_IDLE_API, /* NCCL too old for GPU times and turns */
	NT_IDLE_HALF, /* only one of tuner and profiler was loaded */
	NT_IDLE_BOARD, /* no board, or no room on it */
};

/* Flags a rank raises for good. */
#define NT_MEMBER_GRAPHS 1u /* a CUDA graph capture was, or may have been, seen */
#define NT_MEMBER_ASYNC 2u /* a Coll event came from another thread than the decision */
/* a rank was turned away: the id is in use twice. On the first seat, by any rank */
#define NT_MEMBER_ODD 8u
/* decisions are asked for to choose between symmetric kernels and others */
#define NT_MEMBER_PROBES 4u
/* somebody else has switched this rank's events off (NCCL's RAS) */
#define NT_MEMBER_MASKED 16u

enum nt_member_state { NT_MEMBER_FREE = 0, NT_MEMBER_JOINING, NT_MEMBER_JOINED, NT_MEMBER_LEFT };

struct nt_board_member {
	_Atomic uint32_t state; /* enum nt_member_state; claimed by compare-and-swap, then rank */
	_Atomic uint32_t flags; /* rank: NT_MEMBER_* */
	_Atomic uint32_t pid; /* rank */
	uint32_t pad;
	struct nt_card card; /* rank, before state becomes JOINED */
};

/* A plan: from turn `at` on follow the payload, until turn `until`; afterwards the committed plan
 * before it, AUTO if there is none. Written by the speaker while no rank can read it (see
 * nt_board_key.plan). */
struct nt_plan {
	uint64_t at;
	uint64_t until; /* NT_NEVER: for good */
	uint32_t epoch;
	uint32_t stride; /* turns of a cell, at least 1 */
	/* positions of a cell, at least 1; more than 1: the calls in it are counted (turn.h) */
	uint32_t cell;
	uint32_t run; /* where samples go, this node's index; NT_NO_RUN where none are wanted */
	uint32_t payload_bytes;
	uint32_t pad;
	uint8_t payload[NT_PLAN_PAYLOAD];
};

#define NT_NO_RUN UINT32_MAX

enum nt_key_state {
	NT_KEY_IDLE = 0, /* counted only */
	NT_KEY_OPEN, /* ranks count turns: events are wanted */
	NT_KEY_COMMITTED, /* the newest plan for good stays: ranks look here no more */
	NT_KEY_CLOSED, /* AUTO stays; result in `result` */
	NT_KEY_RECHECK, /* committed, and open for a recheck: ranks count turns once more */
};

struct nt_board_key {
	/* nt_key_id(), 0 free; claimed by compare-and-swap by the first rank */
	_Atomic uint64_t id;
	_Atomic uint32_t described; /* the claiming rank: auto_arm and cost_us are there */
	uint32_t auto_arm; /* NCCL's own pick there and then */
	float cost_us[NT_PAIRS]; /* NCCL's predicted costs there and then; < 0: not legal */
	/* any member: on how many a pair without a cap ran; 0 not seen */
	_Atomic uint8_t channels[NT_PAIRS];
	_Atomic uint32_t state; /* speaker: enum nt_key_state */
	/* rank: decisions; at each while OPEN, else now and then */
	_Atomic uint64_t calls[NT_BOARD_MEMBERS];
	/* rank: turn + 1 of its newest decision; 0 unknown */
	_Atomic uint64_t turn[NT_BOARD_MEMBERS];
	/* rank: epoch of the newest plan whose `at` it has reached */
	_Atomic uint32_t passed[NT_BOARD_MEMBERS];
	/* the rank on the first seat, since it has opened the key: tasks of the key's function and
	 * band, and the most turns from one call to the next */
	_Atomic uint64_t tasks;
	_Atomic uint32_t gap;
	/* speaker: turn + 1 from which a rank must wait for the outcome; 0: none */
	_Atomic uint64_t hold_at;
	/* speaker: of the newest committed plan, which is plan[epoch & 1] */
	_Atomic uint32_t epoch;
	uint32_t result_bytes; /* speaker, before state becomes CLOSED */
	/* speaker; plan[e & 1] is written only when every member passed e - 1 */
	struct nt_plan plan[2];
	uint8_t result[NT_PLAN_PAYLOAD];
};

enum nt_comm_state {
	NT_COMM_JOINING = 0,
	NT_COMM_AGREED, /* all cards seen and equal */
	NT_COMM_REJECTED, /* AUTO for good; why in `why` */
};

struct nt_board_comm {
	/* NCCL's commHash, 0 free; claimed by compare-and-swap; speaker: freed */
	_Atomic uint64_t id;
	_Atomic uint32_t ranks; /* any member (all write the same) */
	_Atomic uint32_t nodes; /* any member (all write the same) */
	_Atomic uint32_t state; /* speaker: enum nt_comm_state */
	char why[120]; /* speaker, before state becomes REJECTED */
	struct nt_board_member member[NT_BOARD_MEMBERS];
	/* keys with memory beside the first NT_BOARD_KEYS_AT_ONCE; raised by compare-and-swap */
	_Atomic uint32_t more_keys;
	struct nt_board_key key[NT_BOARD_KEYS]; /* claimed from the first on */
};

#define NT_GATE_SHUT 0x80000000u

#define NT_TIME_COARSE 0x80000000u /* a time's unit is 1,024 ns, not 1 ns */

/* A time in one word, the longer the larger: nanoseconds, from 2.1 s on in units of 1,024 ns, at
 * most 36 minutes. 0: no time, or one that is longer. */
static inline uint32_t nt_board_time(uint64_t ns)
{
	if (ns < NT_TIME_COARSE)
		return (uint32_t)ns;
	return ns >> 10 < NT_TIME_COARSE ? NT_TIME_COARSE | (uint32_t)(ns >> 10) : 0;
}

static inline uint64_t nt_board_time_ns(uint32_t time)
{
	return time < NT_TIME_COARSE ? time : (uint64_t)(time - NT_TIME_COARSE) << 10;
}

/* Samples of one exploration on one node. */
struct nt_board_run {
	_Atomic uint32_t owner; /* speaker: 1 + comm * NT_BOARD_KEYS + key; 0 free */
	_Atomic uint32_t issued[NT_BOARD_MEMBERS]; /* rank: collectives started in the window */
	/* proxy thread: of those, measured or given up */
	_Atomic uint32_t done[NT_BOARD_MEMBERS];
	/* proxy thread: GPU time to the next collective, nt_board_time(); 0 none */
	_Atomic uint32_t sample[NT_BOARD_MEMBERS][NT_RUN_POSITIONS];
	/* ... to the next call of the key */
	_Atomic uint32_t period[NT_BOARD_MEMBERS][NT_RUN_POSITIONS];
	/* ... to its own end, by the channel that began first */
	_Atomic uint32_t own[NT_BOARD_MEMBERS][NT_RUN_POSITIONS];
};

struct nt_board {
	_Atomic uint32_t magic;
	_Atomic uint32_t speaker_pid; /* claimed by compare-and-swap */
	_Atomic uint64_t beat; /* speaker: steps of its loop, so that a reader sees it live */
	/* ranks that are taking a seat, or NT_GATE_SHUT: the speaker frees a slot */
	_Atomic uint32_t gate;
	struct nt_board_comm comm[NT_BOARD_COMMS];
	struct nt_board_run run[NT_BOARD_RUNS];
};

#endif
