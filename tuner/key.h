/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* key.h - what one rank of a communicator knows of one key, in parts by who may write
 *
 * Threads:  each part has one writer, named beside it; tuner/comm.h says who they are. What another
 *           side reads is atomic, and is read by the functions below where an order matters.
 * Memory:   part of the communicator.
 */
#ifndef NT_TUNER_KEY_H
#define NT_TUNER_KEY_H

#include "pmix-sync/rhythm.h"
#include "pmix-sync/turn.h"
#include "tuner/mask.h"
#include "tuner/stall.h"
#include "engine/marker.h"
#include "engine/schedule.h"

#define NT_OBSERVED_MAX 128 /* durations of one key in mode observe */

enum nt_own_state {
	NT_OWN_COUNTED = 0, /* calls are counted */
	NT_OWN_OPEN, /* turns are counted; plans are followed */
	/* Committed, and to be opened at the next call; never stored, see nt_key_state(). */
	NT_OWN_RECHECK,
	NT_OWN_COMMITTED, /* `arm`, without a look at the board */
	NT_OWN_CLOSED, /* AUTO for good */
	NT_OWN_GONE, /* AUTO for good because of a capture; the board is still kept informed */
};

/* Once the key has an id. */
struct nt_key_fixed {
	float cost_us[NT_PAIRS]; /* NCCL's costs at the first call */
	uint8_t auto_arm; /* NCCL's pick at the first call */
	/* Times (nt_board_time()), NULL but in mode observe; the proxy thread fills them. */
	_Atomic uint32_t *observed;
	/* NULL: not on the board. The decision thread sets it, once, at the first call or later. */
	struct nt_board_key *_Atomic shared;
};

/* The decision thread. */
struct nt_key_decision {
	_Atomic uint64_t calls;
	_Atomic uint32_t state; /* enum nt_own_state */
	uint32_t arm; /* of the newest plan for good; before the state becomes COMMITTED */
	_Atomic uint32_t rechecks_taken; /* of those that the helper thread has asked for */
	uint64_t place_calls; /* calls at which a place on the board is tried for again; 0: never */
	uint32_t confirmed; /* calls of the committed arm whose Coll events were looked at */
	bool open; /* counts turns */
	uint64_t told_turn; /* plus 1, of what the board says of its tasks; 0: nothing yet */
	uint64_t measure_group; /* the group in which GPU times were wanted first */
	uint32_t stalled_seen; /* the helper thread's word that was answered */
	_Atomic uint32_t commits; /* plans for good so far */
	uint32_t commit_epoch; /* of the newest */
	uint32_t window_epoch; /* of the newest window, once a plan for good was there */
	_Atomic uint64_t commit_calls; /* calls when it was committed */
	_Atomic uint64_t closed_calls; /* calls when the board had it closed; 0: not yet */
	/* Windows that looked at a committed arm again, returns to AUTO, other arms instead, and
	 * what arms of the past have saved. */
	_Atomic uint32_t rechecks, rollbacks, changes;
	_Atomic int64_t saved_us;
	struct nt_turn turn;
	struct nt_outcome outcome[2]; /* of the newest plan for good: [commits & 1] */
};

/* The thread of the Coll events. */
struct nt_key_events {
	_Atomic uint32_t forced, differed; /* tasks of a forced arm that ran by it, or did not */
	_Atomic uint32_t tasks; /* of the newest decision that was told of whole; 0: none yet */
};

/* The newest start of a measured call of a key. */
struct nt_begun {
	uint32_t owner, epoch, position; /* owner 0: none */
	uint64_t start_ns; /* by the GPU's clock */
};

/* Who holds the communicator's laps (tuner/comm.h). */
struct nt_key_laps {
	struct nt_begun begun;
	_Atomic uint32_t observed; /* durations so far; may pass NT_OBSERVED_MAX */
};

/* The helper thread. */
struct nt_key_helper {
	_Atomic uint32_t rechecks_asked; /* the board had it open for a recheck so often */
	_Atomic uint32_t stalled; /* open for long, and nothing comes of it: in how many rounds */
	bool recheck_open; /* on the board since the newest was asked for */
	struct nt_stall stall;
	struct nt_rhythm rhythm;
	struct nt_marker_place marker;
};

/* Whoever leaves the seat; guarded by the process's lock. What the board said then. */
struct nt_key_kept {
	uint32_t state;
	bool decided;
	struct nt_outcome outcome;
};

struct nt_own_key {
	struct nt_key_fixed fixed;
	struct nt_mask_hold measured; /* the mask's (tuner/mask.h) */
	struct nt_key_decision decision;
	struct nt_key_events events;
	struct nt_key_laps laps;
	struct nt_key_helper helper;
	struct nt_key_kept kept;
};

static inline uint64_t nt_key_calls(const struct nt_own_key *key)
{
	/* A number alone; nothing to pair with. */
	return atomic_load_explicit(&key->decision.calls, memory_order_relaxed);
}

/* Any thread. */
static inline uint32_t nt_key_state(const struct nt_own_key *key)
{
	/* Pairs with the release in nt_key_set_state(): what belongs to the state is there. */
	uint32_t state = atomic_load_explicit(&key->decision.state, memory_order_acquire);

	/* Nothing to pair with: a decision that is told of a recheck looks at the board itself. */
	if (state == NT_OWN_COMMITTED &&
	    atomic_load_explicit(&key->helper.rechecks_asked, memory_order_relaxed) !=
		    atomic_load_explicit(&key->decision.rechecks_taken, memory_order_relaxed))
		return NT_OWN_RECHECK;
	return state;
}

/* Decision thread. A recheck that was asked for is taken up with it. */
static inline void nt_key_set_state(struct nt_own_key *key, enum nt_own_state state)
{
	uint32_t asked = atomic_load_explicit(&key->helper.rechecks_asked, memory_order_relaxed);

	/* First, so that a key that is committed anew does not look like one to be rechecked. */
	atomic_store_explicit(&key->decision.rechecks_taken, asked, memory_order_relaxed);
	/* Pairs with the acquire in nt_key_state(). */
	atomic_store_explicit(&key->decision.state, state, memory_order_release);
}

/* Any thread: plans for good so far. With one or more *outcome is the newest's, if not NULL. */
static inline uint32_t nt_key_commits(const struct nt_own_key *key, struct nt_outcome *outcome)
{
	/* Pairs with the release in nt_commit(). */
	uint32_t commits = atomic_load_explicit(&key->decision.commits, memory_order_acquire);

	if (commits > 0 && outcome)
		*outcome = key->decision.outcome[commits & 1];
	return commits;
}

/* Decision thread: the helper thread has found that nothing comes of this key, and that was not
 * answered yet. */
static inline bool nt_key_stalled(const struct nt_own_key *key)
{
	uint32_t stalled = atomic_load_explicit(&key->helper.stalled, memory_order_relaxed);

	return stalled != 0 && stalled != key->decision.stalled_seen;
}

/* Decision thread: not now; it is asked again in the helper thread's next round. */
static inline void nt_key_answer_stalled(struct nt_own_key *key)
{
	key->decision.stalled_seen = atomic_load_explicit(&key->helper.stalled,
							  memory_order_relaxed);
}

#endif
