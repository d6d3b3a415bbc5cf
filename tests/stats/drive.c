/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* drive.c - what the agreement and the ranks do with one key, without either */
#include "tests/stats/drive.h"

#include <stdlib.h>
#include <string.h>
#include "tests/fake/rng.h"

#define MAX_ROUNDS 16 /* no engine needs more */

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

static struct nt_board_key *describe(struct nt_drive *drive, const struct nt_drive_key *key)
{
	struct nt_board_key *board_key = &drive->board->comm[0].key[0];

	atomic_store(&board_key->id, nt_key_id(NT_ALLREDUCE, 40, key->mask));
	board_key->auto_arm = key->auto_arm;
	memcpy(board_key->cost_us, key->cost_us, sizeof(board_key->cost_us));
	atomic_store(&board_key->calls[0], UINT64_MAX / 2);
	atomic_store(&board_key->described, 1);
	return board_key;
}

/* Every call of an exploration, on one rank. */
static void play(struct nt_drive *drive, const struct nt_drive_key *key, const struct nt_plan *plan,
		 const struct nt_schedule *schedule, unsigned calls)
{
	struct nt_board_run *run = &drive->board->run[0];

	memset(run, 0, sizeof(*run));
	for (unsigned p = 0; p < nt_schedule_positions(schedule); p++) {
		unsigned arm = (unsigned)nt_schedule_arm(schedule, plan->epoch, p);
		double us = key->time_us(key->arg, arm, calls + p);

		if (drive->miss > 0 && nt_rng_unit(drive->seed++) < drive->miss)
			continue;
		atomic_store(&run->sample_ns[0][p], (uint32_t)(us * 1000 + 0.5));
	}
}

/* One window after the other until the last word. False if the engine did what it must not. */
static bool all_rounds(struct nt_drive *drive, const struct nt_drive_key *key, void *open,
		       struct nt_driven *out)
{
	struct nt_agree_hooks hooks = nt_engine_hooks(&drive->engine);
	struct nt_schedule schedule;
	uint8_t bytes[2 * NT_RUN_POSITIONS];

	while (out->rounds < MAX_ROUNDS) {
		struct nt_plan plan = { .run = 0, .stride = 1 };
		int more = hooks.next(open, &plan);

		if (more == 0 && plan.payload_bytes == 0)
			return true; /* what was before stays */
		plan.epoch = (uint32_t)nt_rng_hash(drive->seed++);
		if (nt_schedule_read(&schedule, plan.payload, plan.payload_bytes) < 0)
			return false;
		out->outcome = schedule.outcome;
		if (more == 0 || plan.until == NT_NEVER)
			return true;
		if (plan.until != nt_schedule_positions(&schedule))
			return false;
		play(drive, key, &plan, &schedule, out->calls);
		out->calls += nt_schedule_positions(&schedule);
		out->rounds++;
		hooks.absorb(open, bytes,
			     hooks.gather(hooks.arg, drive->board, &plan, NT_BOARD_MEMBERS, bytes,
					  sizeof(bytes)));
	}
	return false;
}

bool nt_drive_run(struct nt_drive *drive, const struct nt_drive_key *key, struct nt_driven *out)
{
	struct nt_agree_hooks hooks = nt_engine_hooks(&drive->engine);
	struct nt_board_comm *comm = &drive->board->comm[0];
	struct nt_board_key *board_key = describe(drive, key);
	void *open;
	bool done;

	*out = (struct nt_driven){ .calls = 0 };
	if (!hooks.worth(hooks.arg, comm, board_key))
		return false;
	open = hooks.start(hooks.arg, comm, board_key);
	done = open && all_rounds(drive, key, open, out);
	if (open)
		hooks.end(open);
	return done;
}

bool nt_drive_again(struct nt_drive *drive, const struct nt_drive_key *key, unsigned arm,
		    struct nt_driven *out)
{
	struct nt_agree_hooks hooks = nt_engine_hooks(&drive->engine);
	struct nt_board_comm *comm = &drive->board->comm[0];
	const struct nt_schedule base = { .kind = NT_SCHEDULE_FINAL,
					  .count = 1,
					  .arm = { (uint8_t)arm } };
	struct nt_plan plan = { .until = NT_NEVER };
	bool done;
	void *open;

	plan.payload_bytes =
		(uint32_t)nt_schedule_write(&base, plan.payload, sizeof(plan.payload));
	*out = (struct nt_driven){ .calls = 0 };
	open = hooks.start_again(hooks.arg, comm, describe(drive, key), &plan);
	done = open && all_rounds(drive, key, open, out);
	if (open)
		hooks.end(open);
	/* Windows have no outcome: nothing was said that changes the arm. */
	if (out->outcome.verdict == NT_VERDICT_NONE)
		out->outcome.chosen_arm = (uint8_t)arm;
	return done;
}
