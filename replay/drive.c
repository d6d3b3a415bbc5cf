/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* drive.c - what the agreement and the ranks do with one key, without either */
#include "replay/drive.h"

#include <stdlib.h>
#include <string.h>
#include "replay/rng.h"

#define MAX_ROUNDS 16 /* no engine needs more */
#define MAX_US 4294967.0 /* that a board can hold */

int nt_drive_init(struct nt_drive *drive, const struct nt_policy *policy)
{
	*drive = (struct nt_drive){ .engine.policy = *policy };
	drive->board = calloc(1, sizeof(*drive->board));
	return drive->board ? 0 : -1;
}

void nt_drive_fini(struct nt_drive *drive)
{
	free(drive->board);
	drive->board = NULL;
}

/* Where a job's ranks put what they see: what the first key does not say, another one does. */
static void describe_channels(struct nt_board_comm *comm, const struct nt_channels *channels)
{
	const int any = NT_PROTOS; /* RING/LL */

	atomic_store(&comm->ranks, channels->ranks);
	for (unsigned pair = 0; pair < NT_PAIRS; pair++)
		atomic_store(&comm->key[0].channels[pair], channels->own[pair]);
	atomic_store(&comm->key[1].channels[any], (uint8_t)channels->most);
	atomic_store(&comm->member[0].state, NT_MEMBER_JOINED);
	comm->member[0].card.api = channels->chunks ? NT_REFINE_CHUNK_API << 8 : 0;
}

static struct nt_board_key *describe(struct nt_drive *drive, const struct nt_drive_key *key)
{
	struct nt_board_key *board_key = &drive->board->comm[0].key[0];

	atomic_store(&board_key->id, nt_key_id(NT_ALLREDUCE, nt_band(key->size_bytes), key->mask));
	board_key->auto_arm = key->auto_arm;
	memcpy(board_key->cost_us, key->cost_us, sizeof(board_key->cost_us));
	describe_channels(&drive->board->comm[0], &key->channels);
	atomic_store(&board_key->calls[0], UINT64_MAX / 2);
	atomic_store(&board_key->described, 1);
	return board_key;
}

static uint32_t ns_of(double us)
{
	return us < MAX_US ? (uint32_t)(us * 1000 + 0.5) : UINT32_MAX;
}

/* Every call of an exploration, on one rank. */
static void play(struct nt_drive *drive, const struct nt_drive_key *key, const struct nt_plan *plan,
		 const struct nt_schedule *schedule, struct nt_driven *out)
{
	struct nt_board_run *run = &drive->board->run[0];

	memset(run, 0, sizeof(*run));
	for (unsigned p = 0; p < nt_schedule_positions(schedule); p++) {
		unsigned arm = (unsigned)nt_schedule_arm(schedule, plan->epoch, p);
		double us = key->time_us(key->arg, arm, out->calls + p);

		out->of_auto += arm == NT_ARM_AUTO;
		if (drive->miss > 0 && nt_rng_unit(drive->seed++) < drive->miss)
			continue;
		atomic_store(&run->sample_ns[0][p], ns_of(us));
		us += key->rest_us ? key->rest_us(key->arg, arm, out->calls + p) : 0;
		atomic_store(&run->period_ns[0][p], ns_of(us));
		out->samples++;
	}
}

/* Called with each exploration: its times into bytes; -1: there are none. */
typedef int feed(void *arg, const struct nt_plan *plan, const struct nt_schedule *schedule,
		 uint8_t *bytes);

struct feeding {
	struct nt_drive *drive;
	const struct nt_drive_key *key;
	const struct nt_drive_rounds *rounds;
	struct nt_driven *out;
};

static int feed_played(void *arg, const struct nt_plan *plan, const struct nt_schedule *schedule,
		       uint8_t *bytes)
{
	const struct feeding *f = arg;
	struct nt_agree_hooks hooks = nt_engine_hooks(&f->drive->engine);

	play(f->drive, f->key, plan, schedule, f->out);
	return (int)hooks.gather(hooks.arg, f->drive->board, plan, NT_BOARD_MEMBERS, bytes,
				 (size_t)2 * NT_TIMES_MAX);
}

static int feed_recorded(void *arg, const struct nt_plan *plan, const struct nt_schedule *schedule,
			 uint8_t *bytes)
{
	const struct feeding *f = arg;
	size_t length;

	(void)plan;
	if (f->out->rounds >= f->rounds->count)
		return -1;
	length = f->rounds->length[f->out->rounds];
	if (length > (size_t)2 * nt_times_room(schedule))
		return -1;
	memcpy(bytes, f->rounds->bytes[f->out->rounds], length);
	f->out->samples += nt_schedule_positions(schedule) < length / 2
				   ? nt_schedule_positions(schedule)
				   : (unsigned)length / 2;
	return (int)length;
}

/* The next plan; false where there is none that can be read. */
static bool next_plan(struct nt_drive *drive, void *open, struct nt_plan *plan,
		      struct nt_schedule *schedule, bool *done)
{
	struct nt_agree_hooks hooks = nt_engine_hooks(&drive->engine);
	int more;

	*plan = (struct nt_plan){ .stride = 1 };
	more = hooks.next(open, plan);
	if (more == 0 && plan->payload_bytes == 0) {
		*done = true; /* what was before stays */
		return true;
	}
	plan->epoch = (uint32_t)nt_rng_hash(drive->seed++);
	*done = more == 0 || plan->until == NT_NEVER;
	return nt_schedule_read(schedule, plan->payload, plan->payload_bytes) == 0 &&
	       (*done || plan->until == nt_schedule_positions(schedule));
}

static void *open_key(struct nt_drive *drive, const struct nt_drive_key *key)
{
	struct nt_agree_hooks hooks = nt_engine_hooks(&drive->engine);
	struct nt_board_comm *comm = &drive->board->comm[0];
	struct nt_board_key *board_key = describe(drive, key);

	return hooks.worth(hooks.arg, comm, board_key) ? hooks.start(hooks.arg, comm, board_key)
						       : NULL;
}

/* Where a job went no further it may have been for its budget, a share of its calls. */
static void leave_budget(const struct feeding *f)
{
	if (f->rounds && f->out->rounds >= f->rounds->count)
		atomic_store(&f->drive->board->comm[0].key[0].calls[0], 0);
}

static bool explore(struct nt_drive *drive, void *open, feed *times, struct feeding *f)
{
	struct nt_agree_hooks hooks = nt_engine_hooks(&drive->engine);
	struct nt_schedule schedule = { .kind = 0 };
	uint8_t bytes[2 * NT_TIMES_MAX];
	bool done = false;
	int length = 0;

	*f->out = (struct nt_driven){ .calls = 0 };
	while (open && !done && length >= 0 && f->out->rounds < MAX_ROUNDS) {
		struct nt_plan plan;

		leave_budget(f);
		if (!next_plan(drive, open, &plan, &schedule, &done))
			break;
		if (done)
			break;
		length = times(f, &plan, &schedule, bytes);
		if (length < 0)
			break;
		f->out->calls += nt_schedule_positions(&schedule);
		f->out->rounds++;
		hooks.absorb(open, bytes, (size_t)length);
	}
	if (open)
		hooks.end(open);
	f->out->outcome = schedule.outcome;
	return done;
}

bool nt_drive_run(struct nt_drive *drive, const struct nt_drive_key *key, struct nt_driven *out)
{
	struct feeding f = { .drive = drive, .key = key, .out = out };

	return explore(drive, open_key(drive, key), feed_played, &f);
}

bool nt_drive_again(struct nt_drive *drive, const struct nt_drive_key *key, unsigned arm,
		    struct nt_driven *out)
{
	struct nt_agree_hooks hooks = nt_engine_hooks(&drive->engine);
	struct feeding f = { .drive = drive, .key = key, .out = out };
	const struct nt_schedule base = { .kind = NT_SCHEDULE_FINAL,
					  .count = 1,
					  .arm = { (uint16_t)arm } };
	struct nt_plan plan = { .until = NT_NEVER };
	void *open;
	bool done;

	plan.payload_bytes = (uint32_t)nt_schedule_write(&base, plan.payload, sizeof(plan.payload));
	open = hooks.start_recheck(hooks.arg, &drive->board->comm[0], describe(drive, key), &plan);
	done = explore(drive, open, feed_played, &f);
	/* Windows have no outcome: nothing was said that changes the arm. */
	if (out->outcome.verdict == NT_VERDICT_NONE)
		out->outcome.chosen_arm = (uint16_t)arm;
	return done;
}

bool nt_drive_repeat(struct nt_drive *drive, const struct nt_drive_key *key,
		     const struct nt_drive_rounds *rounds, struct nt_driven *out)
{
	struct feeding f = { .drive = drive, .key = key, .rounds = rounds, .out = out };

	return explore(drive, open_key(drive, key), feed_recorded, &f) &&
	       out->rounds == rounds->count;
}

bool nt_drive_plan(struct nt_drive *drive, const struct nt_drive_key *key,
		   struct nt_schedule *first)
{
	struct nt_agree_hooks hooks = nt_engine_hooks(&drive->engine);
	void *open = open_key(drive, key);
	struct nt_plan plan;
	bool done = true;
	bool read;

	if (!open)
		return false;
	read = next_plan(drive, open, &plan, first, &done);
	hooks.end(open);
	return read && !done;
}
