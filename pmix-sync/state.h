/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - what the parts of the agreement (agree.c, join.c, member.c, home.c) share; nobody
 * else includes it */
#ifndef NT_SYNC_STATE_H
#define NT_SYNC_STATE_H

#include "pmix-sync/agree.h"
#include "pmix-sync/board.h"
#include "pmix-sync/entry.h"

#define NT_OPEN_CALLS 8 /* calls of an open key before its stride is known well enough */
#define NT_SETTLE_MS 1000 /* how long late GPU times are waited for after a window */
#define NT_ATTEMPTS 10 /* proposals of one plan before the key is left alone */
#define NT_GRACE_MS 30 /* ranks of one node are seated within this of each other */
#define NT_DECIDE_MS 2000 /* at least this long a proposal waits for its answers */
#define NT_TREE_WIDTH 8u /* nodes whose answers one node adds up */
#define NT_LEFT_MS 100 /* a communicator's place is kept this long after its last rank has left */
#define NT_ACTIVE_MS 10000 /* a key that was not called for this long has nothing to tell */
#define NT_READY_MS 30000 /* by so much another node may be later than home to know its turns */
#define NT_BUSY_MS 500 /* first wait for an exploration area, doubled each time */
#define NT_BUSY_TRIES 8
#define NT_AGAIN_MS 10000 /* a key that is open again rests after so long without a word */
#define NT_AGAIN_LEAD_MS 1000 /* what a proposal then takes, at least: logs are read rarely */
#define NT_AGAIN_ATTEMPTS 4
#define NT_LOOK_MS 500 /* between two reads of a log for such keys */
#define NT_LOOKS_A_DAY 200u /* ... and how many of them */
#define NT_DAY_MS 86400000u

enum home_state {
	HOME_IDLE = 0,
	HOME_WANTED, /* waiting for every node's READY */
	HOME_RETRY, /* aborted: propose the same plan again */
	HOME_PROPOSED, /* waiting for every node's ACK */
	HOME_RUNNING, /* an exploration holds: waiting for every node's DATA */
	HOME_DONE,
};

/* Answers to one question, of this node and of those whose answers it passes on (tree.c). All
 * zero: none yet. */
struct agree_tally {
	uint64_t phase;
	uint32_t epoch;
	uint32_t from; /* bit 0: this node, then its children */
	bool refused, told;
	bool busy; /* refused only for want of an exploration area */
	uint64_t turn; /* the highest */
	uint8_t *bytes;
	size_t count;
};

struct agree_key {
	uint64_t id;
	int slot; /* on the board, -1: none of our ranks has called it yet */
	/* as a member */
	bool wanted, ready, closed;
	bool in_doubt; /* ACKed `pending`, outcome not seen */
	bool data_due; /* `installed` is an exploration whose data was not sent yet */
	struct nt_plan pending, installed; /* epoch 0: none */
	uint64_t ready_ms;
	uint64_t passed_ms; /* when all our ranks were seen past `installed`; 0: not yet */
	uint64_t calls, called_ms; /* of all our ranks, and when that last changed */
	struct agree_tally tally;
	bool based; /* a plan for good is in force, `base`; windows lie over it */
	bool again; /* open once more */
	bool again_ready; /* READY of this session was said */
	struct nt_plan base;
	uint32_t session; /* the newest in which it was open again */
	uint64_t stir_ms; /* when something of it happened last */
	struct agree_tally again_tally; /* READY of sessions, whose number is its phase */
	/* as home */
	enum home_state home;
	void *tuner;
	struct nt_plan plan; /* being proposed or running */
	uint32_t attempts, busy_tries;
	/* all said yes; or one said no, for want of an exploration area */
	bool answered, refused, busy;
	uint32_t opened; /* the session that it is open for; 0: the first time */
	uint64_t max_turn; /* the highest turn that any answer named */
	uint64_t asked_ms; /* when the answers were asked for */
	uint64_t retry_ms; /* no proposal before this */
	/* our first rank, when its turn was first known; ms 0: not */
	uint64_t open_ms, open_turn, open_calls;
};

struct agree_comm {
	uint64_t id; /* 0: slot unused */
	uint32_t slot, ranks;
	/* when it was seen, or, where it has ranks elsewhere, called often enough */
	uint64_t seen_ms;
	bool used; /* it was: other nodes are told of it */
	uint32_t carded; /* members whose cards were handed out, a bit each */
	bool local; /* all ranks are on this board */
	bool is_home, agreed, rejected;
	bool refusing; /* this node takes no new plan for it, and has said so */
	bool refused; /* home: some node takes no new plan */
	bool remembered; /* its id is among those of the past */
	uint64_t left_ms; /* when the last of our ranks was seen to have left; 0: not yet */
	int home_node; /* -1: not known */
	uint64_t rtt_ms; /* home: proposal to last answer, as last measured */
	/* home: what is known of each rank */
	struct nt_card *cards;
	int *rank_node; /* -1: not seen */
	uint32_t seen;
	/* by node, while joining: home may be there; home: ranks may be there */
	uint8_t *expected;
	bool widened; /* ... all nodes */
	uint32_t *participants, participant_count; /* nodes; home first once agreed */
	uint32_t place; /* of this node among them */
	struct agree_key keys[NT_BOARD_KEYS];
	uint32_t key_count;
	uint64_t settled_ms; /* when a plan for good came to this node first; 0: not yet */
	uint32_t sessions; /* after that, in which keys were open again, or could have been */
	uint64_t looked_ms; /* when logs were read for such keys last */
};

struct stash {
	uint32_t node;
	uint64_t comm;
	size_t count;
	uint8_t *bytes;
};

#define NT_STASH_MAX 1024

/* Ids that this node has spoken of. All zero: none. */
struct agree_past {
	uint64_t *id; /* 0: free */
	uint32_t cap, count;
};

struct nt_agree {
	struct nt_agree_config config;
	struct agree_comm *comms[NT_BOARD_COMMS];
	uint64_t now_ms;
	uint8_t *listen; /* by node */
	bool pending;
	uint8_t *out; /* for the log */
	size_t out_count, out_cap, out_marked;
	uint8_t *queue; /* for this node alone */
	size_t queue_count, queue_cap;
	/* cards of communicators that none of our ranks has joined yet; a ring */
	struct stash *stash;
	uint32_t stash_next;
	struct agree_past past;
	bool thrifty;
	uint64_t began_ms; /* the first step */
	uint32_t looks; /* reads for keys that were open again */
	struct nt_agree_counts counts;
};

/* agree.c */
void agree_emit(struct nt_agree *a, struct agree_comm *comm, const struct nt_entry *entry);
struct nt_board_comm *agree_board(struct nt_agree *a, const struct agree_comm *comm);
struct nt_board_key *agree_board_key(struct nt_agree *a, const struct agree_comm *comm,
				     const struct agree_key *key);
/* NULL where there is no room */
struct agree_key *agree_key_of(struct agree_comm *comm, uint64_t id);
bool agree_seated(const struct nt_board_comm *board, uint32_t member); /* joined and not left */
/* + 1; 0: none known */
uint64_t agree_top_turn(struct nt_board_key *key, const struct nt_board_comm *board);
void agree_comm_free(struct agree_comm *comm, const struct nt_agree_hooks *hooks);

/* retire.c */
bool past_knows(const struct agree_past *past, uint64_t id);
bool past_add(struct agree_past *past, uint64_t id); /* false: no room */
/* true: its slot is another's now; free it */
bool retire_comm(struct nt_agree *a, struct agree_comm *comm);

/* tree.c */
void tree_sort(struct agree_comm *comm);
/* -1: we or home do not take part */
int tree_make(struct nt_agree *a, struct agree_comm *comm, uint32_t home);
uint32_t tree_children(const struct agree_comm *comm, const uint32_t **first);
bool tree_is_child(const struct nt_agree *a, const struct agree_comm *comm, uint32_t node);
void tree_reset(struct agree_tally *tally);
void tree_answer(struct nt_agree *a, struct agree_comm *comm, struct agree_key *key, uint32_t node,
		 const struct nt_entry *entry);

/* join.c */
void join_step(struct nt_agree *a, struct agree_comm *comm);
void join_cards(struct nt_agree *a, struct agree_comm *comm, uint32_t node,
		const struct nt_entry *entry);
void join_verdict(struct nt_agree *a, struct agree_comm *comm, uint32_t node,
		  const struct nt_entry *entry);

/* member.c */
void member_step(struct nt_agree *a, struct agree_comm *comm);
void member_entry(struct nt_agree *a, struct agree_comm *comm, const struct nt_entry *entry);
void member_refuse(struct nt_agree *a, struct agree_comm *comm, const char *why);

/* again.c */
void again_begin(struct nt_agree *a, struct agree_comm *comm); /* the keys of which it is time */
void again_rest(struct nt_agree *a, struct agree_comm *comm, struct agree_key *key);
/* true: say READY */
bool again_step(struct nt_agree *a, struct agree_comm *comm, struct agree_key *key);
bool again_listens(const struct agree_key *key);
bool again_looks(struct nt_agree *a, struct agree_comm *comm); /* it is time to read logs */

/* pending.c */
void pending_note(struct nt_agree *a, struct agree_comm *comm);

/* home.c */
void home_step(struct nt_agree *a, struct agree_comm *comm);
void home_answer(struct nt_agree *a, struct agree_key *key, const struct nt_entry *sum);
void home_leave(struct nt_agree *a, struct agree_comm *comm);

#endif
