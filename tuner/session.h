/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - what the process's communicators share: policy, place, board, mask, counters, thread
 *
 * Threads:  start and now from any thread; open and close on one. A forked child must not touch
 *           board, thread, PMIx or records: `inert` is set there before any of its code runs, and
 *           every entry point looks at it.
 * Memory:   nt_session_start() hands out the one static session; open and close work on the
 *           caller's storage.
 * Errors:   start: NULL where nothing is to be done (no policy, a bad one, mode off): NCCL runs as
 *           without us. A bad policy is said once through NCCL's logger. A board that cannot be
 *           opened is no error: AUTO stays.
 * Host:     NCCL_TUNE_POLICY as spank/ sets it, and SLURM_PROCID, SLURM_LOCALID,
 *           SLURM_STEP_NUM_TASKS (SLURM_NTASKS), SLURM_STEP_NUM_NODES (SLURM_NNODES).
 */
#ifndef NT_SESSION_H
#define NT_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "contract/policy.h"
#include "pmix-sync/board.h"
#include "tuner/abi.h"
#include "tuner/helper.h"
#include "tuner/mask.h"
#include "tuner/slot.h"

/* Communicators in a process's record; ended ones make room for new ones. */
#define NT_COMMS_MAX 256

/* What was dropped or went wrong, by its name in the record. */
#define NT_COUNTS(X)                                                                             \
	X(ODD_TABLE, "odd_tables") /* decisions with a cost table of unknown shape */            \
	X(NO_KEY, "untracked_calls") /* beyond the keys that a communicator has room for */      \
	X(NO_COMM, "untracked_communicators")                                                    \
	X(NO_TURN, "calls_without_turn") /* of an open key, on AUTO */                           \
	X(UNMATCHED, "unmatched_events") /* Coll events that fit no decision */                  \
	X(DROPPED, "dropped_samples") /* GPU times that cannot be true, or with nowhere to go */ \
	X(GIVEN_UP, "unfinished_samples") /* collectives whose GPU times never came */           \
	X(STALE, "stale_events") /* repeated or late */                                          \
	X(ASYNC, "asynchronous_launches")                                                        \
	X(DOUBT, "waits_in_doubt")                                                               \
	X(FROZEN, "frozen_communicators") /* a CUDA graph capture was seen */                    \
	X(ERRORS, "errors_returned")                                                             \
	X(CHAINED_ERRORS, "chained_errors") /* that a chained plugin returned */                 \
	X(CHAINED_LOST, "chained_lost") /* handles of a chained profiler that were not kept */   \
	X(RECORD, "record_errors")

enum nt_count {
#define NT_COUNT_ENUM(name, text) NT_COUNT_##name,
	NT_COUNTS(NT_COUNT_ENUM)
#undef NT_COUNT_ENUM
		NT_COUNT_ALL,
};

struct nt_comm;
struct nt_histories;

struct nt_session {
	_Atomic bool inert; /* in a forked child, for good */
	struct nt_policy policy;
	struct nt_place place;
	_Atomic(nt_nccl_log) log; /* NULL: none known */
	struct nt_error board_error; /* why there is no board; "" where there is */
	struct nt_board_map map;
	struct nt_mask mask;
	struct nt_slots slots;
	uint32_t build, policy_hash;
	_Atomic uint32_t nccl; /* 22809; 0 unknown */
	uint32_t task, tasks, local_task, nodes;
	bool in_step; /* SLURM_PROCID is set */
	pid_t pid;
	_Atomic uint64_t count[NT_COUNT_ALL];
	pthread_mutex_t lock; /* guards what follows */
	struct nt_comm *comm[NT_COMMS_MAX];
	uint32_t comms;
	/* helper thread: what its own decisions were made from; or NULL */
	const struct nt_histories *histories;
	struct nt_helper helper;
};

/* Parse a task policy and set everything up but the helper thread. -1: *err says what is wrong with
 * the policy. */
int nt_session_open(struct nt_session *session, const char *task_policy, nt_nccl_log log,
		    struct nt_error *err);
/* Ends the helper thread, frees the communicators. */
void nt_session_close(struct nt_session *session);

/* The process's session, opened at the first call. log may be NULL. */
struct nt_session *nt_session_start(nt_nccl_log log);

/* The process's session if it was started, else NULL. */
struct nt_session *nt_session_now(void);

/* How much a process may be held at its end. */
#define NT_END_MS 1000

/* What an exit handler does: last record, last words, within NT_END_MS. False: the helper thread
 * has not ended. */
bool nt_session_end(struct nt_session *session);

static inline void nt_session_count(struct nt_session *session, enum nt_count which)
{
	atomic_fetch_add_explicit(&session->count[which], 1, memory_order_relaxed);
}

static inline bool nt_session_inert(const struct nt_session *session)
{
	/* Written only in a child with one thread; nothing to pair with. */
	return atomic_load_explicit(&session->inert, memory_order_relaxed);
}

const char *nt_count_name(enum nt_count which);

#endif
