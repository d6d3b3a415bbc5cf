/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.c - see rounds.h */
#include "tuner/rounds.h"

#include "pmix-sync/mpi.h"
#include "pmix-sync/speaker.h"
#include "tuner/chain.h"
#include "tuner/clock.h"
#include "tuner/home.h"
#include "tuner/open.h"
#include "tuner/write.h"

#define BUSY_MS 20u /* between two rounds while something changes */
#define IDLE_MS 200u /* ... and when long nothing has */
#define READ_MS 10u /* at least, between two readings of all calls */
#define CALM_MS 60000u /* without a change of state for this long, nothing is expected soon */
/* At least this long between two records, but for the first and the last. */
#define RECORD_MS 10000u
/* Between two that only tell how far exploring has come: at first so long, then twice as long each
 * time, up to this. */
#define PROGRESS_FIRST_MS 2000u
#define PROGRESS_MS 10000u
/* A key that was not called for this long, and for so many of its pauses, need not be measured. */
#define SILENT_MS 10000u
#define SILENT_PAUSES 4u
#define TRY_MS 1000u /* between two tries to speak for the node */
#define LATE_MS 10000u /* the first task of a node has this long to come */

/* What the thread knows between two rounds. */
struct rounds {
	struct nt_home home;
	struct nt_histories histories;
	struct nt_marker marker;
	struct nt_speaker *speaker;
	struct nt_mpi mpi;
	uint64_t ms; /* of this round */
	uint64_t signature; /* of all states */
	uint64_t changed_ms, written_ms;
	uint64_t began_ms, tried_ms; /* when to speak was tried last; 0: not yet */
	uint64_t beat; /* the board's at that time: a speaker lives where it has grown */
	uint64_t written; /* the signature of the newest record */
	uint64_t told_ms; /* when the newest record was written, of whatever kind; 0: none */
	uint64_t progress_ms; /* how long after it the next one is due that tells of progress */
	bool explores; /* a key that this process is to tell of */
	bool decided; /* some key is: the record is worth writing */
	bool looked; /* at what the process runs on */
};

static void mix(uint64_t *signature, uint64_t value)
{
	*signature = (*signature ^ value) * UINT64_C(0x100000001b3);
}

/* Only raises: the decision thread may have published a newer count in between. */
static void publish_calls(struct nt_board_key *shared, uint32_t member, uint64_t calls)
{
	uint64_t there = atomic_load_explicit(&shared->calls[member], memory_order_relaxed);

	while (there < calls &&
	       !atomic_compare_exchange_weak_explicit(&shared->calls[member], &there, calls,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

/* A window whose key is no longer called would leave GPU times on for the whole process. */
static void stop_measuring_silent(struct nt_process *process, struct nt_own_key *key,
				  uint64_t calls, uint64_t ms)
{
	struct nt_rhythm *rhythm = &key->helper.rhythm;

	nt_rhythm_see(rhythm, calls, ms);
	if (ms - rhythm->called_ms >= nt_rhythm_ms(rhythm, SILENT_PAUSES, SILENT_MS))
		nt_mask_measure(&process->mask, &key->measured, false);
}

/* A key whose home or another member is gone would cost events for ever. */
static void note_stalled(struct nt_own_key *key, uint32_t own, uint64_t calls, uint64_t ms)
{
	struct nt_key_helper *mine = &key->helper;
	uint32_t epoch, rounds = 0;

	if (!key->fixed.shared || own != NT_OWN_OPEN)
		return;
	epoch = atomic_load_explicit(&key->fixed.shared->epoch, memory_order_relaxed);
	if (nt_stall_see(&mine->stall, epoch, nt_mask_measures(&key->measured), calls, ms))
		rounds = atomic_load_explicit(&mine->stalled, memory_order_relaxed) + 1;
	atomic_store_explicit(&mine->stalled, rounds, memory_order_relaxed);
}

/* The board has a committed key open for a recheck: this rank's next decision looks at it. Asked
 * once for as long as it is open there. */
static void ask_for_recheck(const struct nt_comm *comm, struct nt_own_key *key, uint32_t own)
{
	struct nt_key_helper *mine = &key->helper;
	uint32_t asked;

	if (atomic_load_explicit(&key->fixed.shared->state, memory_order_acquire) !=
	    NT_KEY_RECHECK) {
		mine->recheck_open = false;
		return;
	}
	if (mine->recheck_open || own != NT_OWN_COMMITTED || nt_comm_frozen(comm))
		return;
	mine->recheck_open = true;
	mine->stall.begun = false;
	atomic_store_explicit(&mine->stalled, 0, memory_order_relaxed);
	/* Nothing to pair with: the decision looks at the board itself. */
	asked = atomic_load_explicit(&mine->rechecks_asked, memory_order_relaxed);
	atomic_store_explicit(&mine->rechecks_asked, asked + 1, memory_order_relaxed);
}

static void look_at_key(const struct nt_comm *comm, struct nt_own_key *key, struct rounds *r,
			uint64_t *signature)
{
	struct nt_board_key *shared = key->fixed.shared;
	uint32_t member = comm->fixed.seat.member;
	uint64_t calls = nt_key_calls(key);
	uint32_t own = nt_key_state(key), state = NT_KEY_IDLE;

	if (shared)
		ask_for_recheck(comm, key, own);
	stop_measuring_silent(comm->fixed.process, key, calls, r->ms);
	note_stalled(key, own, calls, r->ms);
	if (shared) {
		state = atomic_load_explicit(&shared->state, memory_order_acquire);
		publish_calls(shared, member, calls);
	}
	/* A rank that left a key passes every plan, so that the node can sum up. */
	if (shared && (own == NT_OWN_GONE || (own == NT_OWN_COMMITTED && nt_comm_frozen(comm))))
		atomic_store(&shared->passed[member], atomic_load(&shared->epoch));
	r->decided |= own == NT_OWN_COMMITTED || state == NT_KEY_CLOSED;
	/* Of a communicator's ranks on a node one is enough. */
	r->explores |= member == 0 && (state == NT_KEY_OPEN || state == NT_KEY_RECHECK);
	mix(signature, own << 8 | state);
}

static void look_at_comm(struct nt_comm *comm, struct rounds *r, uint64_t *signature)
{
	const struct nt_board_comm *board = comm->fixed.board;

	mix(signature, comm->fixed.id ^ comm->kept.halves);
	if (comm->kept.left)
		return;
	if (board) {
		mix(signature, atomic_load_explicit(&board->state, memory_order_acquire));
		nt_board_grow(&comm->fixed.process->map, comm->fixed.seat.comm);
	}
	for (unsigned k = 0; k < nt_comm_keys(comm); k++) {
		if (nt_comm_key_id(comm, k) != 0)
			look_at_key(comm, &comm->key[k], r, signature);
	}
}

static void look_at_all(struct nt_process *process, struct rounds *r)
{
	uint64_t signature = UINT64_C(0xcbf29ce484222325);

	r->ms = nt_clock_ms();
	r->explores = false;
	pthread_mutex_lock(&process->lock);
	for (uint32_t i = 0; i < process->comms; i++)
		look_at_comm(process->comm[i], r, &signature);
	pthread_mutex_unlock(&process->lock);
	if (signature != r->signature)
		r->changed_ms = r->ms;
	r->signature = signature;
}

static void write_record(struct nt_process *process, struct rounds *r, bool end)
{
	if (!r->looked)
		nt_platform_look(&process->platform, &nt_platform_paths);
	r->looked = true;
	(void)nt_write_record(process, r->speaker, end);
	r->told_ms = r->ms;
}

/* Who looks at the running job sees how far it is. That takes no turn from what was decided: the
 * process may be killed at any time. */
static void tell_progress(struct nt_process *process, struct rounds *r)
{
	if (!r->explores)
		r->progress_ms = PROGRESS_FIRST_MS;
	if (!r->explores || (r->told_ms != 0 && r->ms - r->told_ms < r->progress_ms))
		return;
	write_record(process, r, false);
	r->progress_ms = 2 * r->progress_ms < PROGRESS_MS ? 2 * r->progress_ms : PROGRESS_MS;
}

static void write_when_due(struct nt_process *process, struct rounds *r)
{
	if (!r->decided || r->signature == r->written ||
	    (r->written_ms != 0 && r->ms - r->written_ms < RECORD_MS)) {
		tell_progress(process, r);
		return;
	}
	write_record(process, r, false);
	r->written_ms = r->ms;
	r->written = r->signature;
}

/* Remembered arms are offered, and no communicator has its seat yet: whether they are used is not
 * known. It does not change later. */
static bool warm_pends(struct nt_process *process)
{
	bool pends;

	pthread_mutex_lock(&process->lock);
	pends = process->warm.offered && !process->warm.checked;
	pthread_mutex_unlock(&process->lock);
	return pends;
}

/* Tried again now and then: the process that speaks may end before this one. */
static void create_speaker(struct nt_process *process, struct rounds *r)
{
	const struct nt_policy policy = nt_engine_policy(&process->policy);
	struct nt_speaker_config config = {
		.board = process->map.board,
		.dir = process->place.dir,
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

	if (!nt_mode_chooses(process->policy.mode) || !process->map.board || warm_pends(process) ||
	    (r->tried_ms != 0 && r->ms - r->tried_ms < TRY_MS))
		return;
	/* The program's own MPI starts first, whenever that is: nobody of the node is late
	 * before. */
	if (process->nodes > 1 && nt_mpi_comes_first(&r->mpi)) {
		r->began_ms = r->ms;
		return;
	}
	r->home.engine.policy = policy;
	r->home.warm = nt_process_warm_arms(&process->warm);
	r->home.engine.histories = &r->histories;
	r->home.board = process->map.board;
	r->home.end_us = process->end_us;
	r->home.marker = &r->marker;
	if (r->home.began_us == 0)
		r->home.began_us = nt_clock_us();
	config.hooks = nt_home_hooks(&r->home);
	beat = atomic_load_explicit(&process->map.board->beat, memory_order_relaxed);
	if (r->tried_ms == 0 || beat == r->beat)
		r->speaker = nt_speaker_create(&config, NULL);
	r->beat = beat;
	r->tried_ms = r->ms;
}

static uint32_t one_round(struct nt_process *process, struct rounds *r)
{
	uint32_t sleep_ms = IDLE_MS, speaker_ms;

	look_at_all(process, r);
	nt_chain_tick(r->ms);
	if (r->ms - r->changed_ms < CALM_MS)
		sleep_ms = BUSY_MS;
	if (!r->speaker)
		create_speaker(process, r);
	if (r->speaker) {
		speaker_ms = nt_speaker_step(r->speaker, r->ms);
		sleep_ms = speaker_ms < sleep_ms ? speaker_ms : sleep_ms;
	}
	write_when_due(process, r);
	return sleep_ms;
}

/* Ended communicators included: their last calls may not have been read. */
static void read_marker(struct nt_process *process, struct rounds *r)
{
	pthread_mutex_lock(&process->lock);
	nt_marker_read(&r->marker, nt_clock_us());
	for (uint32_t i = 0; i < process->comms; i++) {
		struct nt_comm *comm = process->comm[i];
		struct nt_marker_key key = { .comm = comm->fixed.opened,
					     .ranks = comm->fixed.ranks };

		for (unsigned k = 0; k < nt_comm_keys(comm); k++) {
			struct nt_own_key *own = &comm->key[k];

			key.key = nt_comm_key_id(comm, k);
			if (key.key != 0)
				nt_marker_see(&r->marker, &key, &own->helper.marker,
					      nt_key_calls(own));
		}
	}
	pthread_mutex_unlock(&process->lock);
}

/* Until the next round; calls are read more often than that. True: it is time to end. */
static bool rest(struct nt_process *process, struct rounds *r, uint32_t sleep_ms)
{
	const uint64_t until_ms = nt_clock_ms() + sleep_ms;
	uint64_t now_ms = until_ms - sleep_ms;

	do {
		uint64_t rest_ms;

		read_marker(process, r);
		rest_ms = nt_marker_rest_us(&r->marker) / 1000;
		rest_ms = rest_ms < READ_MS ? READ_MS : rest_ms;
		rest_ms = rest_ms > until_ms - now_ms ? until_ms - now_ms : rest_ms;
		if (nt_process_rest(process, (uint32_t)rest_ms))
			return true;
		now_ms = nt_clock_ms();
	} while (now_ms < until_ms);
	return false;
}

static void live(struct nt_process *process)
{
	struct rounds r = { .changed_ms = nt_clock_ms(), .began_ms = nt_clock_ms() };

	process->histories = &r.histories;
	process->marker = &r.marker;
	while (!rest(process, &r, one_round(process, &r)))
		;
	look_at_all(process, &r);
	read_marker(process, &r);
	write_record(process, &r, true);
	nt_speaker_destroy(r.speaker);
	process->histories = NULL;
	process->marker = NULL;
	nt_histories_clear(&r.histories);
	nt_marker_clear(&r.marker);
}

const struct nt_work nt_rounds = {
	.live = live,
	.leave = nt_comm_leave_all,
	.clear = nt_comm_free_all,
	.forked = nt_chain_forked,
};
