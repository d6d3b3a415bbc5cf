/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* comm.c - see comm.h */
#include "tuner/comm.h"

#include <dlfcn.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tuner/log.h"

#define MINIMUM_API 5 /* of both halves: turns and captures are seen from here on (NCCL 2.28) */
/* where the user promises that there are no captures (NCCL 2.27) */
#define MINIMUM_API_NO_GRAPHS 4

/* From the profiler's init to the tuner's of the same communicator, on the same thread. */
static _Thread_local struct nt_comm *handed_over;

/* ncclGetVersion() of the copy of NCCL that the logger belongs to; 0 unknown. */
static uint32_t nccl_version(nt_nccl_log log)
{
	int (*get_version)(int *version) = NULL;
	void *library = NULL;
	int version = 0;
	Dl_info info;

	if (log && dladdr((void *)(uintptr_t)log, &info) && info.dli_fname)
		library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
	*(void **)&get_version = dlsym(library ? library : RTLD_DEFAULT, "ncclGetVersion");
	if (get_version && get_version(&version) != NT_NCCL_OK)
		version = 0;
	if (library)
		dlclose(library);
	return version > 0 ? (uint32_t)version : 0;
}

/* The lock is held. The oldest communicator that NCCL has finalized, NULL: all are alive. */
static struct nt_comm *oldest_ended(struct nt_session *session)
{
	struct nt_comm *oldest = NULL;

	for (uint32_t i = 0; i < session->comms; i++) {
		struct nt_comm *comm = session->comm[i];

		if (comm->halves == 0 && (!oldest || comm->opened < oldest->opened))
			oldest = comm;
	}
	return oldest;
}

static struct nt_comm *take_room(struct nt_session *session)
{
	_Atomic uint32_t *observed = NULL;
	struct nt_comm *comm = NULL;

	if (session->comms < NT_COMMS_MAX) {
		comm = calloc(1, sizeof(*comm));
		if (comm && session->policy.mode == NT_MODE_OBSERVE)
			observed = calloc((size_t)NT_OWN_KEYS * NT_OBSERVED_MAX, sizeof(*observed));
	}
	if (comm) {
		comm->index = session->comms;
		session->comm[session->comms++] = comm;
	} else {
		uint32_t index;

		comm = oldest_ended(session);
		if (!comm)
			return NULL;
		nt_slot_forget(&session->slots, comm);
		observed = comm->observed_ns;
		index = comm->index;
		memset(comm, 0, sizeof(*comm));
		comm->index = index;
	}
	comm->observed_ns = observed;
	return comm;
}

static enum nt_idle idle_of(const struct nt_comm *comm)
{
	const struct nt_session *session = comm->session;
	int least = session->policy.graphs == NT_GRAPHS_NEVER ? MINIMUM_API_NO_GRAPHS : MINIMUM_API;

	if (session->policy.mode != NT_MODE_BANDIT)
		return NT_IDLE_MODE;
	if (!session->map.board)
		return NT_IDLE_BOARD;
	if (comm->tuner_api == 0 || comm->profiler_api == 0)
		return NT_IDLE_HALF;
	if (comm->tuner_api < least || comm->profiler_api < least)
		return NT_IDLE_API;
	return NT_IDLE_NO;
}

static void fill_card(struct nt_comm *comm)
{
	const struct nt_session *session = comm->session;
	struct nt_card *card = &comm->card;

	card->fingerprint = session->place.fingerprint;
	card->build = session->build;
	card->policy = session->policy_hash;
	card->nccl = atomic_load(&session->nccl);
	card->api = (uint32_t)(comm->tuner_api * 256 + comm->profiler_api);
	card->idle = idle_of(comm);
	card->active = card->idle == NT_IDLE_NO;
	card->rank = comm->rank;
	card->task = session->in_step ? session->task : (uint32_t)comm->rank;
}

/* From 2.29.2 on NCCL rebuilds Broadcast's tasks without their events, unless told not to
 * (ncclPrepareTasks, src/enqueue.cc:367@v2.30.7-1): their turn is never known. */
static bool is_broadcast_mute(uint32_t nccl)
{
	const char *text = getenv("NCCL_ALLGATHERV_ENABLE");

	return nccl >= 22902 && !(text && strcmp(text, "0") == 0);
}

/* From 2.29.2 on, where all ranks see each other over NVLink and buffers are in windows, NCCL first
 * asks what it would run, and takes a symmetric kernel without any event if that is LL
 * (src/scheduler/symmetric_sched.cc:98@v2.29.2-1). An exploration would stay at such a position for
 * ever. Where the version is not known it may be one of these. */
static uint32_t allowed_pairs(uint32_t nccl, uint32_t nodes)
{
	uint32_t all = (UINT32_C(1) << NT_PAIRS) - 1;

	if (nodes > 1 || (nccl != 0 && nccl < 22902))
		return all;
	for (int a = 0; a < NT_ALGOS; a++)
		all &= ~(UINT32_C(1) << (a * NT_PROTOS)); /* LL is protocol 0 */
	return all;
}

/* The lock is held. Every rank that can shows its card, also where it takes no plan: the others
 * must know. */
static void take_seat(struct nt_comm *comm)
{
	struct nt_session *session = comm->session;
	struct nt_error err = { "" };

	fill_card(comm);
	comm->allowed = allowed_pairs(comm->card.nccl, comm->nodes);
	comm->chunks = comm->tuner_api >= NT_TUNER_CHUNK_API &&
		       session->policy.chunks == NT_SWITCH_ON;
	if (session->policy.mode != NT_MODE_BANDIT) {
		nt_error_set(&err, "mode %s: nothing is tried", nt_mode_name(session->policy.mode));
	} else if (!session->map.board) {
		nt_error_set(&err, "%s", session->board_error.text);
	} else if (comm->rank < 0 || comm->id == 0) {
		nt_error_set(&err, "NCCL does not tell this plugin its rank");
	} else if (nt_board_join(session->map.board, comm->id, comm->ranks, comm->nodes,
				 &comm->card, &comm->seat, &err) == 0) {
		comm->board = &session->map.board->comm[comm->seat.comm];
		comm->mute_broadcast = is_broadcast_mute(comm->card.nccl);
		comm->seated = comm->card.active;
		return;
	}
	snprintf(comm->why, sizeof(comm->why), "%.*s", (int)sizeof(comm->why) - 1, err.text);
}

static struct nt_comm *create(struct nt_session *session, const struct nt_comm_identity *who,
			      enum nt_half half)
{
	static _Atomic uint32_t order;
	struct nt_comm *comm;

	pthread_mutex_lock(&session->lock);
	comm = take_room(session);
	if (comm) {
		comm->session = session;
		comm->id = who->id;
		comm->rank = who->rank;
		comm->ranks = (uint32_t)who->ranks;
		comm->nodes = (uint32_t)who->nodes;
		comm->opened = atomic_fetch_add_explicit(&order, 1, memory_order_relaxed);
		comm->halves = half;
		*(half == NT_HALF_TUNER ? &comm->tuner_api : &comm->profiler_api) = who->api;
		/* The user's own tuner is in force: ours will not be asked, and the other ranks
		 * must know. */
		if (half == NT_HALF_TUNER || session->place.flags & NT_PLACE_NO_TUNER)
			take_seat(comm);
		snprintf(comm->name, sizeof(comm->name), "%s", who->name ? who->name : "");
	}
	pthread_mutex_unlock(&session->lock);
	if (!comm)
		nt_session_count(session, NT_COUNT_NO_COMM);
	return comm;
}

/* Asked of NCCL itself, before a lock of ours is held. */
static void learn_version(struct nt_session *session)
{
	if (atomic_load(&session->nccl) == 0)
		atomic_store(&session->nccl, nccl_version(session->log));
}

struct nt_comm *nt_comm_open_profiler(struct nt_session *session,
				      const struct nt_comm_identity *who)
{
	learn_version(session);
	handed_over = create(session, who, NT_HALF_PROFILER);
	if (handed_over)
		nt_helper_start(session);
	return handed_over;
}

/* What the profiler's init on this thread left, if it is of the same communicator; then it has its
 * tuner. */
static struct nt_comm *take_over(struct nt_session *session, const struct nt_comm_identity *who)
{
	struct nt_comm *comm = handed_over;

	handed_over = NULL;
	if (!comm)
		return NULL;
	pthread_mutex_lock(&session->lock);
	if (comm->session != session || comm->board || comm->halves != NT_HALF_PROFILER ||
	    comm->ranks != who->ranks || comm->nodes != who->nodes ||
	    (who->id && comm->id && who->id != comm->id)) {
		comm = NULL;
	} else {
		comm->halves |= NT_HALF_TUNER;
		comm->tuner_api = who->api;
		take_seat(comm);
	}
	pthread_mutex_unlock(&session->lock);
	return comm;
}

struct nt_comm *nt_comm_open_tuner(struct nt_session *session, const struct nt_comm_identity *who)
{
	struct nt_comm *comm;

	learn_version(session);
	comm = take_over(session, who);
	if (!comm)
		comm = create(session, who, NT_HALF_TUNER);
	if (comm)
		nt_helper_start(session);
	return comm;
}

static void close_half(struct nt_comm *comm, enum nt_half half)
{
	pthread_mutex_lock(&comm->session->lock);
	comm->halves &= ~(uint32_t)half;
	pthread_mutex_unlock(&comm->session->lock);
}

/* What the helper has not published yet. */
static void publish_calls(struct nt_comm *comm)
{
	for (unsigned i = 0; i < NT_OWN_KEYS; i++) {
		struct nt_own_key *key = &comm->key[i];

		if (key->shared)
			atomic_store(&key->shared->calls[comm->seat.member],
				     atomic_load(&key->calls));
	}
}

static void say_end(const struct nt_comm *comm)
{
	unsigned keys = 0, latched = 0;
	uint64_t calls = 0;

	for (unsigned i = 0; i < NT_OWN_KEYS; i++) {
		if (atomic_load_explicit(&comm->key_id[i], memory_order_relaxed) == 0)
			continue;
		keys++;
		calls += atomic_load_explicit(&comm->key[i].calls, memory_order_relaxed);
		latched += atomic_load_explicit(&comm->key[i].state, memory_order_relaxed) ==
			   NT_OWN_LATCHED;
	}
	NT_INFO(comm->session->log,
		"communicator %016llx %s rank %d of %u: %llu decisions, %u keys, %u not on AUTO",
		(unsigned long long)comm->id, comm->name, comm->rank, comm->ranks,
		(unsigned long long)calls, keys, latched);
}

void nt_comm_close_tuner(struct nt_comm *comm)
{
	if (!comm)
		return;
	for (unsigned i = 0; i < NT_OWN_KEYS; i++)
		nt_comm_drop_key(comm, &comm->key[i]);
	if (comm->board) {
		publish_calls(comm);
		nt_comm_leave_board(comm);
	}
	say_end(comm);
	close_half(comm, NT_HALF_TUNER);
}

void nt_comm_close_profiler(struct nt_comm *comm)
{
	if (!comm)
		return;
	if (handed_over == comm)
		handed_over = NULL;
	/* With a tuner the seat was left in its finalize. */
	if (comm->board && comm->tuner_api == 0)
		nt_comm_leave_board(comm);
	close_half(comm, NT_HALF_PROFILER);
}

void nt_comm_open_key(struct nt_comm *comm, struct nt_own_key *key)
{
	if (key->open)
		return;
	key->open = true;
	if (comm->open_keys++ != 0)
		return;
	nt_mask_open(&comm->session->mask, 1);
	/* Tasks of this very group may have been appended with the mask off, so that it has only
	 * some of its Coll events: turns count from the next group on. */
	atomic_store_explicit(&comm->boundary, false, memory_order_relaxed);
	comm->open_group = atomic_fetch_add_explicit(&comm->group, 1, memory_order_relaxed) + 1;
	comm->fifo_count = 0;
	atomic_store_explicit(&comm->launching, false, memory_order_relaxed);
	atomic_store_explicit(&comm->decider, nt_thread_self(), memory_order_relaxed);
	/* Pairs with the acquire in nt_event_coll(). */
	atomic_store_explicit(&comm->listening, true, memory_order_release);
}

void nt_comm_measure_key(struct nt_comm *comm, struct nt_own_key *key, bool on)
{
	/* Nothing to pair with: whoever changes the value also changes the count. */
	if (atomic_load_explicit(&key->measuring, memory_order_relaxed) == on ||
	    atomic_exchange_explicit(&key->measuring, on, memory_order_relaxed) == on)
		return;
	if (on)
		key->measure_group = atomic_load_explicit(&comm->group, memory_order_relaxed);
	nt_mask_measure(&comm->session->mask, on ? 1 : -1);
}

void nt_comm_drop_key(struct nt_comm *comm, struct nt_own_key *key)
{
	nt_comm_measure_key(comm, key, false);
	if (!key->open)
		return;
	key->open = false;
	if (--comm->open_keys != 0)
		return;
	atomic_store_explicit(&comm->listening, false, memory_order_relaxed);
	nt_mask_open(&comm->session->mask, -1);
}

void nt_comm_flag(struct nt_comm *comm, uint32_t flag)
{
	/* Nothing is told of a communicator that has ended; nobody calls it then. */
	if (comm->board && !comm->left)
		atomic_fetch_or(&comm->board->member[comm->seat.member].flags, flag);
}

void nt_comm_freeze(struct nt_comm *comm)
{
	if (atomic_exchange_explicit(&comm->frozen, true, memory_order_relaxed))
		return;
	nt_session_count(comm->session, NT_COUNT_FROZEN);
	nt_mask_forbid(&comm->session->mask);
	/* First the flag: nobody may take a key for ready that this rank has left. */
	nt_comm_flag(comm, NT_MEMBER_GRAPHS);
	for (unsigned i = 0; i < NT_OWN_KEYS; i++) {
		struct nt_own_key *key = &comm->key[i];

		uint32_t state = atomic_load_explicit(&key->state, memory_order_relaxed);

		if (key->shared && (state == NT_OWN_OPEN || state == NT_OWN_AGAIN))
			nt_comm_latch_reached(comm, key);
		nt_comm_drop_key(comm, key);
		if (state == NT_OWN_COUNTED || state == NT_OWN_CLOSED || state == NT_OWN_GONE)
			continue;
		if (key->shared) {
			atomic_store(&key->shared->turn[comm->seat.member], NT_TURN_GONE);
			atomic_store(&key->shared->passed[comm->seat.member],
				     atomic_load(&key->shared->epoch));
		}
		if (atomic_load_explicit(&key->state, memory_order_relaxed) == NT_OWN_OPEN)
			atomic_store_explicit(&key->state, NT_OWN_GONE, memory_order_release);
	}
}

int nt_auto_pick(const float *cost, int pairs)
{
	int pick = NT_ARM_AUTO;
	float least = FLT_MAX;

	for (int i = 0; i < pairs; i++) {
		if (cost[i] >= 0.0f && cost[i] < least) {
			least = cost[i];
			pick = i;
		}
	}
	return pick;
}

static void describe_key(struct nt_comm *comm, unsigned at, uint64_t id, const float *cost,
			 int algos)
{
	struct nt_own_key *key = &comm->key[at];
	const float *model = comm->model ? comm->model : cost; /* NCCL's prediction */
	int slot;

	for (int i = 0; i < NT_PAIRS; i++)
		key->cost_us[i] = i < algos * NT_PROTOS ? model[i] : -1.0f;
	key->auto_arm = (uint8_t)nt_auto_pick(cost, algos * NT_PROTOS);
	if (comm->observed_ns)
		key->observed_ns = comm->observed_ns + (size_t)at * NT_OBSERVED_MAX;
	if (comm->seated && !nt_comm_frozen(comm) &&
	    !(comm->mute_broadcast && nt_key_coll(id) == NT_BROADCAST)) {
		slot = nt_board_key(&comm->seat, id, key->auto_arm, key->cost_us);
		if (slot >= 0)
			key->shared = &comm->board->key[slot];
	}
	/* Pairs with the helper's acquire: an id that is there is described. */
	atomic_store_explicit(&comm->key_id[at], id, memory_order_release);
}

struct nt_own_key *nt_comm_key(struct nt_comm *comm, uint64_t id, const float *cost, int algos)
{
	unsigned at = (unsigned)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 58);

	_Static_assert(NT_OWN_KEYS == 64, "six bits of the product");
	for (unsigned tries = 0; tries < NT_OWN_KEYS; tries++) {
		/* Only this thread writes ids. */
		uint64_t have = atomic_load_explicit(&comm->key_id[at], memory_order_relaxed);

		if (have == id)
			return &comm->key[at];
		if (have == 0) {
			describe_key(comm, at, id, cost, algos);
			return &comm->key[at];
		}
		at = (at + 1) & (NT_OWN_KEYS - 1);
	}
	return NULL;
}
