/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* comm.h - one rank of one communicator: where the tuner's and the profiler's context meet
 *
 * NCCL initialises the profiler, then the tuner, on one thread (init.cc:1251, :1352 @v2.28.9-1);
 * only the profiler is told the rank, and up to v4 only it is told the communicator's hash. So the
 * profiler's init leaves the object where the tuner's init of the same thread finds it.
 *
 * Threads:  open and close on NCCL's init and destroy threads. "decision" below is the thread that
 *           decides for this communicator, one at a time; "event" the thread of its Coll events,
 *           normally the same; "helper" ours. A member without a name beside it is fixed once the
 *           communicator is open.
 * Memory:   objects are never freed before the session ends; the oldest that NCCL has finalized is
 *           used anew where there is no more room. Events of the past carry handles (tuner/slot.h),
 *           not pointers to it.
 * Errors:   open: NULL where there is no room: NCCL runs that communicator as without us.
 * Units:    turns in tasks (contract/board.h); group numbers are this communicator's own.
 */
#ifndef NT_COMM_H
#define NT_COMM_H

#include <pthread.h>
#include "engine/schedule.h"
#include "pmix-sync/turn.h"
#include "tuner/session.h"

#define NT_OWN_KEYS 64 /* keys of one rank of a communicator; a power of two */
#define NT_FIFO 64 /* decisions of one group */
#define NT_OBSERVED_MAX 128 /* durations of one key in mode observe */
#define NT_CONFIRM_CALLS 16 /* calls of a committed arm whose Coll events are still looked at */
#define NT_MEASURE_AHEAD 4 /* positions before a window at which GPU times are switched on */
/* Published by a rank that will follow no plan of a key any more. */
#define NT_TURN_GONE (UINT64_C(1) << 62)

enum nt_own_state {
	NT_OWN_COUNTED = 0, /* calls are counted */
	NT_OWN_OPEN, /* turns are counted; plans are followed */
	NT_OWN_AGAIN, /* `arm`; to be opened once more at the next call */
	NT_OWN_LATCHED, /* `arm`, without a look at the board */
	NT_OWN_CLOSED, /* AUTO for good */
	NT_OWN_GONE, /* AUTO for good because of a capture; the board is still kept informed */
};

/* The newest start of a measured call of a key. */
struct nt_begun {
	uint32_t owner, epoch, position; /* owner 0: none */
	uint64_t start_ns; /* by the GPU's clock */
};

/* What this rank knows of one key. Without a name beside it: decision. */
struct nt_own_key {
	_Atomic uint64_t calls; /* decision; helper reads */
	_Atomic uint32_t state; /* decision; helper: from LATCHED to AGAIN. enum nt_own_state */
	uint32_t arm; /* of the newest plan for good; before state becomes LATCHED */
	struct nt_board_key *shared; /* fixed; NULL: not on the board */
	bool open; /* holds a count of the mask */
	_Atomic bool measuring; /* holds a count of the mask; decision raises, helper may drop */
	uint64_t measure_group; /* the group in which it was raised */
	uint32_t confirmed;
	struct nt_turn turn;
	/* decision; helper reads: calls when the arm was latched */
	_Atomic uint64_t latched_calls;
	_Atomic uint32_t forced, differed; /* event; helper reads */
	struct nt_begun begun; /* proxy */
	_Atomic uint32_t observed; /* proxy: durations so far; may pass NT_OBSERVED_MAX */
	_Atomic uint32_t *observed_ns; /* proxy; fixed; NULL but in mode observe */
	struct nt_outcome outcome[2]; /* of the newest plan for good: [settled & 1] */
	_Atomic uint32_t settled; /* decision; helper reads: plans for good so far */
	uint32_t settled_epoch; /* of the newest */
	uint32_t window_epoch; /* of the newest window, once a plan for good was there */
	/* decision; helper reads: windows that looked again, returns to AUTO, other arms
	 * instead, and what arms of the past have saved */
	_Atomic uint32_t rechecks, rollbacks, changes;
	_Atomic int64_t saved_us;
	bool reopened; /* helper: in this session of the board */
	uint32_t kept_state; /* what the board said when the seat was left */
	bool kept_decided;
	struct nt_outcome kept;
	_Atomic bool tired; /* helper raises: open for long, and nothing comes of it */
	uint32_t seen_epoch; /* helper, and when it changed */
	uint64_t opened_ms;
	uint8_t auto_arm; /* fixed; NCCL's pick at the first call */
	float cost_us[NT_PAIRS]; /* fixed; NCCL's costs at the first call */
	uint64_t seen_calls, seen_ms; /* helper: calls when they last changed, and when */
};

/* One decision of the present group, for the Coll events to come. decision and event, in program
 * order, or unused. */
struct nt_decision {
	struct nt_own_key *key;
	uint64_t left_bytes;
	uint8_t coll;
	uint16_t arm;
	bool forced; /* arm is ours, not AUTO's */
	bool measured;
	uint32_t run, owner, epoch, position;
	uint32_t tasks; /* whose Coll events have come */
	void *slot; /* handle for NCCL; NULL: none */
};

/* The newest start on one channel, if it was of a measured decision: its time runs until the next
 * start there. */
struct nt_lap {
	const void *coll; /* handle; NULL: none */
	uint64_t start_ns; /* by the GPU's clock */
};

#define NT_LAP_CHANNELS 64 /* MAXCHANNELS since NCCL 2.25 */

enum nt_half { NT_HALF_PROFILER = 1, NT_HALF_TUNER = 2 };

struct nt_comm {
	struct nt_session *session;
	bool seated; /* fixed before the first decision */
	_Atomic bool frozen; /* application; the others read */
	_Atomic bool boundary; /* event and application: the next decision begins a group */
	uint32_t open_keys; /* decision */
	_Atomic uint64_t key_id[NT_OWN_KEYS]; /* decision; helper reads. 0: free */
	struct nt_own_key key[NT_OWN_KEYS];

	struct nt_seat seat;
	struct nt_board_comm *board; /* NULL: not seated */
	/* guarded by the session's lock: the board's slot is another's by now, or will be */
	bool left;
	uint32_t kept_state; /* what the board said when the seat was left */
	char kept_why[120];
	bool mute_broadcast; /* Broadcast has no Coll events */
	uint32_t allowed; /* pairs that may be tried */
	bool chunks; /* fixed: NCCL asks for chunk sizes, and some may be tried */
	bool chunked[NT_COLLS]; /* decision: an arm with a chunk size was decided */
	/* decision; launch reads. 0: NCCL's own */
	_Atomic uint32_t chunk_bytes[NT_COLLS][NT_PAIRS];
	const float *model; /* decision: the table before a chained tuner; NULL: there is none */
	_Atomic uint64_t group; /* decision; event reads */
	uint64_t open_group; /* decision: the group in which its first key was opened */
	struct {
		_Atomic uint64_t turn; /* event */
		_Atomic uint64_t group; /* event: when the turn was last seen; stored after it */
	} func[NT_COLLS];
	_Atomic bool listening; /* decision; event reads: some key is open, decisions are noted */
	_Atomic uintptr_t decider; /* decision: its thread; event reads */
	_Atomic uintptr_t launcher; /* launch: the thread of the newest one */
	_Atomic bool launching; /* launch: its Group event has not come */
	_Atomic uint64_t async_launched, async_started;
	bool lost; /* decision: a wait for the home ended without an answer */
	uint32_t fifo_count;
	struct nt_decision fifo[NT_FIFO];
	struct nt_lap lap[NT_LAP_CHANNELS]; /* proxy */
	const void *begun; /* proxy: the newest handle that began on any channel */

	uint64_t id; /* NCCL's hash; 0 unknown */
	char name[64]; /* the user's, "" if none */
	int rank; /* -1 unknown */
	uint32_t ranks, nodes;
	int tuner_api, profiler_api; /* 0: that half is not there */
	struct nt_card card;
	char why[120]; /* why it has no seat, "" if it has */
	uint32_t halves; /* alive; guarded by the session's lock */
	uint32_t index; /* in the session's list */
	uint32_t opened; /* order of opening; guarded by the session's lock */
	_Atomic uint32_t *observed_ns; /* room for all keys, mode observe only */
};

struct nt_comm_identity {
	uint64_t id; /* 0: not told */
	const char *name; /* NULL: none, or not told */
	int rank; /* -1: not told */
	size_t ranks, nodes;
	int api; /* version of the interface that speaks */
};

struct nt_comm *nt_comm_open_profiler(struct nt_session *session,
				      const struct nt_comm_identity *who);
struct nt_comm *nt_comm_open_tuner(struct nt_session *session, const struct nt_comm_identity *who);
void nt_comm_close_tuner(struct nt_comm *comm); /* NULL is fine, in both */
void nt_comm_close_profiler(struct nt_comm *comm);

/* Decision thread: a key starts or ends to count turns, or to be measured. Repetitions are fine. */
void nt_comm_open_key(struct nt_comm *comm, struct nt_own_key *key);
void nt_comm_drop_key(struct nt_comm *comm, struct nt_own_key *key);
void nt_comm_measure_key(struct nt_comm *comm, struct nt_own_key *key, bool on);

/* Application's thread: a capture begins here, at the same place of the program on every rank.
 * Windows end, plans not reached never are, arms committed and reached stay. */
void nt_comm_freeze(struct nt_comm *comm);

/* turn.c. A key that is open where a capture begins: the newest plan for good whose turn has come
 * becomes this rank's arm, and windows end. May wait for an outcome. */
void nt_comm_latch_reached(struct nt_comm *comm, struct nt_own_key *key);

/* settle.c, decision thread. A plan for good is in force: its arm and its reasons. Repetitions are
 * fine. Latch: and the board is not looked at any more. */
void nt_comm_settle(struct nt_own_key *key, const struct nt_plan *plan,
		    const struct nt_schedule *final, int arm);
void nt_comm_latch(struct nt_comm *comm, struct nt_own_key *key);
/* A window over a plan for good is in force. */
void nt_comm_count_window(struct nt_own_key *key, const struct nt_plan *plan,
			  const struct nt_schedule *schedule);

/* Raise NT_MEMBER_* for the other ranks to see. Any thread. */
void nt_comm_flag(struct nt_comm *comm, uint32_t flag);

/* Decision thread: the key's entry, made at its first use; NULL where there is no more room. cost
 * has algos * NT_PROTOS entries. */
struct nt_own_key *nt_comm_key(struct nt_comm *comm, uint64_t id, const float *cost, int algos);

/* What the board says, or said when the seat was left; the session's lock is held. A key: its
 * enum nt_key_state; true where it is decided, and how. */
bool nt_comm_key_verdict(const struct nt_comm *comm, const struct nt_own_key *key, uint32_t *state,
			 struct nt_outcome *outcome);
uint32_t nt_comm_verdict(const struct nt_comm *comm, const char **why);
/* Give the seat back; takes the session's lock. */
void nt_comm_leave_board(struct nt_comm *comm);

/* NCCL's own pick from a table: the first of the least. NT_ARM_AUTO where nothing is legal. */
int nt_auto_pick(const float *cost, int pairs);

/* One call of getCollInfo. */
struct nt_call {
	int coll;
	size_t bytes;
	float *cost; /* algos * protos entries; may be changed */
	int algos, protos;
	bool registered;
	int *channels; /* 0 on entry: NCCL's own number; NULL: cannot be changed */
};

/* turn.c. NT_NCCL_OK, or NT_NCCL_SYSTEM_ERROR where going on alone could corrupt data
 * (docs/design.md, the one exception). */
int nt_comm_decide(struct nt_comm *comm, const struct nt_call *call);

/* shape.c, decision thread: what an arm says beside its pair. */
void nt_comm_cap(const struct nt_decision *choice, const struct nt_call *call);
void nt_comm_note_chunk(struct nt_comm *comm, const struct nt_call *call, int arm);
/* The thread that launches what was decided: the chunk size of a task. */
void nt_comm_chunk(struct nt_comm *comm, int coll, int pair, size_t *chunk_bytes);

/* event.c: what the profiler tells. Handles are for NCCL; NULL: none. */
struct nt_coll_event {
	const char *func, *datatype, *algo, *proto;
	uint64_t seq;
	size_t count;
	uint8_t channels; /* 0: not told */
};

void *nt_event_coll(struct nt_comm *comm, const struct nt_coll_event *event);
void nt_event_call(struct nt_comm *comm, bool captured);
void nt_event_launch(struct nt_comm *comm);
void *nt_event_group(struct nt_comm *comm);
void nt_event_group_stop(struct nt_session *session, void *group);
/* Proxy thread: a kernel of the collective with this handle starts on a channel. */
void nt_event_kernel(struct nt_comm *comm, void *coll, unsigned channel, uint64_t start_ns);

static inline bool nt_comm_frozen(const struct nt_comm *comm)
{
	/* One program order, or an answer that is wrong in no harmful way; nothing to pair with. */
	return atomic_load_explicit(&comm->frozen, memory_order_relaxed);
}

static inline uintptr_t nt_thread_self(void)
{
	return (uintptr_t)pthread_self();
}

#endif
