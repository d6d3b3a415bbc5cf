/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* hooks.h - configuration, callbacks and counters of the agreement
 *
 * Threads:  hooks are called by the thread that steps the agreement, one at a time.
 * Memory:   the caller's; hooks and texts must outlive the agreement.
 * Units:    milliseconds; bytes.
 */
#ifndef NT_SYNC_HOOKS_H
#define NT_SYNC_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/shm-layout.h"

/* Callbacks into the tuner, called from nt_agree_step(), nt_agree_sent() or nt_agree_in(). */
struct nt_agree_hooks {
	void *arg;
	/* Coordinator, at every step: may this idle key be opened now? */
	bool (*may_open)(void *arg, const struct nt_shm_comm *comm, const struct nt_shm_key *key);
	/* Any node: announce this communicator although no key was called join_calls times? NULL:
	 * never. */
	bool (*early)(void *arg, const struct nt_shm_comm *comm);
	/* Coordinator: a key was opened. Returns the tuner's state of it, freed by end(). NULL:
	 * close the key. */
	void *(*start)(void *arg, const struct nt_shm_comm *comm, const struct nt_shm_key *key);
	/* The next plan: at the start, and after absorb() of the previous one. 1: propose it;
	 * payload, payload_bytes and until (positions, or NT_NEVER) are set. 0: none; close the
	 * key, with the result in plan->payload. */
	int (*next)(void *key, struct nt_plan *plan);
	/* Is the first plan a commit, for which no calls need be counted? NULL: never. */
	bool (*ready)(void *key);
	void (*absorb)(void *key, const uint8_t *bytes, size_t count);
	void (*end)(void *key);
	/* Any node: summarise a plan's samples after all local ranks have passed it. Returns the
	 * number of bytes, at most cap. */
	size_t (*gather)(void *arg, const struct nt_shm *shm, const struct nt_plan *plan,
			 uint32_t slots, uint8_t *out, size_t cap);
	/* Any node: merge another node's summary into sum, which must not grow. Returns its bytes.
	 * absorb() gets the merged summary of all nodes. */
	size_t (*combine)(void *arg, uint8_t *sum, size_t count, const uint8_t *bytes, size_t more);
	/* Every node, with the same answer: may this committed plan be rechecked? NULL: never. */
	bool (*may_recheck)(void *arg, const struct nt_shm_comm *comm,
			    const struct nt_plan *committed);
	/* As start(), for the recheck of a committed key. If next() returns 0, the committed plan
	 * stays. */
	void *(*start_recheck)(void *arg, const struct nt_shm_comm *comm,
			       const struct nt_shm_key *key, const struct nt_plan *committed);
	/* Any node, at every step: has the program become slower, so that a recheck is due early?
	 * NULL: never. */
	bool (*slower)(void *arg);
	/* Time from the first commit to the first recheck, doubled for each later one. 0: never. */
	uint32_t recheck_ms;
};

struct nt_agree_config {
	struct nt_shm *shm;
	struct nt_agree_hooks hooks;
	/* this node, and the number of nodes; 1 if no others can be reached */
	uint32_t self, nodes;
	uint32_t tasks; /* of the step */
	/* The node of a task of the step; -1: unknown. */
	int (*node_of_task)(void *arg, uint32_t task);
	/* A node's name for messages; it must stay valid. */
	const char *(*node_name)(void *arg, uint32_t node);
	void *node_arg;
	const struct nt_reason *deaf; /* NULL, or why other nodes cannot be reached */
	/* Of a step of one node, for communicators with ranks that are not there; or NULL. */
	const struct nt_reason *elsewhere;
	uint32_t join_ms; /* time limit for all ranks of a communicator to join */
	/* least calls of a key on a rank before its communicator is announced */
	uint32_t join_calls;
	uint32_t agree_ms; /* how long a rank waits for an outcome; 0: forever */
};

/* How urgently must a node's log be read? In rising order. */
enum nt_agree_need {
	NT_AGREE_DEAF = 0,
	NT_AGREE_LISTENS,
	NT_AGREE_OWED, /* it has, or will have, the outcome of a plan that this node acknowledged */
	NT_AGREE_IN_DOUBT, /* ... and local ranks may be waiting for it */
};

/* Counters for the record. */
#define NT_AGREE_TIMES 64u
struct nt_agree_counts {
	uint32_t commits, aborts, refusals, rejects, damaged;
	uint32_t rechecks, looks; /* keys opened for rechecks, and log reads for them */
	uint32_t timed; /* commits by this node as coordinator */
	/* their latest times from proposal to commit; a ring */
	uint16_t commit_ms[NT_AGREE_TIMES];
};

#endif
