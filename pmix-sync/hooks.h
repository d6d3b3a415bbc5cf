/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* hooks.h - what the agreement is given, what it asks of the tuner, and what it counts
 *
 * Threads:  hooks are called by whoever steps the agreement, one at a time.
 * Memory:   the giver's; hooks and texts must outlive the agreement.
 * Units:    milliseconds; bytes.
 */
#ifndef NT_SYNC_HOOKS_H
#define NT_SYNC_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/board.h"

/* What the home of a communicator asks of the tuner; all called from nt_agree_step(),
 * nt_agree_sent() or nt_agree_in(). */
struct nt_agree_hooks {
	void *arg;
	/* Is this key worth opening now? Home only, asked at every step while the key is idle. */
	bool (*worth)(void *arg, const struct nt_board_comm *comm, const struct nt_board_key *key);
	/* Any node: are other nodes to be told of this communicator before a key of it was called
	 * join_calls times? NULL: never. */
	bool (*early)(void *arg, const struct nt_board_comm *comm);
	/* A key was opened at its home: the tuner's memory for it, given back by end(). NULL:
	 * close the key. */
	void *(*start)(void *arg, const struct nt_board_comm *comm, const struct nt_board_key *key);
	/* What now? 1: plan->payload, payload_bytes and until (positions, or NT_NEVER for good)
	 * are a plan to propose. 0: close the key for good with AUTO; plan->payload is the
	 * result. Asked at the start and when every node's data on the plan before was absorbed. */
	int (*next)(void *key, struct nt_plan *plan);
	/* Does the key's first plan need no calls to be counted before, since it is one for good?
	 * NULL: never. */
	bool (*ready)(void *key);
	void (*absorb)(void *key, const uint8_t *bytes, size_t count);
	void (*end)(void *key);
	/* Any node: sum up the run of a plan that all local ranks have left behind. Returns
	 * bytes (at most cap). */
	size_t (*gather)(void *arg, const struct nt_board *board, const struct nt_plan *plan,
			 uint32_t members, uint8_t *out, size_t cap);
	/* Any node: add what gather() and combine() made of other nodes' runs to sum, in place;
	 * the sum must not grow. Returns its bytes. absorb() gets one sum of all nodes. */
	size_t (*combine)(void *arg, uint8_t *sum, size_t count, const uint8_t *bytes, size_t more);
	/* Every node, of a committed key: is its plan worth a recheck? All nodes must say the same
	 * of the same plan. NULL: never. */
	bool (*worth_recheck)(void *arg, const struct nt_board_comm *comm,
			      const struct nt_plan *committed);
	/* A committed key was opened for a recheck at its home; otherwise as start(). Where next()
	 * then says 0 the committed plan stays as it is. */
	void *(*start_recheck)(void *arg, const struct nt_board_comm *comm,
			       const struct nt_board_key *key, const struct nt_plan *committed);
	/* From the first committed plan to the first recheck; the gaps then double. 0: never. */
	uint32_t recheck_ms;
};

struct nt_agree_config {
	struct nt_board *board;
	struct nt_agree_hooks hooks;
	/* this node's index, and how many there are; 1 where no others can be heard */
	uint32_t self, nodes;
	uint32_t tasks; /* of the step */
	/* Node of a task of the step, -1 unknown. */
	int (*node_of_task)(void *arg, uint32_t task);
	/* Its name, for messages; valid as long as the config's owner is. */
	const char *(*node_name)(void *arg, uint32_t node);
	void *node_arg;
	const char *deaf; /* NULL, or why nothing can be heard from other nodes */
	uint32_t join_ms; /* how long a communicator's ranks may take to be seen */
	/* of one key on one rank, before other nodes are told of a communicator */
	uint32_t join_calls;
	uint32_t agree_ms; /* how long a rank waits for an outcome; 0: for ever */
};

/* Is the log of a node worth a look now? The higher, the more urgent. */
enum nt_agree_need {
	NT_AGREE_DEAF = 0,
	NT_AGREE_LISTENS,
	NT_AGREE_OWED, /* it will say the outcome of a plan that this node has promised to take */
	NT_AGREE_IN_DOUBT, /* ranks may wait for what it says */
};

/* Counters for the record. */
#define NT_AGREE_TIMES 64u
struct nt_agree_counts {
	uint32_t commits, aborts, refusals, rejects, damaged;
	uint32_t rechecks, looks; /* keys opened for a recheck, and reads for them */
	uint32_t timed; /* outcomes of COMMIT that this node has decided as home */
	/* how long the last ones took from the proposal, a ring */
	uint16_t commit_ms[NT_AGREE_TIMES];
};

#endif
