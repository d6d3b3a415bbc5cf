/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* local-key.h - a rank's state of one key, in parts by writer
 *
 * Threads:  each part has one writer, named beside it (tuner/comm.h). What others read is atomic,
 *           with the functions below where the order matters.
 * Memory:   part of the communicator.
 */
#ifndef NT_LOCAL_KEY_H
#define NT_LOCAL_KEY_H

#include "pmix-sync/call-interval.h"
#include "pmix-sync/turn.h"
#include "tuner/mask.h"
#include "tuner/stall.h"
#include "engine/marker.h"
#include "engine/schedule.h"

#define NT_OBSERVED_MAX 128 /* durations kept per key in mode observe */

enum nt_local_state {
	NT_LOCAL_COUNTED = 0, /* only calls are counted */
	NT_LOCAL_OPEN, /* turns are counted, plans are followed */
	/* Committed, to be reopened at the next call; computed by nt_key_state(), never stored. */
	NT_LOCAL_RECHECK,
	NT_LOCAL_COMMITTED, /* `arm` is used without reading shared memory */
	NT_LOCAL_CLOSED, /* the baseline for good */
	/* the baseline for good because of a capture; shared memory is still updated */
	NT_LOCAL_GONE,
};

/* Constant once the key has an id. */
struct nt_key_fixed {
	float cost_us[NT_PAIRS]; /* NCCL's predictions at the first call */
	uint8_t baseline_arm; /* NCCL's choice at the first call */
	/* Times (nt_shm_time()) in mode observe, else NULL; filled by the proxy thread. */
	_Atomic uint32_t *observed;
	uint32_t observed_first; /* calls that mode observe measures at first */
	/* NULL: not in shared memory. Set once by the decision thread, at the first call or
	 * later. */
	struct nt_shm_key *_Atomic shared;
};

/* Written by the decision thread. */
struct nt_key_decision {
	_Atomic uint64_t calls;
	_Atomic uint32_t state; /* enum nt_local_state */
	uint32_t arm; /* of the newest committed plan; set before the state becomes COMMITTED */
	/* rechecks taken up, of those the helper thread asked for */
	_Atomic uint32_t rechecks_taken;
	uint64_t
		/* number of calls at which to try again for room in shared memory; 0: never */
		place_calls;
	uint32_t confirmed; /* calls of the committed arm whose Coll events were checked */
	bool open; /* counts turns */
	uint64_t told_turn; /* turn plus one up to which tasks were published; 0: none */
	uint64_t measure_group; /* group in which GPU times were first wanted */
	uint32_t stalled_seen; /* last value of helper.stalled that was handled */
	_Atomic uint32_t commits; /* number of commits */
	uint32_t commit_epoch; /* of the newest */
	uint32_t window_epoch; /* epoch of the newest window after a commit */
	_Atomic uint64_t commit_calls; /* number of calls at the commit */
	/* number of calls when the key was found closed; 0: not yet */
	_Atomic uint64_t closed_calls;
	/* Recheck windows, returns to the baseline, changes to another arm, and time saved by
	 * earlier arms. */
	_Atomic uint32_t rechecks, rollbacks, changes;
	_Atomic int64_t saved_us;
	struct nt_turn turn;
	struct nt_outcome outcome[2]; /* of the newest committed plan: [commits & 1] */
};

/* Written by the thread of the Coll events. */
struct nt_key_events {
	_Atomic uint32_t forced, differed; /* tasks of a forced arm that used it, or did not */
	_Atomic uint32_t tasks; /* tasks of the newest fully reported decision; 0: none yet */
};

/* Newest start of a measured call of a key. */
struct nt_begun {
	uint32_t owner, epoch, position; /* owner 0: none */
	uint64_t start_ns; /* by the GPU's clock */
};

/* Written by the holder of the communicator's laps (tuner/comm.h). */
struct nt_key_laps {
	struct nt_begun begun;
	_Atomic uint32_t observed; /* number of durations; may exceed NT_OBSERVED_MAX */
};

/* Written by the helper thread. */
struct nt_key_helper {
	_Atomic uint32_t rechecks_asked; /* number of rechecks requested */
	_Atomic uint32_t stalled; /* number of iterations in which it was open without progress */
	bool recheck_open; /* open for the newest requested recheck */
	struct nt_stall stall;
	struct nt_call_interval interval;
	struct nt_marker_place marker;
};

/* Saved when the slot is left; guarded by the process's lock. */
struct nt_key_kept {
	uint32_t state;
	bool decided;
	struct nt_outcome outcome;
};

struct nt_local_key {
	struct nt_key_fixed fixed;
	struct nt_mask_hold measured; /* owned by the mask (tuner/mask.h) */
	struct nt_key_decision decision;
	struct nt_key_events events;
	struct nt_key_laps laps;
	struct nt_key_helper helper;
	struct nt_key_kept kept;
};

static inline uint64_t nt_key_calls(const struct nt_local_key *key)
{
	/* A single number; nothing to pair with. */
	return atomic_load_explicit(&key->decision.calls, memory_order_relaxed);
}

/* Is this call measured in mode observe? The first ones are, and half as many again whenever the
 * number of calls has doubled, so that a job of any length is seen in all its parts. The first call
 * of each such window only switches events on. All ranks call a key equally often, so they measure
 * the same calls. */
static inline bool nt_key_observed_now(const struct nt_local_key *key)
{
	const uint64_t first = key->fixed.observed_first, calls = nt_key_calls(key);

	if (calls < 2 * first)
		return calls <= first + 1;
	return calls - (first << (63 - __builtin_clzll(calls / first))) <= first / 2;
}

/* Any thread. */
static inline uint32_t nt_key_state(const struct nt_local_key *key)
{
	/* Pairs with the release in nt_key_set_state(): what belongs to the state is visible. */
	uint32_t state = atomic_load_explicit(&key->decision.state, memory_order_acquire);

	/* Nothing to pair with: a decision in a recheck reads shared memory itself. */
	if (state == NT_LOCAL_COMMITTED &&
	    atomic_load_explicit(&key->helper.rechecks_asked, memory_order_relaxed) !=
		    atomic_load_explicit(&key->decision.rechecks_taken, memory_order_relaxed))
		return NT_LOCAL_RECHECK;
	return state;
}

/* Decision thread. Also takes up a requested recheck. */
static inline void nt_key_set_state(struct nt_local_key *key, enum nt_local_state state)
{
	uint32_t asked = atomic_load_explicit(&key->helper.rechecks_asked, memory_order_relaxed);

	/* First, so that a newly committed key does not look like one to be rechecked. */
	atomic_store_explicit(&key->decision.rechecks_taken, asked, memory_order_relaxed);
	/* Pairs with the acquire in nt_key_state(). */
	atomic_store_explicit(&key->decision.state, state, memory_order_release);
}

/* Any thread: number of commits. If there are any, *outcome (unless NULL) is the newest. */
static inline uint32_t nt_key_commits(const struct nt_local_key *key, struct nt_outcome *outcome)
{
	/* Pairs with the release in nt_commit(). */
	uint32_t commits = atomic_load_explicit(&key->decision.commits, memory_order_acquire);

	if (commits > 0 && outcome)
		*outcome = key->decision.outcome[commits & 1];
	return commits;
}

/* Decision thread: the helper thread found no progress on this key, and that was not handled
 * yet. */
static inline bool nt_key_stalled(const struct nt_local_key *key)
{
	uint32_t stalled = atomic_load_explicit(&key->helper.stalled, memory_order_relaxed);

	return stalled != 0 && stalled != key->decision.stalled_seen;
}

/* Decision thread: postpone until the helper thread's next iteration. */
static inline void nt_key_answer_stalled(struct nt_local_key *key)
{
	key->decision.stalled_seen = atomic_load_explicit(&key->helper.stalled,
							  memory_order_relaxed);
}

#endif
