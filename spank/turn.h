/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* turn.h - one writer of a job's text at a time on a node, and so many writings a minute
 *
 * A file of the job's in a directory of root's beside the steps': it is locked while a writer
 * writes, and tells when the next writing is due. A writer that dies gives its turn back by that.
 * Up to NT_TURN_BURST writings go at once, then one every NT_TURN_EVERY_MS.
 *
 * Threads:  one process, one thread a turn.
 * Memory:   the caller's.
 * Errors:   -1 and *err: writers of this node cannot take turns; each writes on its own.
 * Units:    milliseconds of CLOCK_BOOTTIME.
 */
#ifndef NT_TURN_H
#define NT_TURN_H

#include <stdbool.h>
#include <stdint.h>
#include "contract/error.h"

#define NT_TURN_BURST 6
#define NT_TURN_EVERY_MS 5000

/* What the file holds; zeros at first. */
struct nt_pace {
	int64_t due_ms; /* when all that was written would have been written one by one */
	/* A writer waits until then for its turn, and brings what others leave in the spool. */
	int64_t keeper_ms;
};

/* How long a writing has to wait that leaves so many of the burst to others. */
int64_t nt_pace_wait_ms(const struct nt_pace *pace, int64_t now_ms, unsigned leave);
void nt_pace_count(struct nt_pace *pace, int64_t now_ms);

int64_t nt_turn_now_ms(void);
/* rundir holds the steps' directories. What jobs that are long gone have left is taken away. */
int nt_turn_open(const char *rundir, uint32_t job, struct nt_error *err);
bool nt_turn_take(int turn_fd); /* does not wait */
void nt_turn_give(int turn_fd);

/* While it is taken. */
void nt_turn_read(int turn_fd, struct nt_pace *pace);
void nt_turn_write(int turn_fd, const struct nt_pace *pace);

#endif
