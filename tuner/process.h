/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - a process that uses NCCL: its one object, its helper thread, its forks and its end
 *
 * It knows nothing of communicators: what its thread does, and what is done at its end, is passed
 * as a struct nt_process_work (tuner/helper-thread.h).
 *
 * Threads:  start, now and help from any thread; open and close on one. A forked child must not
 *           touch shared memory, thread, PMIx or records: `inert` is set there before any of its
 *           code runs, and every entry point checks it. The helper thread blocks all signals and is
 *           named nccl-tune.
 * Memory:   nt_process_start() returns the only, static process; open and close work on the
 *           caller's storage, which must outlive the helper thread.
 * Errors:   start: NULL if there is nothing to do (no policy, an invalid one, mode off): NCCL then
 *           runs without us. An invalid policy is reported once through NCCL's logger. Without
 *           shared memory NCCL's choice stays; without a thread it stays too, and the record
 *           is written at the end.
 * Units:    milliseconds of CLOCK_MONOTONIC.
 * Host:     NCCL_TUNE_POLICY and NCCL_TUNE_WARM as spank/ sets them, and SLURM_PROCID,
 *           SLURM_LOCALID, SLURM_STEP_NUM_TASKS (SLURM_NTASKS), SLURM_STEP_NUM_NODES
 *           (SLURM_NNODES), SLURM_JOB_END_TIME, SLURM_STEP_TASKS_PER_NODE
 *           (SLURM_TASKS_PER_NODE); and torchrun's LOCAL_WORLD_SIZE.
 */
#ifndef NT_PROCESS_H
#define NT_PROCESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "contract/policy.h"
#include "contract/warm.h"
#include "pmix-sync/shm.h"
#include "record/rank.h"
#include "record/tray.h"
#include "tuner/abi.h"
#include "tuner/call-counts.h"
#include "tuner/mask.h"
#include "tuner/p2p.h"
#include "tuner/platform.h"
#include "tuner/event-slot.h"
#include "tuner/stretch.h"

/* In a process's record; new ones take the entries of ended ones. */
#define NT_COMMS_MAX 256

/* Losses and errors, with their names in the record */
#define NT_COUNTS(X)                                                                           \
	X(ODD_TABLE, "odd_tables") /* decisions whose cost table has an unknown shape */       \
	X(NO_KEY, "untracked_calls") /* beyond the keys that a communicator has room for */    \
	X(NO_COMM, "untracked_communicators")                                                  \
	X(NO_TURN, "calls_without_turn") /* of an open key, on the baseline */                 \
	X(UNMATCHED, "unmatched_events") /* Coll events that fit no decision */                \
	X(DROPPED, "dropped_samples") /* GPU times that cannot be true, or belong nowhere */   \
	X(GIVEN_UP, "unfinished_samples") /* collectives whose GPU times never came */         \
	X(STALE, "stale_events") /* repeated or late */                                        \
	X(ASYNC, "asynchronous_launches")                                                      \
	X(DOUBT, "waits_in_doubt")                                                             \
	X(FROZEN, "frozen_communicators") /* a CUDA graph capture was seen */                  \
	X(ERRORS, "errors_returned")                                                           \
	X(CHAINED_ERRORS, "chained_errors") /* that a chained plugin returned */               \
	X(CHAINED_LOST, "chained_lost") /* handles of a chained profiler that were not kept */ \
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

/* What a process does besides NCCL's calls */
struct nt_process_work {
	/* The helper thread; returns once nt_process_rest() says so. */
	void (*live)(struct nt_process *process);
	/* At the process's end, with its lock held: leave all slots. */
	void (*leave)(struct nt_process *process);
	/* At the process's end, if there never was a helper thread: write the record. */
	void (*last)(struct nt_process *process);
	/* After the thread's end: free the communicators. */
	void (*clear)(struct nt_process *process);
	/* In a fork's child, before any other code of ours */
	void (*forked)(void);
};

/* Under this lock */
struct nt_process_thread {
	pthread_mutex_t lock;
	pthread_cond_t wake, ended;
	pthread_t thread;
	bool started, stop, done;
	bool begun; /* it was started once */
	_Atomic bool failed; /* it could not be started; also without the lock */
};

/* The remembered arms passed to a process. They are taken or refused as a whole, once, when the
 * first communicator's rank takes its slot: only then is NCCL's version known. Those in use are
 * part of the capabilities (nt_warm_hash), so ranks with different ones are never tuned together.
 * Read when the process opens, checked with the process's lock held. */
struct nt_process_warm {
	bool offered; /* the variable is set */
	bool checked;
	struct nt_error refused; /* why none is used; "": they are, or none was offered */
	uint32_t hash; /* of the arms in use; 0: none */
	struct nt_warm arms;
};

struct nt_process {
	_Atomic bool inert; /* a fork's child, for good */
	/* Set by open, then constant */
	const struct nt_process_work *work;
	struct nt_policy policy;
	struct nt_node_step node_step;
	struct nt_reason no_shm; /* why there is no shared memory */
	struct nt_shm_map map;
	struct nt_tray_out tray; /* for the record and the calls */
	struct nt_calls *calls; /* NULL: it has no tray */
	uint32_t build, policy_hash;
	uint32_t task, tasks, local_task, nodes;
	uint64_t end_us; /* of the job's time, by nt_clock_us(); 0: unknown */
	bool in_step; /* SLURM_PROCID is set */
	unsigned node_ranks; /* most tasks or ranks of a node, as far as it was told; at least 1 */
	pid_t pid;
	/* By any thread */
	_Atomic(nt_nccl_log) log; /* NULL: none known */
	_Atomic uint32_t nccl; /* 22809; 0: unknown */
	_Atomic uint32_t risks; /* NT_RISK_*; once set they stay */
	_Atomic uint32_t lack; /* enum nt_idle: why there are no GPU times (tuner/gpu-times.h) */
	_Atomic uint64_t count[NT_COUNT_ALL];
	struct nt_mask mask;
	struct nt_event_slots slots;
	struct nt_p2p_groups groups;
	struct nt_stretch stretch;
	struct nt_mask_hold p2p_measured;
	/* Mode observe has cost its part: it measures nothing more for now. */
	_Atomic bool observe_rests;
	_Atomic int p2p_bits; /* of sends and receives; 0: no communicator yet */
	pthread_mutex_t lock; /* of the list, and of members that say so */
	struct nt_process_warm warm; /* under the lock until checked */
	struct nt_comm *comm[NT_COMMS_MAX];
	uint32_t comms;
	/* Helper thread. Of its decisions; or NULL */
	const struct nt_histories *histories;
	const struct nt_marker *marker; /* step marker; or NULL */
	/* Asked once, at the first communicator, with the lock held; then the helper thread's. */
	struct nt_platform platform;
	struct nt_facts facts; /* the helper thread's */
	bool has_facts;
	bool learnt; /* the platform is known; under the lock */
	struct nt_process_thread helper;
};

/* Everything but the helper thread. -1: the policy is wrong, *err says how. */
int nt_process_open(struct nt_process *process, const char *task_policy, nt_nccl_log log,
		    const struct nt_process_work *work, struct nt_error *err);
/* Ends the helper thread, and frees the communicators. */
void nt_process_close(struct nt_process *process);

/* Opened at the first call. log may be NULL. */
struct nt_process *nt_process_start(nt_nccl_log log, const struct nt_process_work *work);

/* NULL: not started. */
struct nt_process *nt_process_now(void);

/* A process waits no longer at its end. Tests with the thread sanitizer raise it, which reports a
 * thread that nobody waits for. */
#ifndef NT_END_MS
#define NT_END_MS 1000
#endif

/* For the exit handler: last record and last log entries, within NT_END_MS. False: the helper
 * thread has not ended. */
bool nt_process_end(struct nt_process *process);

/* Idempotent. False: the thread cannot be started. */
bool nt_process_help(struct nt_process *process);
/* The helper thread is to write its last record and end; wait for it. One thread at a time. False:
 * timeout. */
bool nt_process_unhelp(struct nt_process *process, uint32_t wait_ms);
/* On the helper thread: sleep so long, or until told to end. True: end now. */
bool nt_process_rest(struct nt_process *process, uint32_t sleep_ms);

static inline void nt_process_count(struct nt_process *process, enum nt_count which)
{
	atomic_fetch_add_explicit(&process->count[which], 1, memory_order_relaxed);
}

static inline bool nt_process_inert(const struct nt_process *process)
{
	/* Only written in a child with one thread; nothing to pair with. */
	return atomic_load_explicit(&process->inert, memory_order_relaxed);
}

const char *nt_count_name(enum nt_count which);

/* text: the variable; NULL or "": nothing is offered. Nothing is read in modes that do not choose
 * arms, and in mode profile. */
void nt_process_warm_read(struct nt_process_warm *warm, int64_t mode, const char *text);

/* fabric: enum nt_fabric. Only the first call counts; true if this is it, and the arms are
 * refused. */
bool nt_process_warm_check(struct nt_process_warm *warm, uint32_t nccl, int fabric,
			   uint64_t fingerprint);

/* Those in use; NULL: none. */
const struct nt_warm *nt_process_warm_arms(const struct nt_process_warm *warm);

/* Pure: the end of the job's time limit on the clock of now_us, which is the same moment as wall_s.
 * text: SLURM_JOB_END_TIME, in seconds of the wall clock, or NULL. Only newer releases of Slurm set
 * it, and later changes (scontrol update) are not seen. 0: unknown. */
uint64_t nt_deadline_us(const char *text, int64_t wall_s, uint64_t now_us);

#endif
