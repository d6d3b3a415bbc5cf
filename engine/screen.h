/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* screen.h - the first round: every promising arm a few times, to find those that could win
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none.
 */
#ifndef NT_SCREEN_H
#define NT_SCREEN_H

#include "engine/judge.h"

#define NT_SCREEN_ROUNDS 2 /* at most so many first rounds: one more where samples are missing */
/* Arms are not tried that NCCL predicts so many times slower than its pick. */
#define NT_SCREEN_COST_FACTOR 5
/* Nor LL from so many bytes on that it predicts so many times slower
 * (docs/decisions/0010-ll.md). */
#define NT_SCREEN_LL_BYTES ((size_t)16 << 20)
#define NT_SCREEN_LL_FACTOR 1.5f

/* Which arms are worth a try? Is enough known of them? Which could be faster than AUTO? */
nt_judge nt_screen_open, nt_screen_samples, nt_screen;

/* Of a first round that was short: do times of an arm lie so far apart that more blocks of all arms
 * are wanted, up to as many as the policy says? */
nt_judge nt_screen_widen;

/* Whether LL is not tried at that size, by the times that NCCL predicts for it and for its pick;
 * < 0: none. */
bool nt_screen_ll_hopeless(unsigned arm, size_t bytes, float cost_us, float auto_us);

#endif
