/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - what a node knows of its communicators and their keys; for the agreement's own files
 *
 * Structures only. A member belongs to the file that is named above it; others read it.
 */
#ifndef NT_SYNC_STATE_H
#define NT_SYNC_STATE_H

#include "pmix-sync/hooks.h"
#include "pmix-sync/past.h"
#include "pmix-sync/rhythm.h"

#define NT_GRACE_MS 30 /* ranks of one node are seated within this of each other */
#define NT_STASH_MAX 1024 /* cards that wait for a communicator to be seen here */

enum nt_home_state {
	NT_HOME_IDLE = 0,
	NT_HOME_WANTED, /* waiting for every node's READY */
	NT_HOME_RETRY, /* aborted: propose the same plan again */
	NT_HOME_PROPOSED, /* waiting for every node's ACK */
	NT_HOME_RUNNING, /* an exploration holds: waiting for every node's DATA */
	NT_HOME_DONE,
};

/* Answers to one question, of this node and of those whose answers it passes on (tree.c). All
 * zero: none yet. */
struct nt_agree_tally {
	uint64_t phase;
	uint32_t epoch;
	uint32_t from; /* bit 0: this node, then its children */
	bool refused, told;
	bool busy; /* refused only for want of an exploration area */
	uint64_t turn; /* the highest */
	uint8_t *bytes;
	size_t count;
};

struct nt_agree_key {
	uint64_t id;
	int slot; /* on the board, -1: none of our ranks has called it yet */

	/* member.c */
	bool wanted, ready, closed;
	bool in_doubt; /* ACKed `pending`, outcome not seen */
	bool data_due; /* `installed` is an exploration whose data was not sent yet */
	struct nt_plan pending, installed; /* epoch 0: none */
	uint64_t ready_ms;
	uint64_t passed_ms; /* when all our ranks were seen past `installed`; 0: not yet */
	struct nt_rhythm rhythm; /* calls of all our ranks */
	bool committed; /* committed_plan is in force for good; windows lie over it */
	struct nt_plan committed_plan;

	/* recheck.c, and member.c for what is said */
	bool rechecking; /* open for a recheck */
	bool recheck_ready; /* READY of this recheck was said */
	uint32_t recheck; /* the newest that it was open for */
	uint64_t stir_ms; /* when something of it happened last */

	/* tree.c */
	struct nt_agree_tally tally;
	struct nt_agree_tally recheck_tally; /* READY of rechecks, whose number is its phase */

	/* home.c */
	enum nt_home_state home;
	void *tuner;
	struct nt_plan plan; /* being proposed or running */
	uint32_t asked; /* the tuner was, so often since the key was opened */
	uint32_t attempts, busy_tries;
	/* all said yes; or one said no, for want of an exploration area */
	bool answered, refused, busy;
	uint32_t opened; /* the recheck that it is open for; 0: the first time */
	uint64_t max_turn; /* the highest turn that any answer named */
	/* when the answers were asked for, and when all had come */
	uint64_t asked_ms, answered_ms;
	uint64_t waited_ms; /* since when ranks of home wait for the outcome; 0: none does */
	uint64_t retry_ms; /* no proposal before this */
	/* our first rank, when its turn was first known; ms 0: not */
	uint64_t open_ms, open_turn, open_calls, open_tasks;
};

struct nt_agree_comm {
	/* agree.c */
	uint64_t id; /* 0: slot unused */
	uint32_t slot, ranks;
	/* when it was seen, or, where it has ranks elsewhere, called often enough */
	uint64_t seen_ms;

	/* join.c */
	bool used; /* it was: other nodes are told of it */
	uint64_t carded; /* members whose cards were handed out, a bit each */
	bool local; /* all ranks are on this board */
	bool is_home, agreed, rejected;
	bool remembered; /* its id is among those of the past */
	int home_node; /* -1: not known */
	/* home: what is known of each rank */
	struct nt_card *cards;
	int *rank_node; /* -1: not seen */
	uint32_t seen;
	/* by node, while joining: home may be there; home: ranks may be there */
	uint8_t *expected;
	bool widened; /* ... all nodes */

	/* join.c, then tree.c */
	uint32_t *participants, participant_count; /* nodes; home first once agreed */
	uint32_t place; /* of this node among them */

	/* outbox.c: this node takes no new plan for it, and has said so */
	bool refusing;

	/* home.c */
	bool refused; /* some node takes no new plan */
	uint64_t rtt_ms; /* proposal to last answer, as last measured */

	/* retire.c */
	uint64_t left_ms; /* when the last of our ranks was seen to have left; 0: not yet */

	/* member.c */
	struct nt_agree_key keys[NT_BOARD_KEYS];
	uint32_t key_count;
	uint32_t slots; /* on the board that are known here */
	uint64_t committed_ms; /* when its first key was committed here; 0: not yet */

	/* recheck.c */
	uint32_t rechecks; /* times, since then, at which keys were opened or could have been */
	uint64_t looked_ms; /* when logs were read for rechecks last */
};

struct nt_agree_stash {
	uint32_t node;
	uint64_t comm;
	size_t count;
	uint8_t *bytes;
};

/* Packed entries; grows. */
struct nt_agree_buffer {
	uint8_t *bytes;
	size_t count, cap;
};

struct nt_agree {
	struct nt_agree_config config;
	struct nt_agree_comm *comms[NT_BOARD_COMMS];
	uint64_t now_ms;
	uint64_t began_ms; /* the first step */
	uint8_t *listen; /* by node: enum nt_agree_need */
	bool pending;
	/* outbox.c: for the log; for this node alone */
	struct nt_agree_buffer log, queue;
	size_t log_marked; /* handed out, not durable yet */
	/* cards of communicators that none of our ranks has joined yet; a ring */
	struct nt_agree_stash *stash;
	uint32_t stash_next;
	struct nt_past past;
	bool limited; /* no new plan with other nodes */
	struct nt_agree_counts counts;
};

#endif
