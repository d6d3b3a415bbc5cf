/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - one process with NCCL in it: its one static object, what its communicators share, its
 *             helper thread, its forks and its end
 *
 * The process knows nothing of communicators: what its thread does, and what is left to do at its
 * end, it is given as a struct nt_work (tuner/rounds.h).
 *
 * Threads:  start, now and help from any thread; open and close on one. A forked child must not
 *           touch board, thread, PMIx or records: `inert` is set there before any of its code runs,
 *           and every entry point looks at it. The helper thread blocks all signals and is named
 *           nccl-tune.
 * Memory:   nt_process_start() hands out the one static process; open and close work on the
 *           caller's storage, which must outlive the helper thread.
 * Errors:   start: NULL where nothing is to be done (no policy, a bad one, mode off): NCCL runs as
 *           without us. A bad policy is said once through NCCL's logger. A board that cannot be
 *           opened is no error: AUTO stays. A thread that cannot be started leaves the process on
 *           AUTO without a record.
 * Units:    milliseconds of CLOCK_MONOTONIC.
 * Host:     NCCL_TUNE_POLICY and NCCL_TUNE_WARM as spank/ sets them, and SLURM_PROCID,
 *           SLURM_LOCALID, SLURM_STEP_NUM_TASKS (SLURM_NTASKS), SLURM_STEP_NUM_NODES
 *           (SLURM_NNODES), SLURM_JOB_END_TIME.
 */
#ifndef NT_PROCESS_H
#define NT_PROCESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "contract/policy.h"
#include "pmix-sync/board.h"
#include "tuner/abi.h"
#include "tuner/mask.h"
#include "tuner/platform.h"
#include "tuner/slot.h"
#include "tuner/warm.h"

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
struct nt_marker;
struct nt_process;

/* What a process does beside NCCL's calls. */
struct nt_work {
	/* The helper thread's whole life: it comes back once nt_process_rest() says so. */
	void (*live)(struct nt_process *process);
	/* The process ends, its lock is held: nobody may count on its ranks any more. */
	void (*leave)(struct nt_process *process);
	/* The thread has ended: the communicators' memory is given back. */
	void (*clear)(struct nt_process *process);
	/* In the child of a fork, before anything else of ours. */
	void (*forked)(void);
};

/* The helper thread; guarded by its lock. */
struct nt_process_thread {
	pthread_mutex_t lock;
	pthread_cond_t wake, ended;
	pthread_t thread;
	bool started, stop, done;
};

struct nt_process {
	_Atomic bool inert; /* in a forked child, for good */
	/* Fixed by open. */
	const struct nt_work *work;
	struct nt_policy policy;
	struct nt_place place;
	struct nt_error board_error; /* why there is no board; "" where there is */
	struct nt_board_map map;
	uint32_t build, policy_hash;
	uint32_t task, tasks, local_task, nodes;
	uint64_t end_us; /* of the job's time, by nt_clock_us(); 0: not known */
	bool in_step; /* SLURM_PROCID is set */
	pid_t pid;
	/* Written by any thread. */
	_Atomic(nt_nccl_log) log; /* NULL: none known */
	_Atomic uint32_t nccl; /* 22809; 0 unknown */
	_Atomic uint64_t count[NT_COUNT_ALL];
	struct nt_mask mask;
	struct nt_slots slots;
	pthread_mutex_t lock; /* guards the list, and what its members say is guarded by it */
	struct nt_process_warm warm; /* guarded by it until it was checked */
	struct nt_comm *comm[NT_COMMS_MAX];
	uint32_t comms;
	/* Helper thread: what its own decisions were made from; or NULL. */
	const struct nt_histories *histories;
	const struct nt_marker *marker; /* what came of its readings; or NULL */
	struct nt_platform platform; /* open: what the environment tells; then the helper thread */
	struct nt_process_thread helper;
};

/* Parse a task policy and set everything up but the helper thread. -1: *err says what is wrong with
 * the policy. */
int nt_process_open(struct nt_process *process, const char *task_policy, nt_nccl_log log,
		    const struct nt_work *work, struct nt_error *err);
/* Ends the helper thread, frees the communicators. */
void nt_process_close(struct nt_process *process);

/* The process, opened at the first call. log may be NULL. */
struct nt_process *nt_process_start(nt_nccl_log log, const struct nt_work *work);

/* The process if it was started, else NULL. */
struct nt_process *nt_process_now(void);

/* How much a process may be held at its end. */
#define NT_END_MS 1000

/* What an exit handler does: last record, last words, within NT_END_MS. False: the helper thread
 * has not ended. */
bool nt_process_end(struct nt_process *process);

/* Start the helper thread; more than once is fine. */
void nt_process_help(struct nt_process *process);
/* Tell it to write its last record and end, and wait for it. One thread at a time. False: it has
 * not ended in time. */
bool nt_process_unhelp(struct nt_process *process, uint32_t wait_ms);
/* On the helper thread: sleep so long, or until it is told to end. True: it is time to end. */
bool nt_process_rest(struct nt_process *process, uint32_t sleep_ms);

static inline void nt_process_count(struct nt_process *process, enum nt_count which)
{
	atomic_fetch_add_explicit(&process->count[which], 1, memory_order_relaxed);
}

static inline bool nt_process_inert(const struct nt_process *process)
{
	/* Written only in a child with one thread; nothing to pair with. */
	return atomic_load_explicit(&process->inert, memory_order_relaxed);
}

const char *nt_count_name(enum nt_count which);

#endif
