/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* orders.c - the agreement's shared memory in all executions that C11 allows
 *
 * The threads run the real code of the node leader (pmix-sync/participant.c, view.c, shm.c, join.c)
 * and of a rank (pmix-sync/turn.h, tuner/). What the coordinator says is the scenario's.
 */
#include <stdlib.h>

#include "pmix-sync/outbox.h"
#include "pmix-sync/participant.h"
#include "pmix-sync/recheck-timer.h"
#include "pmix-sync/shm.h"
#include "pmix-sync/turn.h"
#include "pmix-sync/view.h"
#include "tests/model/orders-explorer.h"
#include "tests/model/orders-parts.h"
#include "tuner/comm-status.h"
#include "tuner/key-shares.h"

#define RANKS 2
#define TURNS 6
#define ID 11u

static struct nt_shm shm;
static struct nt_agree leader;
static struct nt_agree_comm comm;
static struct nt_process process;
static struct nt_comm ranks; /* the communicator as rank 0 has it */

/* What threads have noted; read at the end of a run. */
static struct {
	struct nt_turn mine[RANKS];
	uint32_t followed[RANKS][TURNS]; /* epoch by turn; 0: the baseline */
	bool over[RANKS];
	uint32_t at[4], committed; /* by epoch; its bits */
	uint32_t answer; /* the newest entry of the leader */
	uint32_t epoch; /* of plans that the setup made */
	bool joined, retired, read, wrong;
	struct nt_slot slot;
	int key;
	double us;
	uint32_t time;
} saw;

/* Instead of outbox.c and tree.c. */
void nt_outbox_answer(struct nt_agree *a, const struct nt_agree_comm *of,
		      const struct nt_agree_key *key, struct nt_entry entry)
{
	(void)a, (void)of, (void)key;
	saw.answer = entry.type;
}

void nt_outbox_refuse(struct nt_agree *a, struct nt_agree_comm *of, int why)
{
	(void)a, (void)why;
	of->refusing = true;
}

uint32_t nt_tree_children(const struct nt_agree_comm *of, const uint32_t **first)
{
	(void)of, (void)first;
	return 0;
}

/* Instead of engine/schedule.c: reads all, and accepts all. */
int nt_schedule_read(struct nt_schedule *schedule, const uint8_t *bytes, size_t count)
{
	memcpy(schedule, bytes, count);
	return 0;
}

void nt_comm_drop_key(struct nt_comm *of, struct nt_local_key *key)
{
	(void)of;
	key->decision.open = false;
}

/* Who waits at the gate for the leader (shm.c). */
int model_nanosleep(const struct timespec *pause, struct timespec *left)
{
	(void)pause, (void)left;
	model_wait(&shm.gate);
	return 0;
}

static struct nt_shm_key *shared(void)
{
	return &shm.comm[0].key[0];
}

static struct nt_agree_key *leaders(void)
{
	return &comm.keys[0];
}

static void join_ranks(unsigned ranks)
{
	struct nt_capabilities caps = { .active = 1 };
	struct nt_slot slot;

	for (unsigned r = 0; r < ranks; r++) {
		caps.rank = (int32_t)r;
		if (nt_shm_join(&shm, ID, ranks, 1, &caps, &slot, NULL) < 0)
			abort();
	}
}

/* One key of one communicator, open, its turn known to be 0. */
static void open_key(unsigned count)
{
	static const float cost_us[NT_PAIRS];
	struct nt_slot slot = { .shm = &shm };

	memset(&saw, 0, sizeof(saw));
	memset(saw.followed, 0xff, sizeof(saw.followed));
	memset(&leader, 0, sizeof(leader));
	memset(&comm, 0, sizeof(comm));
	memset(&ranks, 0, sizeof(ranks));
	leader.config.shm = process.map.shm = &shm;
	ranks.fixed.process = &process;
	ranks.fixed.shm = &shm.comm[0];
	ranks.key[0].fixed.shared = shared();
	ranks.key[0].decision.open = true;
	ranks.decision.keys = 1;
	nt_key_set_state(&ranks.key[0], NT_LOCAL_OPEN);
	join_ranks(count);
	nt_shm_key(&slot, 7, 0, cost_us, NT_SHM_KEYS);
	comm.id = ID;
	comm.local = comm.agreed = true;
	nt_participant_key(&comm, 7)->slot = 0;
	comm.slots = 1;
	leaders()->wanted = leaders()->ready = true;
	atomic_store(&shared()->state, NT_KEY_OPEN);
	for (unsigned r = 0; r < count; r++)
		atomic_store(&shared()->turn[r], 1);
}

static void setup_one(void)
{
	open_key(1);
}

static void setup_two(void)
{
	open_key(2);
}

static void say(uint32_t type, uint32_t epoch, uint64_t at, uint64_t span)
{
	const struct nt_entry entry = { .type = type,
					.epoch = epoch,
					.key = 7,
					.stride = 1,
					.cell = 1,
					.turn = at,
					.span = span };

	nt_participant_entry(&leader, &comm, &entry);
}

/* True: it was held, and committed. */
static bool propose(uint32_t epoch, uint64_t at, uint64_t span)
{
	saw.answer = 0;
	say(NT_ENTRY_PROPOSE, epoch, at, span);
	if (saw.answer != NT_ENTRY_ACK)
		return false;
	saw.at[epoch] = (uint32_t)at;
	say(NT_ENTRY_COMMIT, epoch, at, span);
	saw.committed |= 1u << epoch;
	return true;
}

/* A plan for good from turn 1 on, and a recheck. */
static void committed_setup(void)
{
	open_key(1);
	if (!propose(1, 1, NT_NEVER))
		abort();
	leaders()->rechecking = true;
}

static void take(unsigned rank, uint64_t turn)
{
	const struct nt_plan *plan;
	int64_t position;

	while (nt_turn_take(shared(), rank, turn, &saw.mine[rank]) == NT_TURN_WAIT)
		model_wait(&shared()->hold_at);
	plan = nt_turn_plan(&saw.mine[rank], turn, &position);
	saw.followed[rank][turn] = plan ? plan->epoch : 0;
}

/* What all ranks must follow at a turn: the newest plan for good that was reached. */
static uint32_t due(unsigned turn)
{
	uint32_t epoch = 0;

	for (uint32_t e = 1; e < 4; e++) {
		if (saw.committed & 1u << e && turn >= saw.at[e])
			epoch = e;
	}
	return epoch;
}

static void end_all(void)
{
	for (unsigned r = 0; r < RANKS; r++) {
		if (nt_view_joined(&shm.comm[0], r) && !saw.over[r])
			model_wrong("a wait without end");
		for (unsigned t = 0; t < TURNS; t++) {
			if (saw.followed[r][t] != UINT32_MAX && saw.followed[r][t] != due(t))
				model_wrong("ranks differ");
		}
	}
}

/* A proposal, its outcome, and ranks that come to its turn. */
static void hold_leader(void)
{
	if (model_choose(2) == 0) {
		propose(1, 2, NT_NEVER);
		return;
	}
	say(NT_ENTRY_PROPOSE, 1, 2, NT_NEVER);
	if (saw.answer == NT_ENTRY_ACK)
		say(NT_ENTRY_ABORT, 1, 2, NT_NEVER);
}

static void hold_rank(void)
{
	take(0, 1);
	take(0, 2);
	take(0, 3);
	saw.over[0] = true;
}

static void hold_rank_1(void)
{
	take(1, 2);
	saw.over[1] = true;
}

/* Plans that follow each other, so that each place is written again. */
static void follow_leader(void)
{
	for (uint32_t epoch = 1; epoch < 4; epoch++) {
		leaders()->rechecking = true;
		while (!nt_view_passed(shared(), &shm.comm[0], &leaders()->installed))
			model_wait(&shared()->passed[0]);
		if (!propose(epoch, epoch, NT_NEVER))
			return;
	}
}

static void follow_rank(void)
{
	for (unsigned turn = 0; turn < 4; turn++)
		take(0, turn);
	saw.over[0] = true;
}

/* A rank with a committed plan looks away while another is proposed. */
static void away_setup(void)
{
	committed_setup();
	take(0, 1);
}

static void away_leader(void)
{
	propose(2, 3, NT_NEVER);
}

static void away_rank(void)
{
	bool away = false;

	for (unsigned turn = 2; turn < 5; turn++) {
		if (!away)
			take(0, turn);
		else
			saw.followed[0][turn] = saw.mine[0].plan.epoch;
		away = away || nt_turn_commit(shared(), 0, turn, &saw.mine[0]);
	}
	saw.over[0] = true;
}

/* A rank decides, and leaves. */
static void leave_rank(void)
{
	const struct nt_slot slot = { .shm = &shm };

	take(0, 2);
	saw.over[0] = true;
	nt_shm_leave(&slot);
}

/* A rank sets a flag and follows no plan any more, unless one is under way. */
static void flag_rank(void)
{
	take(0, 1);
	ranks.key[0].decision.turn = saw.mine[0];
	nt_comm_flag(&ranks, NT_PARTICIPANT_ASYNC);
	if (!model_any_plan(&ranks))
		saw.followed[0][2] = saw.followed[0][3] = 0;
	saw.over[0] = true;
}

/* A rank leaves a key that stalls, unless a plan is under way. */
static void stall_rank(void)
{
	take(0, 1);
	ranks.key[0].decision.turn = saw.mine[0];
	model_leave_stalled(&ranks, &ranks.key[0], 1);
	if (nt_key_state(&ranks.key[0]) == NT_LOCAL_GONE)
		saw.followed[0][2] = saw.followed[0][3] = 0;
	saw.over[0] = true;
}

/* A key is closed, and a record is written. */
static void close_leader(void)
{
	static const uint8_t result[8] = { 1 };
	const struct nt_entry entry = {
		.type = NT_ENTRY_CLOSE, .key = 7, .bytes = result, .count = sizeof(result)
	};

	nt_participant_entry(&leader, &comm, &entry);
}

static void close_reader(void)
{
	struct nt_outcome outcome;
	uint32_t state;

	(void)nt_comm_status_of_key(&ranks, &ranks.key[0], &state, &outcome);
}

static void no_end(void)
{
}

/* A communicator has agreed, or was rejected. */
static void agree_leader(void)
{
	struct nt_reason why;

	if (model_choose(2) == 0) {
		model_agree(&leader, &comm, 1);
		return;
	}
	nt_reason_set(&why, NT_REASON_LEFT);
	model_reject(&leader, &comm, &why);
}

static void agree_reader(void)
{
	struct nt_reason why;

	saw.wrong = nt_comm_status(&ranks, &why) == NT_COMM_AGREED &&
		    nt_comm_status_risks(&ranks) != 1;
}

static void end_agree(void)
{
	if (saw.wrong)
		model_wrong("agreed, and a risk is not seen");
}

/* All ranks leave, and the memory is used again. */
static void retire_leader(void)
{
	while (!nt_shm_left(&shm.comm[0]))
		model_wait(&shm.comm[0].slot[0].state);
	saw.retired = nt_shm_retire(&shm, 0);
}

static void retire_rank(void)
{
	const struct nt_slot slot = { .shm = &shm };

	take(0, 1);
	saw.over[0] = true;
	nt_shm_leave(&slot);
}

static void claim(uint64_t id, uint64_t key)
{
	const struct nt_capabilities caps = { .active = 1, .rank = 1, .task = 5 };
	static const float cost_us[NT_PAIRS] = { 3 };
	struct nt_slot slot;

	if (nt_shm_join(&shm, id, 2, 1, &caps, &slot, NULL) < 0)
		return;
	saw.joined = true;
	saw.slot = slot;
	saw.key = nt_shm_key(&slot, key, 0, cost_us, NT_SHM_KEYS);
}

static void claim_again(void)
{
	claim(ID, 8);
}

static void end_retire(void)
{
	const struct nt_shm_comm *place = &shm.comm[saw.slot.comm];

	if (!saw.joined)
		return;
	if (atomic_load(&place->id) != ID || atomic_load(&shm.gate) != 0 ||
	    atomic_load(&place->slot[saw.slot.index].state) != NT_PARTICIPANT_JOINED ||
	    place->slot[saw.slot.index].caps.task != 5)
		model_wrong("a slot of a rank was cleared");
	if (saw.key >= 0 &&
	    (atomic_load(&place->key[saw.key].id) != 8 ||
	     atomic_load(&place->key[saw.key].turn[0]) != 0 ||
	     atomic_load(&place->key[saw.key].epoch) != 0 ||
	     !atomic_load(&place->key[saw.key].described) || place->key[saw.key].cost_us[0] != 3))
		model_wrong("a key of a rank was cleared");
}

/* A key is claimed by one rank and read by the others. */
static void key_setup(void)
{
	memset(&saw, 0, sizeof(saw));
}

static void key_rank(void)
{
	claim(ID, 7);
}

static void key_reader(void)
{
	const struct nt_shm_comm *place = &shm.comm[0];

	for (uint32_t r = 0; nt_shm_taken(place, r); r++)
		saw.wrong |= nt_view_joined(place, r) && place->slot[r].caps.task != 5;
	if (!nt_shm_claimed(place, 0))
		return;
	saw.us = nt_key_shares_rank_us(&place->key[0]);
	saw.read = true;
}

static void end_key(void)
{
	if (saw.wrong || (saw.read && saw.us != 0 && saw.us != 3))
		model_wrong("a key or a rank is read before it is described");
}

/* A window is measured. */
static void sample_setup(void)
{
	open_key(1);
}

static void sample_leader(void)
{
	if (!propose(1, 1, 1))
		return;
	while (!nt_view_passed(shared(), &shm.comm[0], &leaders()->installed))
		model_wait(&shared()->turn[0]);
	while (!nt_view_measured(&leader, &leaders()->installed, &shm.comm[0]))
		model_wait(&shm.run[leaders()->installed.run].done[0]);
	saw.time = atomic_load_explicit(&shm.run[leaders()->installed.run].sample[0][0],
					memory_order_relaxed); /* as tuner/explorer.c */
	saw.read = true;
}

static void sample_rank(void)
{
	struct nt_sample to = { .key = &ranks.key[0], .owner = 1 };

	take(0, 1);
	to.epoch = saw.followed[0][1];
	to.run = saw.mine[0].plan.run;
	if (to.epoch != 0) /* as tuner/event.c */
		atomic_fetch_add_explicit(&shm.run[to.run].issued[0], 1, memory_order_relaxed);
	take(0, 2);
	if (to.epoch != 0)
		model_keep_time(&process, &to, 100);
	saw.over[0] = true;
}

static void end_sample(void)
{
	if (saw.read && saw.time != (saw.followed[0][1] != 0 ? 100 : 0))
		model_wrong("a sample is missing");
	if (!saw.over[0])
		model_wrong("a wait without end");
}

const struct model_case model_cases[] = {
	{ "hold", setup_one, { hold_leader, hold_rank }, end_all },
	{ "looks away", away_setup, { away_leader, away_rank }, end_all },
	{ "leaves", setup_one, { hold_leader, leave_rank }, end_all },
	{ "a flag", setup_one, { hold_leader, flag_rank }, end_all },
	{ "a key stalls", setup_one, { hold_leader, stall_rank }, end_all },
	{ "hold, two ranks", setup_two, { hold_leader, hold_rank, hold_rank_1 }, end_all },
	{ "a sample", sample_setup, { sample_leader, sample_rank }, end_sample },
	{ "a key", key_setup, { key_reader, key_rank }, end_key },
	{ "memory used again",
	  committed_setup,
	  { retire_leader, retire_rank, claim_again },
	  end_retire },
	{ "a key is closed", setup_one, { close_leader, close_reader }, no_end },
	{ "agreed or not", setup_one, { agree_leader, agree_reader }, end_agree },
	{ "plans in a row", setup_one, { follow_leader, follow_rank }, end_all },
};

const unsigned model_case_count = sizeof(model_cases) / sizeof(model_cases[0]);

void model_cases_memory(void)
{
	model_memory(&shm, sizeof(shm));
}
