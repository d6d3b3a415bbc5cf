/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sim.h - what the two parts of nt-agree-sim share: the simulated nodes, communicators and ranks
 *
 * Threads:  one.
 * Memory:   sim_free gives back what sim_make took; out of memory ends the program.
 */
#ifndef NT_TESTS_SIM_H
#define NT_TESTS_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include "pmix-sync/agree.h"
#include "pmix-sync/board.h"
#include "pmix-sync/turn.h"

#define KEYS 3			/* different keys of one communicator */
#define CALLS_MAX 4096

struct options {
	uint32_t nodes, ranks_per_node, calls, comms;
	uint64_t runs, seed;
	bool faults;
};

struct sim_comm {
	uint64_t id;
	uint32_t ranks;
	uint32_t *task;			/* by rank */
	uint32_t *choice;		/* by collective: what the first rank followed, 0 none yet */
	uint8_t *key_of;		/* by collective */
};

struct sim_member {			/* a task's rank in a communicator */
	struct sim_comm *comm;
	uint32_t task;
	struct nt_seat seat;
	uint32_t next;			/* collective it issues next */
	int slot[KEYS];
	struct nt_turn turn[KEYS];
	uint64_t calls[KEYS];
	uint64_t waiting_ms;		/* since when; 0: not waiting */
};

struct append {
	uint8_t *bytes;
	size_t count;
	uint64_t at_ms;			/* when others can read it */
};

struct sim_node {
	struct nt_board *board;
	struct nt_agree *agree;
	struct append *log;
	uint32_t log_count, log_cap;
	uint32_t *read;			/* by node: appends of its log already read */
	bool dead, left;
	uint64_t frozen_until_ms;
};

struct sim {
	struct options o;
	uint64_t rng, now_ms;
	struct sim_node *node;
	struct sim_comm *comm;
	uint32_t comm_count;
	struct sim_member *member;	/* tasks * comms of a task */
	uint32_t member_count;
	uint64_t mismatches, stuck, polls, commits, aborts, excused;
};

uint32_t sim_below(struct sim *s, uint32_t bound);	/* a random number below bound */
void *sim_must(void *memory);

/* Nodes with their boards and state machines, communicators with their ranks seated. */
void sim_make(struct sim *s);
void sim_free(struct sim *s);

#endif
