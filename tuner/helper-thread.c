/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/helper-thread.h"

#include "engine/slowdown.h"
#include "lib/clock.h"
#include "lib/hash.h"
#include "pmix-sync/mpi-library.h"
#include "pmix-sync/node-leader.h"
#include "tuner/abi.h"
#include "tuner/chain.h"
#include "tuner/explorer.h"
#include "tuner/facts.h"
#include "tuner/gpu-times.h"
#include "tuner/open.h"
#include "tuner/p2p-watch.h"
#include "tuner/rank-record.h"
#include "tuner/rest.h"
#include "tuner/steps.h"

#define BUSY_MS 20u /* between two passes of the thread while something changes */
#define IDLE_MS 200u /* ... and after long without a change */
#define READ_MS 10u /* between two readings of all calls, at least */
#define CALM_MS 60000u /* without a change of state for so long, nothing is expected soon */
/* Between two records, at least, except the first and the last */
#define RECORD_MS 10000u
/* Between two records of progress alone: at first and, after doubling each time, at most */
#define PROGRESS_FIRST_MS 2000u
#define PROGRESS_MS 10000u
#define MEASURED_MS 20000u /* ... of what was measured: all ranks' together show who is late */
#define TRY_MS 1000u /* between two attempts to become the leader */
#define LATE_MS 10000u /* after this, another than the node's first task may lead */

struct helper {
	struct nt_explorer explorer;
	struct nt_histories histories;
	struct nt_steps steps;
	struct nt_slowdown slowdown;
	struct nt_marker_vote marker; /* slowdown follows it */
	struct nt_node_leader *leader;
	struct nt_mpi mpi;
	uint64_t ms; /* of this pass */
	uint64_t signature; /* a hash of all states */
	uint64_t changed_ms, written_ms;
	uint64_t began_ms, tried_ms; /* to become the leader: first and last attempt; 0: none yet */
	uint64_t beat; /* shm->beat at that attempt: if it has grown, a leader lives */
	uint64_t written; /* signature in the newest record */
	uint64_t told_ms; /* the newest record of any kind; 0: none */
	uint64_t progress_ms; /* until the next record of progress */
	uint64_t measured_ms; /* since the newest record, first; 0: nothing */
	bool open; /* a key is open */
	bool explores; /* ... and this process tells of it */
	bool decided; /* a key is decided: write a record */
	bool looked; /* at the platform */
	uint64_t call_ms; /* a call of any communicator was last seen; 0: none yet */
	uint64_t calls; /* collectives on the communicators that NCCL has open */
	uint64_t p2p_calls; /* those that send and receive there */
	struct nt_p2p_watch watch;
	struct nt_observe_budget budget;
	double predicted_us; /* NCCL's, of all observed calls there */
	bool spent; /* the budget */
	bool still; /* no call for as long as the setting stall says */
	bool told_still; /* the newest record was written after that */
};

static void mix_value(uint64_t *signature, uint64_t value)
{
	*signature = nt_hash64(*signature, &value, sizeof(value));
}

/* It only grows: the decision thread may have published a newer one. */
static void publish_calls(struct nt_shm_key *shared, uint32_t slot, uint64_t calls)
{
	uint64_t there = atomic_load_explicit(&shared->calls[slot], memory_order_relaxed);

	while (there < calls &&
	       !atomic_compare_exchange_weak_explicit(&shared->calls[slot], &there, calls,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

/* Else a key whose coordinator or other node is gone would cost events for ever. */
static void note_stalled(struct nt_local_key *key, uint32_t local, uint64_t calls, uint64_t ms)
{
	struct nt_key_helper *mine = &key->helper;
	uint32_t epoch, helper = 0;

	if (!key->fixed.shared || local != NT_LOCAL_OPEN)
		return;
	epoch = atomic_load_explicit(&key->fixed.shared->epoch, memory_order_relaxed);
	if (nt_stall_see(&mine->stall, epoch, nt_mask_measures(&key->measured), calls, ms))
		helper = atomic_load_explicit(&mine->stalled, memory_order_relaxed) + 1;
	atomic_store_explicit(&mine->stalled, helper, memory_order_relaxed);
}

/* Shared memory has a committed key open for a recheck: this rank's next decision must read it.
 * Once per recheck. */
static void ask_for_recheck(const struct nt_comm *comm, struct nt_local_key *key, uint32_t local)
{
	struct nt_key_helper *mine = &key->helper;
	uint32_t asked;

	if (atomic_load_explicit(&key->fixed.shared->state, memory_order_acquire) !=
	    NT_KEY_RECHECK) {
		mine->recheck_open = false;
		return;
	}
	if (mine->recheck_open || local != NT_LOCAL_COMMITTED || nt_comm_frozen(comm))
		return;
	mine->recheck_open = true;
	mine->stall.begun = false;
	atomic_store_explicit(&mine->stalled, 0, memory_order_relaxed);
	/* Nothing to pair with: the decision reads shared memory itself. */
	asked = atomic_load_explicit(&mine->rechecks_asked, memory_order_relaxed);
	atomic_store_explicit(&mine->rechecks_asked, asked + 1, memory_order_relaxed);
}

static void look_at_key(const struct nt_comm *comm, struct nt_local_key *key, struct helper *r,
			uint64_t *signature)
{
	struct nt_shm_key *shared = key->fixed.shared;
	uint32_t slot = comm->fixed.slot.index;
	uint64_t calls = nt_key_calls(key);
	uint32_t local = nt_key_state(key), state = NT_KEY_IDLE;
	bool open;

	if (shared)
		ask_for_recheck(comm, key, local);
	note_stalled(key, local, calls, r->ms);
	if (shared) {
		state = atomic_load_explicit(&shared->state, memory_order_acquire);
		publish_calls(shared, slot, calls);
	}
	/* A rank that has left a key passes every plan, so that the node can summarise. */
	if (shared &&
	    (local == NT_LOCAL_GONE || (local == NT_LOCAL_COMMITTED && nt_comm_frozen(comm))))
		atomic_store(&shared->passed[slot], atomic_load(&shared->epoch));
	r->decided |= local == NT_LOCAL_COMMITTED || state == NT_KEY_CLOSED;
	/* One rank of a communicator per node suffices. */
	open = state == NT_KEY_OPEN || state == NT_KEY_RECHECK;
	r->open |= open;
	r->explores |= open && slot == 0;
	mix_value(signature, local << 8 | state);
}

static void look_at_comm(struct nt_comm *comm, struct helper *r, uint64_t *signature)
{
	const struct nt_shm_comm *shm = comm->fixed.shm;

	mix_value(signature, comm->fixed.id ^ comm->kept.halves);
	nt_calls_see(comm->fixed.calls, &comm->kept.calls, r->ms);
	if (comm->kept.calls.begun > 0 && comm->kept.calls.moved_ms > r->call_ms)
		r->call_ms = comm->kept.calls.moved_ms;
	if (comm->kept.left)
		return;
	nt_rest_look(comm, r->ms, r->spent);
	if (shm) {
		mix_value(signature, atomic_load_explicit(&shm->state, memory_order_acquire));
		nt_shm_grow(&comm->fixed.process->map, comm->fixed.slot.comm);
	}
	r->p2p_calls += nt_p2p_calls(&comm->p2p);
	for (unsigned k = 0; k < nt_comm_keys(comm); k++) {
		const struct nt_local_key *key = &comm->key[k];

		if (nt_comm_key_id(comm, k) != 0)
			look_at_key(comm, &comm->key[k], r, signature);
		r->calls += nt_key_calls(key);
		r->predicted_us += (double)nt_key_calls(key) * (double)key->fixed.observed_us;
	}
}

/* What mode observe has cost */
static void look_at_budget(struct nt_process *process, struct helper *r)
{
	const int gpu_times = nt_mask_value(&process->mask) & (int)NT_PROF_KERNEL_CH;

	if (process->policy.mode != NT_MODE_OBSERVE)
		return;
	r->spent = nt_observe_budget_see(&r->budget, r->calls, r->predicted_us, gpu_times != 0);
	/* A single flag; nothing to pair with. */
	atomic_store_explicit(&process->observe_rests, r->spent, memory_order_relaxed);
}

static void look_at_all(struct nt_process *process, struct helper *r)
{
	uint64_t signature = NT_HASH64;

	r->ms = nt_clock_ms();
	r->explores = r->open = false;
	r->calls = r->p2p_calls = 0;
	r->predicted_us = 0;
	pthread_mutex_lock(&process->lock);
	for (uint32_t i = 0; i < process->comms; i++)
		look_at_comm(process->comm[i], r, &signature);
	look_at_budget(process, r);
	nt_p2p_watch_look(&r->watch, process, r->calls, r->p2p_calls, r->ms);
	nt_gpu_times_look(process);
	pthread_mutex_unlock(&process->lock);
	nt_calls_look(process->calls, false);
	r->still = r->call_ms != 0 && process->policy.stall_s > 0 &&
		   r->ms - r->call_ms >= (uint64_t)process->policy.stall_s * 1000;
	if (signature != r->signature)
		r->changed_ms = r->ms;
	if (signature != r->signature || r->open)
		nt_slowdown_end(&r->slowdown);
	r->signature = signature;
}

/* In the first pass after the first call: NCCL has its connections, and has given back the
 * processors that it takes while it starts. */
static void look_at_facts(struct nt_process *process, const struct helper *r, bool end)
{
	if (process->has_facts || (r->call_ms == 0 && !end))
		return;
	nt_facts_look(&process->facts, "", process->nodes);
	process->has_facts = true;
}

static void write_record(struct nt_process *process, struct helper *r, bool end)
{
	look_at_facts(process, r, end);
	if (!r->looked)
		nt_platform_look(&process->platform, &nt_platform_paths);
	r->looked = true;
	(void)nt_rank_record_write(process, r->leader, end);
	r->told_ms = r->ms;
	r->measured_ms = 0;
}

/* All processes of a node at the same time: their figures are compared. */
static bool is_measured_due(const struct nt_process *process, struct helper *r)
{
	const bool measures = (nt_mask_value(&process->mask) & (int)NT_PROF_KERNEL_CH) != 0;

	if (r->measured_ms == 0 && measures)
		r->measured_ms = r->ms;
	return r->measured_ms != 0 && r->ms / MEASURED_MS != r->measured_ms / MEASURED_MS;
}

/* For those who watch the running job. Apart from records of decisions, which must not come late:
 * the process may be killed at any time. */
static void tell_progress(struct nt_process *process, struct helper *r)
{
	const bool due = is_measured_due(process, r);

	if (!r->explores)
		r->progress_ms = PROGRESS_FIRST_MS;
	if (!due && (!r->explores || (r->told_ms != 0 && r->ms - r->told_ms < r->progress_ms)))
		return;
	write_record(process, r, false);
	r->progress_ms = 2 * r->progress_ms < PROGRESS_MS ? 2 * r->progress_ms : PROGRESS_MS;
}

/* When no call was begun for long, which need not be a stall, and when there is one again: the
 * record changes, nt-recordd sees that, and the ranks' calls are compared (record/behind.h). */
static bool tell_stillness(struct nt_process *process, struct helper *r)
{
	if (r->still == r->told_still)
		return false;
	write_record(process, r, false);
	r->told_still = r->still;
	return true;
}

static void write_when_due(struct nt_process *process, struct helper *r)
{
	if (tell_stillness(process, r))
		return;
	if (!r->decided || r->signature == r->written ||
	    (r->written_ms != 0 && r->ms - r->written_ms < RECORD_MS)) {
		tell_progress(process, r);
		return;
	}
	write_record(process, r, false);
	r->written_ms = r->ms;
	r->written = r->signature;
}

/* Remembered arms are offered, but no communicator has its slot yet, by which they are checked:
 * wait, for what is decided without them stays so. */
static bool warm_pends(struct nt_process *process)
{
	bool pends;

	pthread_mutex_lock(&process->lock);
	pends = process->warm.offered && !process->warm.checked;
	pthread_mutex_unlock(&process->lock);
	return pends;
}

/* Again from time to time: the leading process may end before this one. */
static void create_leader(struct nt_process *process, struct helper *r)
{
	const struct nt_policy policy = nt_engine_policy(&process->policy);
	struct nt_node_leader_config config = {
		.shm = process->map.shm,
		.fd = process->map.fd,
		.join_ms = (uint32_t)process->policy.join_timeout_s * 1000,
		.join_calls = (uint32_t)policy.min_calls,
		.agree_ms = (uint32_t)process->policy.agree_timeout_s * 1000,
		.task = process->task,
		.tasks = process->tasks,
		.local_task = process->local_task,
		.nodes = process->nodes,
		.late = r->tried_ms != 0 && r->ms - r->began_ms >= LATE_MS,
	};
	uint64_t beat;

	if (!nt_mode_chooses(process->policy.mode) || !process->map.shm || warm_pends(process) ||
	    (r->tried_ms != 0 && r->ms - r->tried_ms < TRY_MS))
		return;
	/* Until the program's MPI has started, however late, no process of the node is late. */
	if (process->nodes > 1 && nt_mpi_comes_first(&r->mpi)) {
		r->began_ms = r->ms;
		return;
	}
	r->explorer.engine.policy = policy;
	r->explorer.warm = nt_process_warm_arms(&process->warm);
	r->explorer.engine.histories = &r->histories;
	r->explorer.shm = process->map.shm;
	r->explorer.end_us = process->end_us;
	r->explorer.marker = &r->steps.marker;
	if (r->explorer.began_us == 0)
		r->explorer.began_us = nt_clock_us();
	config.hooks = nt_explorer_hooks(&r->explorer);
	beat = atomic_load_explicit(&process->map.shm->beat, memory_order_relaxed);
	if (r->tried_ms == 0 || beat == r->beat)
		r->leader = nt_node_leader_create(&config, NULL);
	r->beat = beat;
	r->tried_ms = r->ms;
}

/* Watch the program's own step from here on. It is expensive to find, so only once after each
 * change. */
static void follow_step(struct helper *r)
{
	double period_us = 0;

	if (r->slowdown.stride == 0 && r->decided && !r->open)
		period_us = nt_marker_step_us(&r->steps.marker);
	if (period_us <= 0)
		return;
	r->marker = r->steps.marker.followed;
	nt_slowdown_begin(&r->slowdown, period_us);
}

static void look_for_slowdown(struct helper *r)
{
	const struct nt_marker *marker = &r->steps.marker;

	if (!nt_marker_same(&r->marker, &marker->followed))
		nt_slowdown_end(&r->slowdown);
	if (marker->newest.steps != 0)
		r->explorer.slower |= nt_slowdown_see(&r->slowdown, &marker->newest);
}

static uint32_t work_once(struct nt_process *process, struct helper *r)
{
	uint32_t sleep_ms = IDLE_MS, leader_ms;

	look_at_all(process, r);
	look_at_facts(process, r, false);
	nt_chain_tick(r->ms);
	if (r->ms - r->changed_ms < CALM_MS || nt_mask_value(&process->mask) != 0)
		sleep_ms = BUSY_MS;
	if (!r->leader)
		create_leader(process, r);
	if (r->leader) {
		leader_ms = nt_node_leader_step(r->leader, r->ms);
		r->explorer.slower = false;
		follow_step(r);
		sleep_ms = leader_ms < sleep_ms ? leader_ms : sleep_ms;
	}
	write_when_due(process, r);
	return sleep_ms;
}

/* Reads the program's steps more often. True: end now. */
static bool sleep_between(struct nt_process *process, struct helper *r, uint32_t sleep_ms)
{
	const uint64_t until_ms = nt_clock_ms() + sleep_ms;
	uint64_t now_ms = until_ms - sleep_ms;

	do {
		uint64_t rest_ms;

		nt_steps_read(&r->steps, process, false);
		look_for_slowdown(r);
		rest_ms = nt_marker_rest_us(&r->steps.marker) / 1000;
		rest_ms = rest_ms < READ_MS ? READ_MS : rest_ms;
		rest_ms = rest_ms > until_ms - now_ms ? until_ms - now_ms : rest_ms;
		if (nt_process_rest(process, (uint32_t)rest_ms))
			return true;
		now_ms = nt_clock_ms();
	} while (now_ms < until_ms);
	return false;
}

static void run_helper(struct nt_process *process)
{
	struct helper r = { .changed_ms = nt_clock_ms(), .began_ms = nt_clock_ms() };

	process->histories = &r.histories;
	process->marker = &r.steps.marker;
	nt_steps_begin(&r.steps, process, NT_STRETCH_CLOCK);
	while (!sleep_between(process, &r, work_once(process, &r)))
		;
	look_at_all(process, &r);
	nt_steps_read(&r.steps, process, true);
	nt_calls_look(process->calls, true);
	write_record(process, &r, true);
	nt_node_leader_destroy(r.leader);
	process->histories = NULL;
	process->marker = NULL;
	nt_histories_clear(&r.histories);
}

static void leave_process(struct nt_process *process)
{
	struct helper r = { .leader = NULL };

	if (process->comms == 0)
		return;
	look_at_all(process, &r);
	nt_calls_look(process->calls, true);
	write_record(process, &r, true);
}

const struct nt_process_work nt_helper_thread_work = {
	.live = run_helper,
	.last = leave_process,
	.leave = nt_comm_leave_all,
	.clear = nt_comm_free_all,
	.forked = nt_chain_forked,
};
