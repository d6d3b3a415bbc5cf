/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* screen.h - the first round: measure every promising arm a few times to find those that could win
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none.
 */
#ifndef NT_SCREEN_H
#define NT_SCREEN_H

#include "engine/judge.h"

#define NT_SCREEN_ROUNDS 2 /* first rounds: one more if samples are missing */
/* Arms that NCCL predicts so many times slower than its choice are not tried. */
#define NT_SCREEN_COST_FACTOR 5
/* Nor is LL from this size on, if so many times slower (docs/decisions/arms.md). */
#define NT_SCREEN_LL_BYTES ((size_t)16 << 20)
#define NT_SCREEN_LL_FACTOR 1.5f

/* Blocks of the first round. Few for a rarely called key: more follow only if these do not tell. */
unsigned nt_screen_blocks(const struct nt_policy *policy, const struct nt_key_info *info);

nt_judge nt_screen_open, nt_screen_samples, nt_screen;

/* After a short first round: do times scatter so much that more blocks are needed, up to the
 * policy's number? */
nt_judge nt_screen_widen;

#endif
