/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* together.h - a barrier for the ranks of one machine
 *
 * Its page of shared memory is in /dev/shm, because a page of a file on a disk blocks while it is
 * written back; meet.h sends its name. Ranks spin: one that sleeps may wake up late.
 *
 * Threads:  one in each rank.
 * Memory:   open and close are a pair.
 * Errors:   -1 and *err. There is no timeout for a missing rank: the caller's alarm ends the wait.
 */
#ifndef NT_BENCH_TOGETHER_H
#define NT_BENCH_TOGETHER_H

#include <stdatomic.h>
#include <stdint.h>
#include "bench/meet.h"

struct nt_together_page {
	_Atomic uint32_t arrived, turn;
};

struct nt_together {
	struct nt_together_page *page;
	int ranks;
};

int nt_together_open(struct nt_together *t, const struct nt_meet *meet, int timeout_s,
		     struct nt_error *err);
void nt_together_wait(struct nt_together *t); /* waits for all ranks */
void nt_together_close(struct nt_together *t);

#endif
