/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* together.h - ranks of one machine start together, and rank 0 says when the rounds are over
 *
 * A page of memory in a file of /dev/shm, whose name goes through the meeting: a page of a file
 * on a disk is held up while it is written back. Waiting is spinning: it must take less than
 * what is measured, and nothing may wake late.
 *
 * Threads:  one of each rank.
 * Memory:   open and close are a pair.
 * Errors:   -1 and *err; a rank that does not come is waited for, the caller's alarm ends that.
 * Units:    rounds; seconds on rank 0's clock, whatever its start.
 */
#ifndef NT_BENCH_TOGETHER_H
#define NT_BENCH_TOGETHER_H

#include <stdatomic.h>
#include <stdint.h>
#include "bench/meet.h"

struct nt_together_page {
	_Atomic uint32_t arrived, turn;
	/* Rounds from which on the last part is played, and which is played no more; NEVER until
	 * they are known. Always ahead of the round that is being played. */
	_Atomic int last_from, end;
};

#define NT_TOGETHER_NEVER INT32_MAX

struct nt_together {
	struct nt_together_page *page;
	int rank, ranks;
};

int nt_together_open(struct nt_together *t, const struct nt_meet *meet, int rank, int ranks,
		     int timeout_s, struct nt_error *err);
void nt_together_wait(struct nt_together *t); /* until all ranks have come here */
void nt_together_close(struct nt_together *t);

/* How long the rounds and the last part take. */
struct nt_together_plan {
	double start_s, seconds, last_seconds;
};

/* Rank 0, at the start of each round, before the others are let in. */
void nt_together_plan(struct nt_together *t, const struct nt_together_plan *plan, int round,
		      double now_s);

#endif
