/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* local-key.h - a rank's state of one key, in parts by writer
 *
 * Threads:  each part has one writer, named at it (tuner/comm.h). What others read is atomic, with
 *           the functions below where the order matters.
 * Memory:   part of the communicator.
 */
#ifndef NT_LOCAL_KEY_H
#define NT_LOCAL_KEY_H

#include "pmix-sync/call-interval.h"
#include "pmix-sync/turn.h"
#include "tuner/mask.h"
#include "engine/schedule.h"

#define NT_OBSERVED_MAX 128 /* a key's durations in mode observe */

enum nt_local_state {
	NT_LOCAL_COUNTED = 0, /* calls are counted, no more */
	NT_LOCAL_OPEN, /* turns are counted, plans followed */
	/* Committed, to be reopened at the next call. Never stored: see nt_key_state(). */
	NT_LOCAL_RECHECK,
	NT_LOCAL_COMMITTED, /* `arm` is used; shared memory is not read */
	NT_LOCAL_CLOSED, /* the baseline for good */
	/* ... because of a capture; shared memory is still updated */
	NT_LOCAL_GONE,
};

/* Constant once the key has an id */
struct nt_key_fixed {
	float cost_us[NT_PAIRS]; /* NCCL's predictions at the first call */
	uint8_t baseline_arm; /* NCCL's choice at the first call */
	/* nt_shm_time() of mode observe, by the proxy thread; else NULL. */
	_Atomic uint32_t *observed;
	/* Of mode observe: calls that it measures first, and NCCL's prediction of one */
	uint32_t observed_first;
	float observed_us;
	/* NULL: not in shared memory. The decision thread sets it once, at the first call or
	 * later. */
	struct nt_shm_key *_Atomic shared;
};

/* By the decision thread */
struct nt_key_decision {
	_Atomic uint64_t calls;
	_Atomic uint32_t state; /* enum nt_local_state */
	uint32_t arm; /* of the newest committed plan; set before the state */
	/* rechecks taken up, of those that the helper thread asked for */
	_Atomic uint32_t rechecks_taken;
	/* calls at which to look for a free slot in shared memory again; 0: never */
	uint64_t slot_calls;
	uint32_t confirmed; /* calls of the committed arm whose Coll events were checked */
	bool open; /* turns are counted */
	/* Calls that mode observe measures next */
	uint64_t observe_from, observe_until;
	/* plus 1: tasks were published up to it; 0: none were since events are on */
	uint64_t told_turn;
	uint64_t told_calls; /* ... and calls at that time; 0: none were since the key was opened */
	uint64_t measure_group; /* in which GPU times were first wanted */
	uint32_t stalled_seen; /* helper.stalled when it was last handled */
	_Atomic uint32_t commits;
	uint32_t commit_epoch; /* of the newest */
	uint32_t window_epoch; /* of the newest window after a commit */
	_Atomic uint64_t commit_calls; /* calls at the commit */
	/* calls when the key was found closed; 0: not yet */
	_Atomic uint64_t closed_calls;
	/* Windows of rechecks, returns to the baseline, changes of arm, and time saved by earlier
	 * arms */
	_Atomic uint32_t rechecks, rollbacks, changes;
	_Atomic int64_t saved_us;
	struct nt_turn turn;
	struct nt_outcome outcome[2]; /* of the newest committed plan: [commits & 1] */
};

/* By the thread of the Coll events */
struct nt_key_events {
	_Atomic uint32_t forced, differed; /* a forced arm's tasks that used it, or did not */
	_Atomic uint32_t tasks; /* of the newest decision that was fully told; 0: none yet */
};

/* The newest start of a key's measured call */
struct nt_begun {
	uint32_t owner, epoch, position; /* owner 0: none */
	uint64_t start_ns; /* by the GPU's clock */
};

/* By the holder of the communicator's laps (tuner/comm.h) */
struct nt_key_laps {
	struct nt_begun begun;
	_Atomic uint32_t observed; /* durations; may exceed NT_OBSERVED_MAX */
};

/* Notices an open key without progress: its coordinator, or another node, is gone. That is a key
 * that is open for long, by the clock and by its own calls, without a new plan or a measured
 * window. A key that is called every ten seconds may take its time. All 0: not started */
struct nt_stall {
	bool begun;
	uint32_t epoch; /* of the newest plan */
	uint64_t since_ms, since_calls;
};

#define NT_STALL_MS 180000u
#define NT_STALL_CALLS 64u

/* By the helper thread */
struct nt_key_helper {
	_Atomic uint32_t rechecks_asked; /* number of rechecks */
	_Atomic uint32_t stalled; /* passes of the thread in which it was open without progress */
	bool recheck_open; /* for the newest recheck that was asked for */
	struct nt_stall stall;
	struct nt_call_interval interval;
};

/* Kept when the slot is left; under the process's lock */
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

/* Mode observe measures the first calls and, whenever their number has doubled, a quarter as many
 * again, so that every part of a long job is seen. Each such window's first call only switches
 * events on. Ranks call a key equally often, so they measure the same calls. False: not yet. */
static inline bool nt_key_observed_now(const struct nt_local_key *key)
{
	return nt_key_calls(key) >= key->decision.observe_from;
}

/* True: this call is beyond the window. Go on to the next one. */
static inline bool nt_key_observed(struct nt_local_key *key)
{
	const uint64_t first = key->fixed.observed_first, calls = nt_key_calls(key);
	struct nt_key_decision *d = &key->decision;

	if (calls <= d->observe_until)
		return false;
	while (calls > d->observe_until) {
		d->observe_from = d->observe_from ? 2 * d->observe_from : 2 * first;
		d->observe_until = d->observe_from + first / 4;
	}
	return calls < d->observe_from;
}

/* Any thread */
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

/* Decision thread. Takes up a recheck that was asked for. */
static inline void nt_key_set_state(struct nt_local_key *key, enum nt_local_state state)
{
	uint32_t asked = atomic_load_explicit(&key->helper.rechecks_asked, memory_order_relaxed);

	/* First: else a key just committed would look like one to be rechecked. */
	atomic_store_explicit(&key->decision.rechecks_taken, asked, memory_order_relaxed);
	/* Pairs with the acquire in nt_key_state(). */
	atomic_store_explicit(&key->decision.state, state, memory_order_release);
}

/* Any thread: number of commits. If there are any, *outcome (unless NULL) is the newest. */
static inline uint32_t nt_key_commits(const struct nt_local_key *key, struct nt_outcome *outcome)
{
	/* Pairs with the release in commit(), tuner/apply-plan.c. */
	uint32_t commits = atomic_load_explicit(&key->decision.commits, memory_order_acquire);

	if (commits > 0 && outcome)
		*outcome = key->decision.outcome[commits & 1];
	return commits;
}

/* Helper thread, with an open key's present state. moves: a window of it is being measured. True:
 * it makes no progress. */
static inline bool nt_stall_see(struct nt_stall *stall, uint32_t epoch, bool moves, uint64_t calls,
				uint64_t now_ms)
{
	if (!stall->begun || moves || epoch != stall->epoch)
		*stall = (struct nt_stall){ true, epoch, now_ms, calls };
	return now_ms - stall->since_ms >= NT_STALL_MS &&
	       calls - stall->since_calls >= NT_STALL_CALLS;
}

/* Decision thread: the helper thread found no progress, and that is not handled yet. */
static inline bool nt_key_stalled(const struct nt_local_key *key)
{
	uint32_t stalled = atomic_load_explicit(&key->helper.stalled, memory_order_relaxed);

	return stalled != 0 && stalled != key->decision.stalled_seen;
}

/* Decision thread: it is handled, until the helper thread looks again. */
static inline void nt_key_answer_stalled(struct nt_local_key *key)
{
	key->decision.stalled_seen = atomic_load_explicit(&key->helper.stalled,
							  memory_order_relaxed);
}

#endif
