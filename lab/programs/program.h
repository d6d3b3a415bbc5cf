/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - a program as its file tells it: ranks, named communicators, and one step of calls,
 * repeats unrolled (docs/programs.md has the format)
 *
 * Threads:  value type; pure functions.
 * Memory:   the program owns its lists.
 * Errors:   -1 and *err with file and line.
 * Units:    in the names.
 */
#ifndef NT_PROGRAMS_PROGRAM_H
#define NT_PROGRAMS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/error.h"
#include "tests/fake/options.h"

#define NT_PROGRAM_COMMS 8
#define NT_PROGRAM_KEYS 512
#define NT_PROGRAM_TRUTHS 64
#define NT_PROGRAM_GRAPHS 8
#define NT_PROGRAM_RANKS 512
#define NT_PROGRAM_NAME 32

/* Ranks in groups of `count`, `stride` apart. */
struct nt_program_comm {
	char name[NT_PROGRAM_NAME];
	unsigned count, stride;
	double time_factor; /* on the model's times */
};

enum nt_item_kind {
	NT_ITEM_COMPUTE,
	NT_ITEM_PAUSE, /* on the host */
	NT_ITEM_CALL,
	NT_ITEM_WAIT, /* computing goes on when the communicator's calls are done */
	NT_ITEM_PLAY, /* a captured graph */
};

struct nt_item {
	enum nt_item_kind kind;
	unsigned every, phase; /* only in steps with number % every == phase; every 0: in all */
	uint64_t ns; /* COMPUTE, PAUSE */
	unsigned comm; /* CALL, WAIT */
	unsigned key; /* CALL */
	bool async; /* CALL: computing goes on meanwhile */
	unsigned graph; /* PLAY */
};

struct nt_items {
	struct nt_item *item;
	unsigned count, room;
};

/* What calls have in common: communicator's name, collective and size. */
struct nt_program_key {
	unsigned comm;
	int coll;
	uint64_t bytes;
};

/* The true time of an arm, as a share of that of NCCL's own choice. */
struct nt_program_truth {
	unsigned key; /* of the program */
	int arm;
	double factor;
};

/* From `ns` on, calls by other arms than NCCL's own choice (or by all) take that longer. */
struct nt_program_later {
	unsigned key; /* of the program */
	uint64_t ns;
	bool all;
	double factor;
};

struct nt_program {
	char name[NT_PROGRAM_NAME];
	char about[256];
	unsigned ranks, per_node;
	uint64_t steps; /* 0: by time */
	double seconds; /* of a run on AUTO */
	double spread; /* how far true times are from what NCCL believes: log-normal, by seed */
	double jitter; /* of computing, between ranks and steps: relative standard deviation */
	double shared; /* a collective between nodes takes that longer for each that runs there */
	double late_us; /* mean, of each rank and call */
	/* by pair: the first rank ends that share of a small collective's time before the last */
	double early[NT_PAIRS];
	unsigned slow_rank; /* its computing takes slow_factor as long, in a share of the steps */
	double slow_factor, slow_share;
	double host_us; /* a call takes the host so long */
	double connect_us; /* an algorithm's first use */
	unsigned channels; /* of a communicator inside a node */
	struct nt_options model; /* noise, nvls, ll128, cost_skew of the simulated NCCL */
	struct nt_program_comm comm[NT_PROGRAM_COMMS];
	unsigned comms;
	struct nt_program_key key[NT_PROGRAM_KEYS];
	unsigned keys;
	struct nt_program_truth truth[NT_PROGRAM_TRUTHS];
	unsigned truths;
	struct nt_program_later later[NT_PROGRAM_TRUTHS];
	unsigned laters;
	struct nt_items step;
	struct nt_items graph[NT_PROGRAM_GRAPHS];
	char graph_name[NT_PROGRAM_GRAPHS][NT_PROGRAM_NAME];
	unsigned graphs;
};

/* ranks: in place of the file's; 0: as it says. */
int nt_program_load(struct nt_program *p, const char *path, unsigned ranks, struct nt_error *err);
void nt_program_fini(struct nt_program *p);

static inline bool nt_item_is_due(const struct nt_item *i, uint64_t step)
{
	return i->every == 0 || step % i->every == i->phase;
}

#endif
