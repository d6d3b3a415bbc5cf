/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* refine.h - variants of a good pair: other channel counts (docs/decisions/arms.md)
 *
 * Half, a quarter and twice the channels that NCCL gave the pair, at most what it gave any pair of
 * the communicator.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none: no arm if nothing is known.
 */
#ifndef NT_REFINE_H
#define NT_REFINE_H

#include <stdint.h>
#include "engine/judge.h"

/* At most `most` variants of a pair. Returns their number. */
unsigned nt_refine_pair(const struct nt_channels *seen, int pair, uint16_t *arm, unsigned most);

/* Try variants of the best two pairs? */
nt_judge nt_refine;

#endif
