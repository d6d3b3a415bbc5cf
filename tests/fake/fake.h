/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* fake.h - the simulated NCCL's own objects: job, rank, communicator, task, plan
 *
 * Threads:  a rank has three: host (the application's), GPU (runs plans in stream order, also as
 *           CUDA's callback thread) and proxy (reports kernel times). A member belongs to the
 *           thread in its comment.
 * Memory:   the job outlives its ranks, a rank its communicators, a communicator its graphs' plans.
 * Errors:   nt_fake_leave() ends the process; nothing returns an error that a caller could forget.
 * Units:    nanoseconds of the simulated clock, which every rank counts from 0.
 */
#ifndef NT_FAKE_FAKE_H
#define NT_FAKE_FAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "tests/fake/load.h"
#include "tests/fake/model.h"
#include "tests/fake/options.h"
#include "tests/fake/wire.h"

struct nt_gpu;
struct nt_sum;
struct nt_plan;
struct nt_pool;

struct nt_job {
	const struct nt_options *options;
	const struct nt_release *release;
	struct nt_model model;
	struct nt_wire *wire;
	unsigned ranks;
};

struct nt_rank {
	struct nt_job *job;
	unsigned rank;
	unsigned gpu; /* its time stamps are of this GPU's clock */
	const char *node;
	_Atomic bool ended; /* a thread is ending the process */
	struct nt_sum *sum;
	uint64_t host_ns; /* host: the simulated clock of the application */
	uint64_t calls; /* host */
	uint64_t measured; /* host: those whose kernel times are wanted */
	uint64_t round; /* host: of the program, counted from 0 */
	uint64_t compute_ns; /* host: what its next launch waits for */
};

struct nt_comm {
	struct nt_rank *owner;
	struct nt_wire_comm *wire;
	struct nt_gpu *gpu; /* a stream of its own */
	uint64_t id;
	unsigned rank;
	unsigned kind; /* which of --comms */
	char name[24]; /* only while the plugins are initialised */
	struct nt_shape place;
	const struct nt_tuner_v7 *tuner;
	bool tuner_owner;
	void *tuner_ctx;
	void *prof_ctx;
	struct nt_tuner_constants_v7 constants;
	_Atomic uint64_t seq[NT_COLLS]; /* as NCCL's comm->seqNumber */
	uint64_t calls; /* host: equal on all its ranks */
	uint64_t op; /* host: next operation on the wire */
	unsigned connected; /* host: a bit for each algorithm that was used */
	struct nt_plan *graphs; /* host: captured plans */
	struct nt_pool *pool; /* host: of its proxy; NULL: none */
};

struct nt_task {
	int coll;
	uint64_t bytes; /* as told to the tuner for this task alone */
	uint64_t count; /* as in the Coll event */
	uint64_t api_count; /* as the application gave it */
	const char *api_datatype; /* as the application gave it ... */
	const char *datatype; /* ... and as in the Coll event */
	uint64_t traffic;
	int key; /* of the summary */
	int mask; /* event mask when it was appended */
	void *group_api;
	void *coll_api;
	void *event;
	int arm;
	int auto_arm;
	bool changed; /* the plugin touched the table or the channels */
	bool symmetric;
	bool windows; /* its buffers are in windows, and NCCL chooses among all kernels at once */
	uint32_t selection; /* its algSelection: pairs; 0: it has none */
	bool gathered; /* Broadcasts with different roots, run as one */
	int cap; /* channels that the plugin asked for; 0: NCCL's own */
	int max_channels;
	int channels;
	uint32_t chunk_bytes; /* chunk size of the task's first channel if the plugin chose it; else
			       * 0 */
	uint32_t chunk_rest; /* those of its last channel and of those between, in one number */
	unsigned run; /* number of its decision in the group */
};

/* A send or receive. */
struct nt_p2p_task {
	bool receives;
	int peer;
	uint64_t count;
	const char *datatype;
	int mask;
	void *group_api;
	void *api; /* of its P2pApi event, while that lasts */
	void *event;
};

#define NT_MAX_SENDS_OF_PLAN (2 * NT_MAX_RANKS)

/* The work that one group launches on one communicator. */
struct nt_plan {
	struct nt_comm *comm;
	int p2p_kind; /* enum nt_p2p_kind; 0: collectives, and no p2p */
	uint64_t p2p_bytes; /* what a rank sends */
	struct nt_p2p_task p2p[NT_MAX_SENDS_OF_PLAN]; /* the n-th send and receive are a pair */
	unsigned p2ps;
	struct nt_task task[NT_MAX_TASKS];
	unsigned tasks;
	bool persistent; /* captured in a graph */
	bool callback; /* its events are emitted on the GPU's thread */
	void *group_event;
	void *launch_event;
	_Atomic int references;
	struct nt_plan *next; /* of a communicator's graphs, or of a group's sends */
};

/* Prints the reason, lets other ranks with the same problem print theirs, and ends the process. */
_Noreturn void nt_fake_leave(struct nt_job *job, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Ranks with different launch variables: NCCL would hang or crash; all ranks detect it. */
void nt_fake_check_launch(struct nt_job *job);

/* Handles the end of a wait on the wire: returns only without an error (or if the rank itself
 * quits). */
void nt_fake_expect(struct nt_comm *c, enum nt_wire_end end, const char *doing);

/* Communicators: collective over the ranks of members (ranks of the job, in order). */
struct nt_birth {
	uint64_t id;
	uint32_t life; /* number among those with this id, one after the other */
	unsigned kind;
	const unsigned *members;
	unsigned ranks;
};
struct nt_comm *nt_comm_create(struct nt_rank *owner, const struct nt_birth *birth);
/* ncclCommDestroy, or ncclCommAbort after nt_gpu_abandon(). between: called after the tuner's
 * finalize. */
void nt_comm_destroy(struct nt_comm *c, void (*between)(struct nt_comm *c));
void nt_comm_free(struct nt_comm *c); /* without calling the plugin */

/* A group of calls; sizes as nccl-tests count them. */
struct nt_call {
	int coll;
	uint64_t bytes;
	int key;
	const char *datatype; /* NULL: the options' */
};

enum nt_group_mode {
	NT_GROUP_RUN,
	NT_GROUP_SIMULATE, /* or one that fails after its decision */
	NT_GROUP_CAPTURE,
	/* a Broadcast from every rank, at most NT_MAX_TASKS, of the first call */
	NT_GROUP_GATHER,
};
/* The same calls on each of the communicators, at most NT_MAX_RANKS. */
void nt_group_run(struct nt_comm *const *c, unsigned comms, const struct nt_call *call,
		  unsigned calls, enum nt_group_mode mode);
void nt_group_replay(struct nt_comm *c); /* the newest captured graph */

/* One decision: arm, channels and so on of a run of tasks from table and plugin. */
struct nt_choice {
	int arm;
	int auto_arm;
	bool changed;
	int cap;
	int max_channels;
	float us, auto_us; /* the costs of arm, as the plugin left it, and of auto_arm */
};
/* selection: the pairs of algSelection; 0: all. */
void nt_choice_make(struct nt_comm *c, int coll, uint64_t bytes, int pipe_ops, uint32_t selection,
		    struct nt_choice *out);
int nt_choice_probe(struct nt_comm *c, int coll, uint64_t bytes);
void nt_choice_chunks(struct nt_comm *c, struct nt_task *t);

/* A task's arm, with its limit of channels and its chunk size if they are not NCCL's own. */
int nt_choice_arm(int pair, int cap);

/* Decides all tasks of a plan and sorts them into launch order. */
void nt_plan_decide(struct nt_plan *p);
void nt_plan_launch(struct nt_plan *p);
void nt_plan_release(struct nt_plan *p);

/* The data that must be equal on all ranks; returns the number of tasks. */
unsigned nt_plan_describe(const struct nt_plan *p, struct nt_wire_task *out);

#endif
