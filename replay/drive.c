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

static struct nt_board_key *describe(struct nt_drive *drive, const struct nt_drive_key *key)
{
	struct nt_board_key *board_key = &drive->board->comm[0].key[0];

	atomic_store(&board_key->id, nt_key_id(NT_ALLREDUCE, nt_band(key->size_bytes), key->mask));
	board_key->auto_arm = key->auto_arm;
	memcpy(board_key->cost_us, key->cost_us, sizeof(board_key->cost_us));
	atomic_store(&board_key->calls[0], UINT64_MAX / 2);
	atomic_store(&board_key->described, 1);
	return board_key;
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

		if (drive->miss > 0 && nt_rng_unit(drive->seed++) < drive->miss)
			continue;
		atomic_store(&run->sample_ns[0][p], (uint32_t)(us < MAX_US ? us * 1000 + 0.5 : UINT32_MAX));
		out->samples++;
	}
}

bool nt_drive_run(struct nt_drive *drive, const struct nt_drive_key *key, struct nt_driven *out)
{
	struct nt_agree_hooks hooks = nt_engine_hooks(&drive->engine);
	struct nt_board_comm *comm = &drive->board->comm[0];
	struct nt_board_key *board_key = describe(drive, key);
	struct nt_schedule schedule = { .kind = 0 };
	uint8_t bytes[2 * NT_RUN_POSITIONS];
	void *open = NULL;
	bool done = false;

	*out = (struct nt_driven){ .calls = 0 };
	if (hooks.worth(hooks.arg, comm, board_key))
		open = hooks.start(hooks.arg, comm, board_key);
	while (open && !done && out->rounds < MAX_ROUNDS) {
		struct nt_plan plan = { .run = 0, .stride = 1 };
		int more = hooks.next(open, &plan);

		plan.epoch = (uint32_t)nt_rng_hash(drive->seed++);
		if (nt_schedule_read(&schedule, plan.payload, plan.payload_bytes) < 0)
			break;
		done = more == 0 || plan.until == NT_NEVER;
		if (done)
			break;
		if (plan.until != nt_schedule_positions(&schedule))
			break;
		play(drive, key, &plan, &schedule, out);
		out->calls += nt_schedule_positions(&schedule);
		out->rounds++;
		hooks.absorb(open, bytes,
			     hooks.gather(hooks.arg, drive->board, &plan, NT_BOARD_MEMBERS, bytes,
					  sizeof(bytes)));
	}
	if (open)
		hooks.end(open);
	out->outcome = schedule.outcome;
	return done;
}
