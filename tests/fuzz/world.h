/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* world.h - one process of the real plugin with its shared memory, its node's agreement and NCCL's
 *           calls, and another node that says what an input wants
 *
 * Communicator 0 is this node's alone: rank 0 is ours, rank 1 another process's, whose part of the
 * shared memory follows ours. Communicator 1 spans two nodes; rank 1 of it, or rank 0, is on the
 * other.
 *
 * Threads:  one; the helper thread is not started.
 * Memory:   one world at a time; its shared memory is the same memory each time, emptied.
 * Units:    milliseconds of a clock that goes on as it is looked at and as one sleeps.
 */
#ifndef NT_FUZZ_WORLD_H
#define NT_FUZZ_WORLD_H

#include "tests/fuzz/fuzz.h"
#include "tuner/comm.h"
#include "tuner/explorer.h"

#define WORLD_COMMS 2
#define WORLD_ID(comm) (0xabc0u + (comm))

struct world {
	struct nt_process process;
	struct nt_explorer home;
	struct nt_histories histories;
	struct nt_agree *agree;
	struct nt_comm *comm[WORLD_COMMS];
	struct nt_slot other; /* rank 1 of communicator 0 */
	int mask; /* NCCL's */
	uint64_t seq[WORLD_COMMS][NT_COLLS];
	uint64_t gpu_ns;
	bool answers; /* the other node says what it should by itself */
	bool away; /* rank 0 of communicator 1 is on the other node */
};

void world_open(struct world *w, struct fuzz *in);
void world_close(struct world *w);

/* NCCL asks for a collective, and tells of it. What comes back is legal. */
void world_collective(struct world *w, struct fuzz *in);
/* A round of the node leader, some time later. */
void world_step(struct world *w, struct fuzz *in);
/* An entry in the other node's log: right but for what the input says. */
void world_entry(struct world *w, struct fuzz *in);
/* A plan as it would be right, with the next epoch and some turns ahead. */
struct nt_plan world_plan(struct world *w, unsigned comm, struct fuzz *in);
/* Some key of a communicator that our rank has called. */
struct nt_shm_key *world_key(struct world *w, unsigned comm, struct fuzz *in);
/* The process's record, which its reader must take. */
void world_record(struct world *w);

#endif
