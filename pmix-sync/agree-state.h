/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* agree-state.h - the agreement's state on a node: communicators and keys
 *
 * Private to the agreement's files. Members are written by the file named above them, and read by
 * the others.
 */
#ifndef NT_SYNC_AGREE_STATE_H
#define NT_SYNC_AGREE_STATE_H

#include "pmix-sync/hooks.h"
#include "pmix-sync/used-ids.h"
#include "pmix-sync/call-interval.h"

#define NT_GRACE_MS 30 /* ranks of one node join within this time of each other */
#define NT_STASH_MAX 1024 /* kept CAPS of communicators that no local rank has joined */

enum nt_coordinator_state {
	NT_COORDINATOR_IDLE = 0,
	NT_COORDINATOR_WANTED, /* waiting for every node's READY */
	NT_COORDINATOR_RETRY, /* aborted: propose the same plan again */
	NT_COORDINATOR_PROPOSED, /* waiting for every node's ACK */
	NT_COORDINATOR_RUNNING, /* an exploration runs: waiting for every node's DATA */
	NT_COORDINATOR_DONE,
};

/* Answers of this node and its children to one question (tree.c). All zero: none. */
struct nt_agree_tally {
	uint64_t phase;
	uint32_t epoch;
	uint32_t from; /* bit 0: this node, then its children */
	bool refused, told;
	bool busy; /* refused only for want of a sample area */
	uint64_t turn; /* the highest */
	uint8_t *bytes;
	size_t count;
};

struct nt_agree_key {
	uint64_t id;
	int slot; /* index in shared memory; -1: not called by a local rank */

	/* participant.c */
	bool wanted, ready, closed;
	bool in_doubt; /* acknowledged `pending`, and does not know the outcome */
	bool data_due; /* `installed` is a window, and its data was not sent */
	struct nt_plan pending, installed; /* epoch 0: none */
	uint64_t ready_ms;
	uint64_t passed_ms; /* since when all our ranks have passed `installed`; 0: not yet */
	struct nt_call_interval interval; /* calls of all our ranks */
	bool committed; /* committed_plan is in force; windows take precedence */
	struct nt_plan committed_plan;

	/* recheck-timer.c; participant.c: what was sent */
	bool rechecking; /* open for a recheck */
	bool recheck_ready; /* READY of this recheck was sent */
	uint32_t recheck; /* number of the newest recheck */
	uint64_t stir_ms; /* last activity */

	/* tree.c */
	struct nt_agree_tally tally;
	struct nt_agree_tally recheck_tally; /* READY of rechecks; phase: the recheck's number */

	/* coordinator.c */
	enum nt_coordinator_state coordinator;
	void *tuner;
	struct nt_plan plan; /* being proposed or running */
	uint32_t asked; /* how often the tuner was asked since the key was opened */
	uint32_t attempts, busy_tries;
	/* all nodes agreed; one refused; one refused only for want of a sample area */
	bool answered, refused, busy;
	uint32_t opened; /* its current recheck; 0: first exploration */
	uint64_t max_turn; /* highest turn in any answer */
	/* when the question was sent, and when all had answered */
	uint64_t asked_ms, answered_ms;
	uint64_t waited_ms; /* since when local ranks wait for the outcome; 0: they do not */
	uint64_t retry_ms; /* earliest time of the next proposal */
	/* our first rank when its turn was first known; open_ms 0: not yet */
	uint64_t open_ms, open_turn, open_calls, open_tasks;
};

struct nt_agree_comm {
	/* agree.c */
	uint64_t id; /* 0: slot unused */
	uint32_t slot, ranks;
	/* first seen; across nodes: first called often enough */
	uint64_t seen_ms;
	uint64_t left_ms; /* when the last local rank had left; 0: not yet */

	/* join.c */
	bool used; /* called often enough to be announced to other nodes */
	uint64_t caps_sent; /* bits of slots whose capabilities were sent */
	bool local; /* all ranks are on this node */
	bool is_coordinator, agreed, rejected;
	bool remembered; /* its id is in used_ids */
	int coordinator_node; /* -1: not known */
	/* coordinator: what is known of each rank */
	struct nt_capabilities *all_caps;
	int *rank_node; /* -1: not seen */
	uint32_t seen;
	/* by node; the coordinator: ranks may be there; others: the coordinator may be there */
	uint8_t *expected;
	bool widened; /* `expected` covers all nodes */

	/* join.c, then tree.c */
	uint32_t *participants,
		participant_count; /* node numbers; coordinator first, once agreed */
	uint32_t node_index; /* of this node among them */

	/* outbox.c: this node takes no more plans, and said so */
	bool refusing;

	/* coordinator.c */
	bool refused; /* some node takes no more plans */
	uint64_t rtt_ms; /* smoothed time from a proposal to the last answer */

	/* participant.c */
	struct nt_agree_key keys[NT_SHM_KEYS];
	uint32_t key_count;
	uint32_t slots; /* keys in shared memory that are known here */
	uint64_t committed_ms; /* when its first key was committed; 0: not yet */

	/* recheck-timer.c */
	uint32_t rechecks; /* the newest one that is due */
	uint64_t looked_ms; /* when logs were last read for them */
};

struct nt_agree_stash {
	uint32_t node;
	uint64_t comm;
	size_t count;
	uint8_t *bytes;
};

/* Packed entries. */
struct nt_agree_buffer {
	uint8_t *bytes;
	size_t count, cap;
};

struct nt_agree {
	struct nt_agree_config config;
	struct nt_agree_comm *comms[NT_SHM_COMMS];
	uint64_t now_ms;
	uint64_t began_ms; /* first call of nt_agree_step() */
	uint8_t *listen; /* by node: enum nt_agree_need */
	bool pending;
	/* outbox.c: entries for the log, and for this node alone */
	struct nt_agree_buffer log, queue;
	size_t log_marked; /* bytes that were handed out and are not durable */
	/* CAPS of communicators that no local rank has joined; a ring */
	struct nt_agree_stash *stash;
	uint32_t stash_next;
	struct nt_used_ids used_ids;
	bool limited; /* no more plans with other nodes */
	struct nt_agree_counts counts;
};

#endif
