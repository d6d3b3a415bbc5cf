/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* comm.h - one rank of one communicator, in parts by writer
 *
 * Threads:  each part has one writer. Others read its atomics, or get the part const.
 *
 *             fixed     NCCL's init thread, under the process's lock, before the first decision
 *             decision  the thread that decides for this communicator, or makes a captured call.
 *                       NCCL runs these one after the other. The helper thread, when it ends what
 *                       was not called for long (tuner/rest.h): whoever holds `taken` may open and
 *                       drop keys.
 *             launch    the thread that launches what was decided, and then reports it. Decisions
 *                       and launches of a communicator alternate, on whatever threads.
 *             events    the thread of the Coll events: normally the launching one, CUDA's callback
 *                       thread where CUDA graphs are alive
 *             laps      whoever holds `busy`: NCCL's proxy thread, from 2.31 on its profiler
 *                       thread, and another one where a communicator object is reused
 *             kept      whoever holds the process's lock
 *
 *           The helper thread reads, and writes its part of each key (tuner/local-key.h).
 * Memory:   objects live as long as the process. Where there is no more room, the oldest one that
 *           NCCL has finalized is reused; so old events carry handles (tuner/event-slot.h), not
 *           pointers.
 * Units:    turns in tasks (contract/shm-layout.h); group numbers count on this communicator only.
 */
#ifndef NT_COMM_H
#define NT_COMM_H

#include <pthread.h>
#include <sched.h>
#include "tuner/kept-calls.h"
#include "tuner/local-key.h"
#include "tuner/p2p.h"
#include "tuner/process.h"

/* all bands of all collectives, and some more */
#define NT_LOCAL_KEYS 512
#define NT_LOCAL_TABLE 1024 /* of the hash table; a power of two */
#define NT_FIFO 64 /* decisions of one group */
#define NT_LAP_CHANNELS 64 /* MAXCHANNELS since NCCL 2.25 */
/* Published as its turn by a rank that will follow no more plans of a key */
#define NT_TURN_GONE (UINT64_C(1) << 62)

struct nt_comm;

/* NCCL's context of a communicator: ours, and a chained plugin's. An init sets it; then it is
 * constant, except `told`, which any thread may read. Never freed, since events may come after
 * everything else. Where nothing is chained it is part of the communicator, and both halves share
 * it. */
struct nt_ctx {
	struct nt_comm *ours; /* NULL: none */
	void *theirs; /* what the chained plugin's init set; may be NULL */
	/* The chained plugin's init succeeded, and it is not finalized yet. */
	_Atomic bool told;
	bool direct; /* NCCL's event mask is the chained plugin's own */
};

static inline bool nt_ctx_told(const struct nt_ctx *ctx)
{
	/* Set before NCCL has the context; cleared when it makes no more calls with it. */
	return __builtin_expect(atomic_load_explicit(&ctx->told, memory_order_relaxed), 0);
}

/* One call of getCollInfo */
struct nt_call {
	int coll;
	size_t bytes;
	float *cost; /* algos * protos entries, to be modified */
	int algos, protos;
	bool registered;
	int *channels; /* 0 on entry: NCCL's number; NULL: it cannot be changed */
	const float *model; /* the table before a chained tuner; NULL: there is none */
};

/* A decision of the current group; Coll events are matched with it. */
struct nt_decision {
	struct nt_local_key *key;
	uint64_t serial; /* counts noted decisions, from 1 */
	uint64_t number; /* of the call, from 1 (tuner/call-counts.h) */
	uint64_t bytes;
	uint8_t coll;
	uint16_t arm;
	bool forced; /* we forced the arm */
	bool measured;
	uint32_t run, owner, epoch, position;
};

/* What Coll events have told of a decision */
struct nt_match {
	uint64_t serial; /* the decision's; another one: nothing was told yet */
	uint64_t left_bytes; /* bytes that were not told yet */
	uint32_t tasks; /* tasks that were told */
	void *slot; /* handle of a measured decision; NULL: none */
};

/* The newest start on a channel, if a measured decision's: its time ends at the next start
 * there. */
struct nt_lap {
	const void *coll; /* handle; NULL: none */
	uint64_t start_ns; /* by the GPU's clock */
	uint32_t missed; /* laps.missed when it began */
	bool late; /* the start event before was older than the lap's */
};

enum nt_half { NT_HALF_PROFILER = 1, NT_HALF_TUNER = 2 };

struct nt_comm_fixed {
	struct nt_process *process;
	struct nt_ctx ctx; /* NCCL's context where nothing is chained */
	bool joined; /* has a slot, and takes plans */
	bool mute_broadcast; /* no Coll events of Broadcast */
	bool last_wins; /* of equal costs NCCL takes the last (2.31) */
	uint32_t allowed; /* the pairs that may be forced */
	int tuner_api, profiler_api; /* 0: this half is not loaded */
	struct nt_slot slot;
	struct nt_shm_comm *shm; /* NULL: not joined */
	struct nt_calls_comm *calls; /* NULL: calls are not told */
	uint64_t id; /* NCCL's hash; 0: unknown */
	int rank; /* -1: unknown */
	uint32_t ranks, nodes;
	uint32_t index; /* in the process's list */
	uint32_t opened; /* counts openings in the process, from 1 */
	_Atomic uint32_t *observed; /* of all keys; only in mode observe */
	char name[64]; /* the user's name for it, or "" */
	struct nt_reason why; /* why it has no slot */
	struct nt_capabilities caps;
};

struct nt_comm_decision {
	_Atomic bool taken; /* a thread follows plans, or ends holds */
	_Atomic uint32_t open_keys;
	_Atomic uint32_t keys; /* that are described */
	uint32_t fifo_count; /* decisions in fifo[] */
	_Atomic bool frozen; /* a capture was seen: no more plans */
	bool lost; /* a wait for the coordinator has timed out */
	uint32_t losses_seen; /* the mask's losses at the last look */
	bool blind; /* tasks of this group may lack Coll events */
	_Atomic bool called; /* a call was told: the next decision begins a group */
	_Atomic bool listening; /* a key is open: decisions are noted */
	_Atomic uintptr_t thread; /* of the newest decision */
	_Atomic uint64_t group;
	uint64_t open_group; /* in which the first key was opened */
	_Atomic uint64_t launch_judged; /* the newest launch that was judged */
	uint64_t launches_left; /* launches found to be left to CUDA's thread */
	uint64_t noted; /* decisions so far */
	struct {
		uint64_t id; /* 0: free */
		uint32_t key;
	} table[NT_LOCAL_TABLE]; /* a hash table by id */
	_Atomic uint64_t key_id[NT_LOCAL_KEYS];
	struct nt_decision fifo[NT_FIFO]; /* of this group */
};

struct nt_comm_launch {
	_Atomic uintptr_t thread; /* of the newest launch */
	_Atomic uint64_t newest; /* number of launches */
	_Atomic uint64_t told; /* the newest launch whose Group event came on its own thread */
	_Atomic uint64_t left; /* launches whose Group event was missing when the next one came */
};

struct nt_comm_events {
	struct {
		_Atomic uint64_t turn; /* after the newest Coll event */
		_Atomic uint64_t group; /* of the newest Coll event; stored after `turn` */
		_Atomic uint64_t symmetric; /* of the newest symmetric kernel; 0: none */
	} func[NT_COLLS];
	_Atomic uint64_t group; /* the newest one of all functions */
	_Atomic uint64_t launches_begun; /* launches left to CUDA's thread whose events have come */
	struct nt_match match[NT_FIFO]; /* of the decision at the same index of fifo[] */
	struct nt_task_log task_log[NT_COLLS];
};

struct nt_comm_laps {
	_Atomic bool timed; /* a GPU time has come (tuner/gpu-times.h) */
	_Atomic bool busy; /* a thread is in this part */
	_Atomic uint32_t missed; /* events that were dropped for that */
	struct nt_lap lap[NT_LAP_CHANNELS];
	const void *begun; /* the handle that began last, on any channel */
	struct nt_kept_calls kept;
};

struct nt_comm_kept {
	uint32_t halves; /* enum nt_half: those that NCCL has not finalized */
	/* The slot may be another communicator's. Written with the lock held, read by any
	 * thread. */
	_Atomic bool left;
	uint32_t state; /* when the slot was left */
	struct nt_reason why; /* why it was rejected */
	uint32_t flags; /* of nt_comm_status_flags() */
	uint32_t risks; /* of nt_comm_status_risks() */
	struct nt_calls_seen calls;
};

struct nt_comm {
	struct nt_comm_fixed fixed;
	struct nt_comm_launch launch;
	struct nt_comm_decision decision;
	struct nt_comm_events events;
	struct nt_comm_laps laps;
	struct nt_comm_kept kept;
	struct nt_p2p p2p; /* has parts of its own */
	struct nt_local_key key[NT_LOCAL_KEYS];
};

/* Decision thread: count the key's turns from here on, or no more. Idempotent. */
void nt_comm_open_key(struct nt_comm *comm, struct nt_local_key *key);
void nt_comm_drop_key(struct nt_comm *comm, struct nt_local_key *key);
void nt_comm_measure_key(struct nt_comm *comm, struct nt_local_key *key, bool on);

/* Any thread: set NT_PARTICIPANT_* where other ranks see it. */
void nt_comm_flag(const struct nt_comm *comm, uint32_t flag);

/* Any thread: keys that are open. Changed by the holder of `taken`; nothing to pair with. */
static inline uint32_t nt_comm_open_keys(const struct nt_comm *comm)
{
	return atomic_load_explicit(&comm->decision.open_keys, memory_order_relaxed);
}

/* False: another thread has it. */
static inline bool nt_comm_try_take(struct nt_comm *comm)
{
	/* Pairs with the release in nt_comm_untake(). */
	return !atomic_exchange_explicit(&comm->decision.taken, true, memory_order_acquire);
}

/* The helper thread has it for some instructions at a time, of communicators without calls. */
static inline void nt_comm_take(struct nt_comm *comm)
{
	while (!nt_comm_try_take(comm))
		sched_yield();
}

static inline void nt_comm_untake(struct nt_comm *comm)
{
	atomic_store_explicit(&comm->decision.taken, false, memory_order_release);
}

static inline uintptr_t nt_thread_self(void)
{
	return (uintptr_t)pthread_self();
}

/* Any thread: was a capture seen? */
static inline bool nt_comm_frozen(const struct nt_comm *comm)
{
	/* The same thread, or one that a stale answer does not harm; nothing to pair with. */
	return atomic_load_explicit(&comm->decision.frozen, memory_order_relaxed);
}

/* Any thread: keys that are described */
static inline unsigned nt_comm_keys(const struct nt_comm *comm)
{
	/* Pairs with the release in add_key() of tuner/decide.c. */
	return atomic_load_explicit(&comm->decision.keys, memory_order_acquire);
}

/* Any thread. 0: none. */
static inline uint64_t nt_comm_key_id(const struct nt_comm *comm, unsigned at)
{
	/* Pairs with the release in describe() of tuner/decide.c. */
	return atomic_load_explicit(&comm->decision.key_id[at], memory_order_acquire);
}

/* Event thread: are decisions noted? */
static inline bool nt_comm_listening(const struct nt_comm *comm)
{
	/* Pairs with the release in nt_comm_open_key(): earlier groups are over. */
	return atomic_load_explicit(&comm->decision.listening, memory_order_acquire);
}

/* Decision thread: the turn after the newest Coll event. It is known once a whole group has had its
 * events with the mask on. */
static inline bool nt_comm_turn(const struct nt_comm *comm, int coll, uint64_t *turn)
{
	/* Pairs with the release in nt_comm_note_turn(): the turn is at least as new as the
	 * group. */
	if (atomic_load_explicit(&comm->events.func[coll].group, memory_order_acquire) <=
	    comm->decision.open_group)
		return false;
	*turn = atomic_load_explicit(&comm->events.func[coll].turn, memory_order_acquire);
	return true;
}

/* Event thread: a Coll event. It comes after its group's calls and decisions: the next decision
 * begins a group. */
static inline void nt_comm_note_turn(struct nt_comm *comm, int coll, uint64_t seq)
{
	uint64_t group = atomic_load_explicit(&comm->decision.group, memory_order_relaxed);

	/* Both pair with acquires in nt_comm_turn(): below the turn, the task log is complete. */
	atomic_store_explicit(&comm->events.func[coll].turn, seq + 1, memory_order_release);
	atomic_store_explicit(&comm->events.func[coll].group, group, memory_order_release);
	atomic_store_explicit(&comm->events.group, group, memory_order_relaxed);
}

/* Decision or launch thread: the newest launch had no Group event on its thread, and is not judged
 * yet. */
static inline bool nt_comm_launch_pending(const struct nt_comm *comm)
{
	uint64_t newest = atomic_load_explicit(&comm->launch.newest, memory_order_relaxed);

	return newest != atomic_load_explicit(&comm->launch.told, memory_order_relaxed) &&
	       newest != atomic_load_explicit(&comm->decision.launch_judged, memory_order_relaxed);
}

/* Decision thread: launches were left to CUDA's thread, and their Coll events are still to come. */
static inline bool nt_comm_events_owed(const struct nt_comm *comm)
{
	/* Pairs with the release in nt_event_group_stop(): a counted plan has published its
	 * turns. */
	return atomic_load_explicit(&comm->events.launches_begun, memory_order_acquire) <
	       comm->decision.launches_left +
		       atomic_load_explicit(&comm->launch.left, memory_order_relaxed);
}

#endif
