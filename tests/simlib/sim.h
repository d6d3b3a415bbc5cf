/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sim.h - the simulated NCCL as a library: communicators, calls, and the ranks' shared memory
 *
 * tests/fake simulates NCCL towards the plugins and the duration of calls; each communicator is a
 * separate job there. Streams are those of the simulated libcudart. Results are computed in memory
 * that the ranks share.
 *
 * Threads:  a communicator's host thread, except for what runs on a stream's.
 * Memory:   a communicator owns its mappings; both files are anonymous, so killed processes leave
 *           nothing behind.
 * Errors:   NCCL's, with *err; nt_fake_leave() if a rank cannot go on.
 */
#ifndef NT_SIMLIB_SIM_H
#define NT_SIMLIB_SIM_H

#include "tests/fake/fake.h"
#include "tests/simlib/api.h"

#define NT_SIM_MEMOS 64

/* The content of a unique id: where the ranks' shared files are. */
struct nt_sim_id {
	uint64_t number;
	int32_t process, wire, area; /* descriptors in the process that has them open */
};

/* A collective call, or a send or receive. */
struct nt_sim_call {
	int coll; /* or NT_P2P_SEND, NT_P2P_RECV */
	const void *send;
	void *receive;
	size_t count; /* of each rank, as the application gave it */
	int type, op, root;
};

/* A large collective whose result was computed, and when. */
struct nt_sim_memo {
	struct nt_sim_call call;
	uint32_t tick; /* 0: none */
};

struct nt_sim_area;

struct ncclComm {
	struct nt_job job;
	struct nt_rank rank;
	struct nt_comm *comm;
	struct nt_wire_comm *barrier; /* of the streams' threads */
	struct nt_sim_area *area;
	size_t area_bytes;
	unsigned half; /* stream: which part of the area is next */
	uint64_t calls; /* stream */
	struct nt_sim_memo memo[NT_SIM_MEMOS]; /* stream */
	unsigned memos; /* stream */
	int device;
	unsigned children;
	_Atomic unsigned exchanges; /* that are queued, or under way */
	_Atomic bool quit; /* they end, as they are */
};

/* world.c: communicators and environment variables */
const struct nt_options *nt_sim_options(void); /* NULL: they are wrong */
unsigned nt_sim_task(unsigned otherwise); /* of the step, where there is one */
int nt_sim_id_make(struct nt_sim_id *id, uint64_t number, struct nt_error *err);
/* kind: 0 of a unique id, 1 of a split. NULL and *err. */
struct ncclComm *nt_sim_comm_join(const struct nt_sim_id *id, unsigned ranks, unsigned rank,
				  unsigned kind, struct nt_error *err);
/* Collective over the parent; NULL without an error if color is negative. */
struct ncclComm *nt_sim_comm_split(struct ncclComm *parent, int color, int key,
				   struct nt_error *err);
void nt_sim_comm_finish(struct ncclComm *c); /* waits until all its work is done and reported */
void nt_sim_comm_leave(struct ncclComm *c, bool abort);

/* gpu.c: calls of one communicator, at most NT_MAX_TASKS, on one stream */
void nt_sim_launch(struct ncclComm *c, const struct nt_sim_call *call, unsigned calls,
		   nt_stream stream, enum nt_group_mode mode);
/* p2p.c: the sends and receives of a group; the peer is call->root. Nobody is asked about them. */
void nt_sim_exchange(struct ncclComm *c, const struct nt_sim_call *call, unsigned calls,
		     nt_stream stream);
struct nt_sim_span;
/* stream: their kernels have run. */
void nt_sim_tell(struct ncclComm *c, const struct nt_plan *p, const struct nt_sim_span *span);
/* Without a decision: a communicator of one rank. */
void nt_sim_copy(struct ncclComm *c, const struct nt_sim_call *call, nt_stream stream);

/* data.c: on the stream's thread, after all ranks have arrived. */
struct nt_sim_shape {
	size_t send, receive; /* bytes of the whole buffers */
};
struct nt_sim_shape nt_sim_shape(const struct ncclComm *c, const struct nt_sim_call *call);
void nt_sim_move(struct ncclComm *c, const struct nt_sim_call *call, bool wrong);

/* The ranks' shared memory, for data.c and a split. */
#define NT_SIM_CHUNK ((size_t)1 << 20) /* of a rank, in each half of the area */
struct nt_sim_slot {
	int color, key;
	struct nt_sim_id id;
};
/* What a rank has sent another one. */
#define NT_SIM_BOX ((size_t)64 << 10)
struct nt_sim_box {
	_Atomic uint32_t full;
	size_t bytes;
	uint64_t sender_ns, receiver_ns; /* when each was ready */
	char data[NT_SIM_BOX];
};
struct nt_sim_area {
	struct nt_sim_slot slot[NT_MAX_RANKS];
	uint8_t wants[2][NT_MAX_RANKS];
	_Alignas(4096) char stage[]; /* two halves of a chunk a rank, then a box a pair of ranks */
};

static inline struct nt_sim_box *nt_sim_box(const struct ncclComm *c, unsigned from, unsigned to)
{
	char *boxes = c->area->stage + 2 * c->job.ranks * NT_SIM_CHUNK;

	return (struct nt_sim_box *)boxes + (size_t)from * c->job.ranks + to;
}

#endif
