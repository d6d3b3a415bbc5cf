/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* world.h - a program's ranks, communicators and GPUs in virtual time, and what is kept of a run
 *
 * Threads:  as vtime.h; a run is one call.
 * Memory:   the log is shared with the process in which the plugin runs.
 * Errors:   nt_world_leave() ends the process: 70 where ranks chose differently, else as
 *           tests/fake/limits.h.
 * Units:    nanoseconds of program time; a step's number counts from 0.
 */
#ifndef NT_PROGRAMS_WORLD_H
#define NT_PROGRAMS_WORLD_H

#include "tests/fake/model.h"
#include "lab/programs/program.h"
#include "lab/programs/vtime.h"
#include "tuner/abi.h"

/* Who chooses arms. */
enum nt_selector {
	NT_CHOOSE_AUTO,
	NT_CHOOSE_PLUGIN,
	NT_CHOOSE_LOG, /* AUTO until a key was decided, then what it ended with */
	NT_CHOOSE_BEST, /* by the true times */
};

/* Of one communicator's calls of one key, in the run with the plugin. */
struct nt_key_log {
	uint32_t calls;
	uint32_t tried; /* calls by another arm than AUTO's before the decision */
	uint32_t measured; /* calls under GPU events before the decision */
	uint32_t events; /* calls with any event but those that count sends */
	uint32_t decided_call; /* 0: not decided */
	uint32_t decided_step;
	uint32_t last_tried_step;
	double tried_extra_ns; /* of the calls themselves against AUTO's */
	double saved_ns; /* after the decision */
	uint16_t final_arm;
	uint16_t state; /* of the shared memory: enum nt_key_state */
	/* From the plugin's record: */
	char why[64]; /* AUTO was kept; "": nothing is said */
	double said_spent_ms;
};

/* A run: when each step ended, and of the plugin's run what became of the keys. */
struct nt_run_log {
	uint64_t *end_ns; /* of rank 0, by step */
	uint64_t *waited_ns; /* by rank: in the plugin, for other nodes */
	struct nt_key_log *key; /* communicator * keys + key; shared */
};

/* A communicator. */
struct nt_inst {
	unsigned kind; /* of the program's */
	unsigned *member; /* ranks, in order */
	unsigned ranks;
	uint64_t id;
	struct nt_shape place;
	unsigned arrived; /* ranks whose stream has come to the next collective */
	uint64_t latest_ns;
	uint64_t from_ns, until_ns; /* its newest collective */
	uint64_t calls; /* that ran */
};

/* A rank's part of a communicator. */
struct nt_member {
	struct nt_inst *inst;
	unsigned rank, index;
	void *tuner, *profiler; /* the plugin's */
	uint64_t seq[NT_COLLS];
	unsigned connected; /* bit of each algorithm that was used */
	uint64_t calls;
};

struct nt_choice_made {
	int arm, baseline_arm, channels;
	bool measured;
	bool events; /* NCCL's event mask had others than those that count sends */
	bool told; /* its kernels' times are, with or without a handle of its Coll event */
	void *event; /* NULL: the profiler gave no handle */
};

struct nt_world;

/* Arms from the plugin. */
struct nt_chooser_calls {
	void (*choose)(struct nt_world *w, struct nt_member *s, const struct nt_program_key *key,
		       bool captured, struct nt_choice_made *out);
	void (*step_done)(struct nt_world *w, uint64_t step);
};

struct nt_world {
	const struct nt_program *p;
	struct nt_model model;
	uint64_t seed;
	unsigned nodes;
	unsigned process_ranks; /* of a process; divides those of a node */
	struct nt_inst *inst;
	unsigned insts;
	struct nt_member *slot; /* rank * comms + kind */
	double (*true_us)[NT_PAIRS]; /* by key; < 0: not legal */
	int *baseline_arm; /* by key */
	int *best_arm;
	/* A run's: */
	enum nt_selector chooser;
	const struct nt_chooser_calls *calls; /* NT_CHOOSE_PLUGIN */
	uint64_t steps, now_step; /* of rank 0 */
	struct nt_run_log *log;
	struct nt_gpu_of_rank *gpu;
	unsigned dirty; /* GPUs whose streams may go on */
	unsigned running; /* ranks that have not ended */
	bool done;
};

_Noreturn void nt_world_leave(int code, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void nt_world_open(struct nt_world *w, const struct nt_program *p, uint64_t seed);
void nt_world_close(struct nt_world *w);

/* The whole program by that chooser; calls may be NULL but for the plugin. */
void nt_world_run(struct nt_world *w, enum nt_selector chooser, uint64_t steps,
		  struct nt_run_log *log, const struct nt_chooser_calls *calls);

static inline struct nt_member *nt_world_member(struct nt_world *w, unsigned rank, unsigned kind)
{
	return &w->slot[rank * w->p->comms + kind];
}

static inline unsigned nt_world_key(const struct nt_world *w, const struct nt_program_key *key)
{
	return (unsigned)(key - w->p->key);
}

static inline unsigned nt_world_node(const struct nt_world *w, unsigned rank)
{
	return rank / w->p->per_node;
}

static inline struct nt_key_log *nt_world_key_log(const struct nt_world *w,
						  const struct nt_inst *inst, unsigned key)
{
	return &w->log->key[(size_t)(inst - w->inst) * w->p->keys + key];
}

/* Kernel times of a collective, told by the proxy thread of the rank (plugin.c). */
void nt_plugin_kernel(struct nt_member *s, void *event, int channels, uint64_t start_ns,
		      uint64_t end_ns);

#endif
