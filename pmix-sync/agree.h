/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* agree.h - join and two-phase plans of all communicators on one node, as a state machine
 *
 * Pure: no I/O, no clock, no threads. It sees the node's board, is told the time and what other
 *       nodes' logs say, and
 * hands out entries for this node's own log. docs/agreement.md says why it is safe.
 *
 * Threads:  one thread at a time.
 * Memory:   the handle owns everything; bytes passed in are copied.
 * Errors:   create: NULL and *err set. Nothing else fails: what cannot be done leaves a
 *           communicator on AUTO.
 * Units:    milliseconds; turns in tasks.
 */
#ifndef NT_SYNC_AGREE_H
#define NT_SYNC_AGREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/board.h"
#include "contract/error.h"

struct nt_agree;

/* What the home of a communicator asks of the tuner; all called from nt_agree_step() or
 * nt_agree_in(). */
struct nt_agree_hooks {
	void *arg;
	/* Is this key worth opening now? Home only, asked at every step while the key is idle. */
	bool (*worth)(void *arg, const struct nt_board_comm *comm, const struct nt_board_key *key);
	/* A key was opened at its home: the tuner's memory for it, given back by end(). NULL:
	 * close the key. */
	void *(*start)(void *arg, const struct nt_board_comm *comm, const struct nt_board_key *key);
	/* What now? 1: plan->payload, payload_bytes and until (positions, or NT_NEVER for good)
	 * are a plan to propose. 0: close the key for good with AUTO; plan->payload is the
	 * result. Asked at the start and when every node's data on the plan before was absorbed. */
	int (*next)(void *key, struct nt_plan *plan);
	void (*absorb)(void *key, const uint8_t *bytes, size_t count);
	void (*end)(void *key);
	/* Any node: sum up the run of a plan that all local ranks have left behind. Returns
	 * bytes (at most cap). */
	size_t (*gather)(void *arg, const struct nt_board *board, const struct nt_plan *plan,
			 uint32_t members, uint8_t *out, size_t cap);
	/* Any node: what gather() and combine() made of other nodes' runs is added to sum, in
	 *           place; not larger than
	 * before. Returns its bytes. absorb() gets one sum of all nodes. */
	size_t (*combine)(void *arg, uint8_t *sum, size_t count, const uint8_t *bytes, size_t more);
	/* Keys with a plan for good, every node (all must say the same of the same plan): is
	 * `base` worth another look?
	 * NULL: never. */
	bool (*worth_again)(void *arg, const struct nt_board_comm *comm,
			    const struct nt_plan *base);
	/* Such a key was opened again at its home; as start(). next() then: 0 leaves the plan
	 * for good as it is. */
	void *(*start_again)(void *arg, const struct nt_board_comm *comm,
			     const struct nt_board_key *key, const struct nt_plan *base);
	/* from the first plan for good to the first look; the gaps then double. 0: never */
	uint32_t again_ms;
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

struct nt_agree *nt_agree_create(const struct nt_agree_config *config, struct nt_error *err);
void nt_agree_destroy(struct nt_agree *agree);

/* Look at the board and the time, and move on. True while something is pending (look again
 * soon); entries that are handed out while nothing is may wait. */
bool nt_agree_step(struct nt_agree *agree, uint64_t now_ms);

/* Packed entries that this node's log must carry next; 0 bytes: none. The same bytes are handed
 * out until nt_agree_sent() says that they are durable; only then do they take effect on this
 * node. */
size_t nt_agree_out(struct nt_agree *agree, const uint8_t **bytes);
void nt_agree_sent(struct nt_agree *agree, uint64_t now_ms);

/* One append of another node's log, in the order of that log. Damaged bytes are ignored and
 * counted. */
void nt_agree_in(struct nt_agree *agree, uint32_t node, const uint8_t *bytes, size_t count,
		 uint64_t now_ms);

/* Is the log of this node worth a look now? */
enum nt_agree_need {
	NT_AGREE_DEAF = 0,
	NT_AGREE_LISTENS,
	NT_AGREE_OWED, /* it will say the outcome of a plan that this node has promised to take */
	NT_AGREE_IN_DOUBT, /* ranks may wait for what it says */
};
enum nt_agree_need nt_agree_listens(const struct nt_agree *agree, uint32_t node);

/* From now on take no new plan that needs other nodes: looks at their logs have become dear.
 *                                                      Outcomes that are owed are
 * still looked for. */
void nt_agree_be_thrifty(struct nt_agree *agree);

/* Last words before leaving in good order: aborts what this node coordinates, refuses what it
 *                                          has not answered. The
 * caller sends what nt_agree_out() then holds. */
void nt_agree_leave(struct nt_agree *agree, uint64_t now_ms);

/* Counters for the record. */
#define NT_AGREE_TIMES 64u
struct nt_agree_counts {
	uint32_t commits, aborts, refusals, rejects, damaged;
	uint32_t sessions, looks; /* keys that were open again, and reads for them */
	uint32_t timed; /* outcomes of COMMIT that this node has decided as home */
	/* how long the last ones took from the proposal, a ring */
	uint16_t commit_ms[NT_AGREE_TIMES];
};
struct nt_agree_counts nt_agree_count(const struct nt_agree *agree);

#endif
