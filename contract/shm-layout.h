/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* shm-layout.h - layout of the memory that all ranks of a step share on one node
 *
 * Zero-filled memory is a valid empty state. Each member has one writer, named next to it, except
 * where it is claimed by compare-and-swap. "rank" is the participant's decision thread; "leader" is
 * the one process of the node that talks to other nodes (pmix-sync/node-leader.h).
 *
 * A turn of a collective function on a communicator is NCCL's sequence number of that function's
 * next task: the seqNumber of the last Coll event plus one (ncclProfilerStartTaskEvents,
 * src/plugin/profiler.cc:427@v2.28.9-1: counted per communicator and function on every rank, with
 * or without a profiler, except in graph-captured plans). All ranks issue a communicator's
 * collectives in the same order, and all decisions of a group precede the group's Coll events, so
 * every rank decides at the same turn, whatever probes, simulated groups or failed calls a single
 * rank made in between.
 *
 * Threads:  C11 atomics only. If a rank dies between two stores, nobody waits for it.
 * Memory:   mapped shared, sparse; tray-layout.h follows it. Only the first 16 keys of a
 *           communicator have memory at first; more is added as needed (16 MiB per node, 24 MiB
 *           with pages of 64 KiB, and 28 KiB for each 16 more keys).
 *           Increase NT_SHM_LAYOUT with every change of a size or a meaning here.
 * Units:    samples as encoded by nt_shm_time(); turns in tasks; 0 means "nothing yet" unless
 *           stated otherwise.
 */
#ifndef NT_SHM_LAYOUT_H
#define NT_SHM_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>
#include "contract/coll.h"
#include "contract/key-id.h"
#include "contract/names.h"
#include "contract/reason.h"

#define NT_SHM_MAGIC 0x6474626eu /* "nbtd" */
#define NT_SHM_LAYOUT 10u

#define NT_SHM_COMMS 128 /* live communicators on a node; more keep NCCL's choice */
#define NT_SHM_SLOTS 64 /* ranks of one communicator on one node */
#define NT_SHM_KEYS 256 /* keys of one communicator; more keep NCCL's choice */
#define NT_SHM_KEYS_AT_ONCE 16 /* a communicator's memory grows by this many keys */
#define NT_SHM_RUNS 32 /* concurrent explorations on a node */
#define NT_PLAN_PAYLOAD 104 /* opaque part of a plan, read by tuner/ only */

#define NT_NEVER UINT64_MAX /* a turn that is never reached */
#define NT_TURN_UNKNOWN 0u /* turns are published plus one; 0: not known */

/* What all ranks of a communicator must have in common, except rank, task and risks. 48 bytes, no
 * padding. */
struct nt_capabilities {
	uint64_t fingerprint; /* of the node's hardware */
	uint32_t build; /* of the plugin */
	uint32_t policy; /* nt_policy_hash */
	uint32_t warm; /* nt_warm_hash of the remembered arms in use; 0: none */
	uint32_t nccl; /* NCCL's version number (22809), 0 unknown */
	uint32_t api; /* tuner version * 256 + profiler version */
	uint32_t active; /* 1: may be tuned; 0: takes no plan, see idle */
	uint32_t idle; /* enum nt_idle */
	int32_t rank; /* in the communicator */
	uint32_t task; /* in the step (SLURM_PROCID) */
	uint32_t risks; /* NT_RISK_*; combined over all ranks */
};

/* Why LL128 may give wrong results (docs/decisions/arms.md). */
#define NT_RISK_NET 1u /* NCCL uses an external network plugin */
#define NT_RISK_C2C 2u /* GPUs are connected to their CPU by NVLink-C2C */

/* Why a rank takes no plans. */
enum nt_idle {
	NT_IDLE_NO = 0,
	NT_IDLE_MODE, /* the mode does not try arms */
	NT_IDLE_API, /* NCCL is too old for GPU times and turns */
	NT_IDLE_HALF, /* only one of tuner and profiler was loaded */
	NT_IDLE_SHM, /* no shared memory, or it is full */
	NT_IDLE_ROOM, /* /dev/shm has no room for what GPU times take there */
	NT_IDLE_LIMITS, /* the process may not have what GPU times or our helper thread take */
	NT_IDLES,
};

/* Flags of a rank. Once set they stay set. */
#define NT_PARTICIPANT_GRAPHS 1u /* a CUDA graph capture was, or may have been, seen */
#define NT_PARTICIPANT_ASYNC 2u /* a Coll event came from another thread than the decision */
/* a rank was refused because the id is in use twice; set on slot 0, by any rank */
#define NT_PARTICIPANT_ODD 8u
/* NCCL also asks in order to choose between symmetric kernels and others */
#define NT_PARTICIPANT_PROBES 4u
/* another party (NCCL's RAS) switched off this rank's events */
#define NT_PARTICIPANT_MASKED 16u
/* this rank may have no GPU times any more: NT_IDLE_ROOM, NT_IDLE_LIMITS */
#define NT_PARTICIPANT_ROOM 32u
#define NT_PARTICIPANT_LIMITS 64u

enum nt_participant_state {
	NT_PARTICIPANT_FREE = 0,
	NT_PARTICIPANT_JOINING,
	NT_PARTICIPANT_JOINED,
	NT_PARTICIPANT_LEFT
};

struct nt_shm_slot {
	_Atomic uint32_t
		state; /* enum nt_participant_state; claimed by compare-and-swap, then rank */
	_Atomic uint32_t flags; /* rank: NT_PARTICIPANT_* */
	_Atomic uint32_t pid; /* rank */
	uint32_t pad;
	struct nt_capabilities caps; /* rank, before state becomes JOINED */
};

/* A plan: follow the payload from turn `at` until `until`; then the committed plan before it, or
 * the baseline. Written by the leader while no rank can read it (see nt_shm_key.plan). */
struct nt_plan {
	uint64_t at;
	uint64_t until; /* NT_NEVER: for good */
	uint32_t epoch;
	uint32_t stride; /* turns per cell, at least 1 */
	/* positions per cell, at least 1; if more than 1, calls within it are counted
	 * (pmix-sync/turn.h) */
	uint32_t cell;
	uint32_t run; /* index of this node's sample area; NT_NO_RUN: not measured */
	uint32_t payload_bytes;
	uint32_t pad;
	uint8_t payload[NT_PLAN_PAYLOAD];
};

#define NT_NO_RUN UINT32_MAX

enum nt_key_state {
	NT_KEY_IDLE = 0, /* counted only */
	NT_KEY_OPEN, /* ranks count turns and need events */
	NT_KEY_COMMITTED, /* committed: ranks no longer read shared memory */
	NT_KEY_CLOSED, /* the baseline stays; result in `result` */
	NT_KEY_RECHECK, /* committed and open for a recheck: ranks count turns again */
};

struct nt_shm_key {
	/* nt_key_id(); 0: free; claimed by the first rank with compare-and-swap */
	_Atomic uint64_t id;
	_Atomic uint32_t described; /* claiming rank: baseline_arm and cost_us are valid */
	uint32_t baseline_arm; /* NCCL's choice on that rank at that time */
	/* NCCL's predicted costs on that rank at that time; < 0: not legal */
	float cost_us[NT_PAIRS];
	/* any rank: channels that the pair used without a cap; 0: not seen */
	_Atomic uint8_t channels[NT_PAIRS];
	_Atomic uint32_t state; /* node leader: enum nt_key_state */
	/* rank: decisions so far; updated at each one while OPEN, otherwise periodically */
	_Atomic uint64_t calls[NT_SHM_SLOTS];
	/* rank: turn of its newest decision, plus one; 0: unknown */
	_Atomic uint64_t turn[NT_SHM_SLOTS];
	/* rank: epoch of the newest plan whose `at` it has reached */
	_Atomic uint32_t passed[NT_SHM_SLOTS];
	/* rank in slot 0, since it opened the key: tasks of the key's function and band, and the
	 * largest number of turns between two calls */
	_Atomic uint64_t tasks;
	_Atomic uint32_t gap;
	/* leader: turn plus one from which ranks must wait for the outcome; 0: none */
	_Atomic uint64_t hold_at;
	/* leader: epoch of the newest agreed plan, plan[epoch & 1] */
	_Atomic uint32_t epoch;
	uint32_t result_bytes; /* leader, before state becomes CLOSED */
	/* leader; plan[e & 1] is written only after every rank has passed e - 1 */
	struct nt_plan plan[2];
	uint8_t result[NT_PLAN_PAYLOAD];
};

struct nt_shm_comm {
	/* NCCL's commHash; 0: free; claimed with compare-and-swap; leader: freed */
	_Atomic uint64_t id;
	_Atomic uint32_t ranks; /* any participant (all write the same) */
	_Atomic uint32_t nodes; /* any participant (all write the same) */
	_Atomic uint32_t state; /* node leader: enum nt_comm_state */
	_Atomic uint32_t risks; /* leader, before state becomes AGREED: NT_RISK_* of all ranks */
	/* ranks that describe keys: pairs that NCCL chose itself, bits by pair */
	_Atomic uint32_t baseline_pairs;
	char why[NT_REASON_BYTES]; /* leader, before state becomes REJECTED; as reason.h has it */
	struct nt_shm_slot slot[NT_SHM_SLOTS];
	/* keys with memory beyond the first NT_SHM_KEYS_AT_ONCE; raised with compare-and-swap */
	_Atomic uint32_t more_keys;
	struct nt_shm_key key[NT_SHM_KEYS]; /* claimed in order */
};

#define NT_GATE_SHUT 0x80000000u

#define NT_TIME_COARSE 0x80000000u /* the unit is 1,024 ns instead of 1 ns */

/* A time in 32 bits, order-preserving: nanoseconds; from 2.1 s on units of 1,024 ns; at most 36
 * minutes. 0: no time, or too long. */
static inline uint32_t nt_shm_time(uint64_t ns)
{
	if (ns < NT_TIME_COARSE)
		return (uint32_t)ns;
	return ns >> 10 < NT_TIME_COARSE ? NT_TIME_COARSE | (uint32_t)(ns >> 10) : 0;
}

static inline uint64_t nt_shm_time_ns(uint32_t time)
{
	return time < NT_TIME_COARSE ? time : (uint64_t)(time - NT_TIME_COARSE) << 10;
}

/* The samples of one window on one node. */
struct nt_shm_run {
	_Atomic uint32_t owner; /* leader: 1 + comm * NT_SHM_KEYS + key; 0: free */
	_Atomic uint32_t issued[NT_SHM_SLOTS]; /* rank: collectives started in the window */
	/* proxy thread: of those, measured or abandoned */
	_Atomic uint32_t done[NT_SHM_SLOTS];
	/* proxy thread: GPU time until the next collective starts, nt_shm_time(); 0: none */
	_Atomic uint32_t sample[NT_SHM_SLOTS][NT_RUN_POSITIONS];
	/* ... until the next call of the key */
	_Atomic uint32_t period[NT_SHM_SLOTS][NT_RUN_POSITIONS];
	/* ... until it ends, on the channel that started first */
	_Atomic uint32_t duration[NT_SHM_SLOTS][NT_RUN_POSITIONS];
};

struct nt_shm {
	_Atomic uint32_t magic;
	_Atomic uint32_t leader_pid; /* claimed by compare-and-swap */
	_Atomic uint64_t beat; /* leader: iterations of its loop; shows that it is alive */
	/* ranks that are taking a slot; NT_GATE_SHUT: the leader is freeing a communicator */
	_Atomic uint32_t gate;
	struct nt_shm_comm comm[NT_SHM_COMMS];
	struct nt_shm_run run[NT_SHM_RUNS];
};

#endif
