/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nt-recordd's main loop. */
#include "recordd/state.h"

#include <errno.h>
#include <sys/socket.h>
#include "lib/clock.h"
#include "recordd/parts.h"
#include "recordd/user-child.h"

#define TICK_MS 500 /* between looks at the node's memory */
#define EARLY_LIFE_MS 15000 /* after the step's end, for an early record */

/* In the order in which they are looked at. */
static const struct {
	const struct nt_work_kind *kind;
	void (*look)(struct nt_recordd *recordd, int64_t now_ms);
} table[NT_WORK_KINDS] = {
	[NT_WORK_MAKER] = { &nt_long_maker_kind, nt_long_maker_look },
	[NT_WORK_LONGFORM] = { &nt_long_writer_kind, nt_long_writer_look },
	[NT_WORK_MEMORY] = { &nt_memory_kind, nt_memory_look },
	[NT_WORK_NODES] = { &nt_nodes_kind, nt_nodes_look },
	[NT_WORK_STACKS] = { &nt_stacks_kind, nt_stacks_look },
	[NT_WORK_READER] = { &nt_reader_kind, nt_reader_look },
	[NT_WORK_EARLY] = { &nt_deliver_early_kind, nt_deliver_early_look },
	[NT_WORK_DELIVERY] = { &nt_deliver_kind, nt_deliver_look },
};

/* The step's tasks have ended, or slurmstepd is gone. */
static void end_step(struct nt_recordd *recordd)
{
	struct nt_work *early = &recordd->work[NT_WORK_EARLY];

	recordd->final = true;
	recordd->ended_ms = nt_clock_ms();
	recordd->inside = recordd->inside && recordd->told_end;
	/* The records are read once more in any case. */
	nt_work_hurry(&recordd->work[NT_WORK_READER], recordd->ended_ms + NT_WORK_STOP_MS);
	early->deadline_ms = recordd->ended_ms + EARLY_LIFE_MS;
}

static void hear_stepd(struct nt_recordd *recordd)
{
	char bytes[2] = { '\0', NT_ENDED_WELL };
	ssize_t n = recv(NT_ARGUMENTS_FD, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	recordd->told_end = n > 0; /* otherwise slurmstepd is gone, and waits for nothing */
	recordd->arguments.ended = (enum nt_ended)bytes[1];
	end_step(recordd);
}

/* The job's next srun will find all results, or the time is up. */
static bool may_go(const struct nt_recordd *recordd, int64_t now_ms)
{
	if (now_ms >= recordd->ended_ms + NT_RECORDD_RELEASE_MS)
		return true;
	if (!nt_long_work_has_read(recordd) || !nt_stacks_are_gone(recordd))
		return false;
	return !recordd->arguments.first ||
	       (nt_deliver_is_handed(recordd) && !nt_memory_holds(recordd, now_ms));
}

static void release(struct nt_recordd *recordd)
{
	const char byte = NT_ARGUMENTS_DONE;

	nt_recordd_take_out(recordd);
	(void)send(NT_ARGUMENTS_FD, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	recordd->released = true;
}

static bool is_over(const struct nt_recordd *recordd)
{
	if (!recordd->released)
		return false;
	for (size_t i = 0; i < NT_WORK_KINDS; i++) {
		if (nt_work_runs(&recordd->work[i]))
			return false;
	}
	return !recordd->arguments.first || recordd->delivery.stage == NT_DELIVERY_OVER;
}

static int64_t next_look_ms(const struct nt_recordd *recordd, int64_t now_ms)
{
	static const int64_t after_ms[] = { NT_DELIVER_LONG_MS, NT_PARTS_MS, NT_DELIVER_MEMORY_MS,
					    NT_RECORDD_RELEASE_MS };

	for (size_t i = 0; recordd->final && i < sizeof(after_ms) / sizeof(after_ms[0]); i++) {
		if (now_ms < recordd->ended_ms + after_ms[i])
			return recordd->ended_ms + after_ms[i];
	}
	return now_ms + TICK_MS;
}

static void look_at_work(struct nt_recordd *recordd, int64_t now_ms)
{
	for (size_t i = 0; i < NT_WORK_KINDS; i++)
		table[i].look(recordd, now_ms);
	if (recordd->final && !recordd->released && may_go(recordd, now_ms))
		release(recordd);
}

void nt_recordd_run(struct nt_recordd *recordd)
{
	int64_t now_ms = nt_clock_ms();

	for (size_t i = 0; i < NT_WORK_KINDS; i++) {
		recordd->work[i].kind = table[i].kind;
		recordd->work[i].argument = recordd;
	}
	for (look_at_work(recordd, now_ms); !is_over(recordd); look_at_work(recordd, now_ms)) {
		if (nt_work_wait(recordd->work, NT_WORK_KINDS,
				 recordd->final ? -1 : NT_ARGUMENTS_FD,
				 next_look_ms(recordd, now_ms)))
			hear_stepd(recordd);
		now_ms = nt_clock_ms();
	}
}
