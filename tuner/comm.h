/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* comm.h - one rank of one communicator, in parts by who may write
 *
 * Threads:  each part has one writer; the others read what is atomic in it, or have it const:
 *
 *             fixed     NCCL's init thread, under the process's lock, before the first decision
 *             decision  the thread that decides for this communicator, or that makes a call which
 *                       is captured. NCCL runs these one after the other.
 *             launch    the thread that launches what was decided, and then tells of it. Decisions
 *                       and launches of a communicator follow each other, on whatever threads.
 *             events    the thread of the Coll events, normally the one that launches; CUDA's
 *                       callback thread where CUDA graphs are alive
 *             laps      who holds `busy`: NCCL's proxy thread, from 2.31 on its profiler's thread,
 *                       and another one where a communicator's place is used anew
 *             kept      whoever holds the process's lock
 *
 *           The helper thread reads, and writes its part of each key (tuner/key.h).
 * Memory:   objects are never freed before the process ends; the oldest that NCCL has finalized is
 *           used anew where there is no more room. Events of the past carry handles (tuner/slot.h),
 *           not pointers to it.
 * Units:    turns in tasks (contract/board.h); group numbers are this communicator's own.
 */
#ifndef NT_COMM_H
#define NT_COMM_H

#include <pthread.h>
#include "tuner/cap.h"
#include "tuner/ctx.h"
#include "tuner/key.h"
#include "tuner/process.h"

/* Keys of one rank of a communicator: all bands of all collectives, and then some. */
#define NT_OWN_KEYS 512
#define NT_OWN_PLACES 1024 /* by which they are found; a power of two */
#define NT_FIFO 64 /* decisions of one group */
#define NT_LAP_CHANNELS 64 /* MAXCHANNELS since NCCL 2.25 */
/* Published by a rank that will follow no plan of a key any more. */
#define NT_TURN_GONE (UINT64_C(1) << 62)

/* One call of getCollInfo. */
struct nt_call {
	int coll;
	size_t bytes;
	float *cost; /* algos * protos entries; may be changed */
	int algos, protos;
	bool registered;
	int *channels; /* 0 on entry: NCCL's own number; NULL: cannot be changed */
	const float *model; /* the table before a chained tuner; NULL: there is none */
};

/* One decision of the present group, for the Coll events to come. */
struct nt_decision {
	struct nt_own_key *key;
	uint64_t serial; /* of all decisions noted so far; from 1 */
	uint64_t bytes;
	uint8_t coll;
	uint16_t arm;
	bool forced; /* arm is ours, not AUTO's */
	bool measured;
	uint32_t run, owner, epoch, position;
};

/* What Coll events have told of a decision. */
struct nt_match {
	uint64_t serial; /* the decision's; another one: nothing yet */
	uint64_t left_bytes; /* of the decision, for tasks to come */
	uint32_t tasks; /* whose Coll events have come */
	void *slot; /* handle of the measured decision; NULL: none */
};

/* The newest start on one channel, if it was of a measured decision: its time runs until the next
 * start there. */
struct nt_lap {
	const void *coll; /* handle; NULL: none */
	uint64_t start_ns; /* by the GPU's clock */
	uint32_t missed; /* of the laps', when it began */
	bool late; /* the start before this event was older than the lap's */
};

enum nt_half { NT_HALF_PROFILER = 1, NT_HALF_TUNER = 2 };

struct nt_comm_fixed {
	struct nt_process *process;
	struct nt_ctx ctx; /* what NCCL holds where nothing is chained */
	bool seated; /* plans are taken */
	bool chunks; /* NCCL asks for chunk sizes, and some may be tried */
	bool mute_broadcast; /* Broadcast has no Coll events */
	bool last_wins; /* of equal costs NCCL takes the last (2.31) */
	uint32_t allowed; /* pairs that may be tried */
	int tuner_api, profiler_api; /* 0: that half is not there */
	struct nt_seat seat;
	struct nt_board_comm *board; /* NULL: not seated */
	uint64_t id; /* NCCL's hash; 0 unknown */
	int rank; /* -1 unknown */
	uint32_t ranks, nodes;
	uint32_t index; /* in the process's list */
	uint32_t opened; /* order of opening */
	_Atomic uint32_t *observed; /* room for all keys, mode observe only */
	char name[64]; /* the user's, "" if none */
	char why[120]; /* why it has no seat, "" if it has */
	struct nt_card card;
};

struct nt_comm_decision {
	uint32_t open_keys;
	_Atomic uint32_t keys; /* described so far */
	uint32_t fifo_count; /* decisions in fifo[] */
	_Atomic bool frozen; /* a capture was seen: no plan is followed any more */
	bool lost; /* a wait for the home ended without an answer */
	uint32_t losses_seen; /* of the mask's */
	bool blind; /* tasks of this group may have no Coll events */
	_Atomic bool called; /* a call was told of: the next decision begins a group */
	_Atomic bool listening; /* some key is open: decisions are noted */
	_Atomic uintptr_t thread; /* of the newest decision */
	_Atomic uint64_t group;
	uint64_t open_group; /* the group in which the first key was opened */
	_Atomic uint64_t launch_judged; /* the newest launch that was judged here */
	uint64_t launches_left; /* those found left to CUDA's thread */
	uint64_t noted; /* decisions for Coll events, ever */
	struct {
		uint64_t id; /* 0: free */
		uint32_t key;
	} place[NT_OWN_PLACES]; /* by hash of the id */
	_Atomic uint64_t key_id[NT_OWN_KEYS];
	struct nt_decision fifo[NT_FIFO]; /* of this group */
	struct nt_chunks chunks; /* the launch reads */
};

struct nt_comm_launch {
	_Atomic uintptr_t thread; /* of the newest launch */
	_Atomic uint64_t newest; /* launches so far */
	_Atomic uint64_t told; /* the newest whose Group event came on its own thread */
	_Atomic uint64_t left; /* of which the next one showed that theirs did not */
};

struct nt_comm_events {
	struct {
		_Atomic uint64_t turn; /* after the newest Coll event */
		_Atomic uint64_t group; /* when that was; stored after it */
	} func[NT_COLLS];
	_Atomic uint64_t group; /* the newest of these */
	_Atomic uint64_t
		launches_begun; /* of those left to CUDA's thread, whose events have come */
	struct nt_match match[NT_FIFO]; /* of the decision at the same place */
	struct nt_trail trail[NT_COLLS];
};

struct nt_comm_laps {
	_Atomic bool busy; /* a thread is at work here */
	_Atomic uint32_t missed; /* events of others meanwhile */
	struct nt_lap lap[NT_LAP_CHANNELS];
	const void *begun; /* the newest handle that began on any channel */
};

struct nt_comm_kept {
	uint32_t halves; /* enum nt_half: what NCCL has not finalized */
	/* The board's slot is another's by now, or will be. Written with the lock, read by any. */
	_Atomic bool left;
	uint32_t state; /* what the board said when the seat was left */
	char why[120];
	uint32_t flags; /* NT_MEMBER_*, as nt_standing_flags() */
};

struct nt_comm {
	struct nt_comm_fixed fixed;
	struct nt_comm_launch launch;
	struct nt_comm_decision decision;
	struct nt_comm_events events;
	struct nt_comm_laps laps;
	struct nt_comm_kept kept;
	struct nt_own_key key[NT_OWN_KEYS];
};

/* Decision thread: a key starts or ends to count turns, or to be measured. Repetitions are fine. */
void nt_comm_open_key(struct nt_comm *comm, struct nt_own_key *key);
void nt_comm_drop_key(struct nt_comm *comm, struct nt_own_key *key);
void nt_comm_measure_key(struct nt_comm *comm, struct nt_own_key *key, bool on);

/* Raise NT_MEMBER_* for the other ranks to see. Any thread. */
void nt_comm_flag(const struct nt_comm *comm, uint32_t flag);

static inline uintptr_t nt_thread_self(void)
{
	return (uintptr_t)pthread_self();
}

/* Any thread: a capture was seen. */
static inline bool nt_comm_frozen(const struct nt_comm *comm)
{
	/* One program order, or an answer that is wrong in no harmful way; nothing to pair with. */
	return atomic_load_explicit(&comm->decision.frozen, memory_order_relaxed);
}

/* Any thread: how many keys are described. */
static inline unsigned nt_comm_keys(const struct nt_comm *comm)
{
	/* Pairs with the release in add_key() of tuner/decide.c. */
	return atomic_load_explicit(&comm->decision.keys, memory_order_acquire);
}

/* Any thread: the id of a key that is described, 0: there is none. */
static inline uint64_t nt_comm_key_id(const struct nt_comm *comm, unsigned at)
{
	/* Pairs with the release in describe() of tuner/decide.c. */
	return atomic_load_explicit(&comm->decision.key_id[at], memory_order_acquire);
}

/* Event thread: whether decisions are noted. */
static inline bool nt_comm_listening(const struct nt_comm *comm)
{
	/* Pairs with the release in nt_comm_open_key(): the groups before it are over. */
	return atomic_load_explicit(&comm->decision.listening, memory_order_acquire);
}

/* Decision thread: the turn is that of the newest Coll event, known once a whole group has had its
 * events with the mask on. */
static inline bool nt_comm_turn(const struct nt_comm *comm, int coll, uint64_t *turn)
{
	/* Pairs with the release in nt_comm_note_turn(): the turn is at least as new as its group.
	 */
	if (atomic_load_explicit(&comm->events.func[coll].group, memory_order_acquire) <=
	    comm->decision.open_group)
		return false;
	*turn = atomic_load_explicit(&comm->events.func[coll].turn, memory_order_acquire);
	return true;
}

/* Event thread: a Coll event. Calls and decisions of a communicator come before its Coll events:
 * the next decision begins a group. */
static inline void nt_comm_note_turn(struct nt_comm *comm, int coll, uint64_t seq)
{
	uint64_t group = atomic_load_explicit(&comm->decision.group, memory_order_relaxed);

	/* Both pair with acquires in nt_comm_turn(): what was noted of tasks below it is there. */
	atomic_store_explicit(&comm->events.func[coll].turn, seq + 1, memory_order_release);
	atomic_store_explicit(&comm->events.func[coll].group, group, memory_order_release);
	atomic_store_explicit(&comm->events.group, group, memory_order_relaxed);
}

/* Decision or launch thread: the newest launch was not followed by its Group event on its thread,
 * and nobody has judged it yet. */
static inline bool nt_comm_launch_pending(const struct nt_comm *comm)
{
	uint64_t newest = atomic_load_explicit(&comm->launch.newest, memory_order_relaxed);

	return newest != atomic_load_explicit(&comm->launch.told, memory_order_relaxed) &&
	       newest != atomic_load_explicit(&comm->decision.launch_judged, memory_order_relaxed);
}

/* Decision thread: launches were left to CUDA's thread whose Coll events have not come. */
static inline bool nt_comm_events_owed(const struct nt_comm *comm)
{
	/* Pairs with the release in nt_event_group_stop(): the turns of a plan are there when it is
	 * counted. */
	return atomic_load_explicit(&comm->events.launches_begun, memory_order_acquire) <
	       comm->decision.launches_left +
		       atomic_load_explicit(&comm->launch.left, memory_order_relaxed);
}

#endif
