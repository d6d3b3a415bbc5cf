/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* refine.h - what else can be tried with a pair that did well: other numbers of channels, smaller
 *            chunks (docs/decisions/0007-arms.md)
 *
 * Caps are half, a quarter and twice of the channels that NCCL gave the pair by itself, never more
 * than it gave any pair of the communicator. Chunks cut a channel's share into 2 and 4 pieces
 * (a ring's part of one rank), as powers of two. All channels together: 256 KiB to 16 MiB a chunk,
 * and no more in flight than the bandwidth times the delay of the links.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none: no arm where nothing is known.
 * Units:    bytes as a tuner is told them.
 */
#ifndef NT_REFINE_H
#define NT_REFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/judge.h"

struct nt_refine {
	bool channels, chunks; /* what may be tried */
	uint32_t forbidden; /* pairs of which nothing is tried: bits by pair */
	size_t bytes; /* of the collective */
	struct nt_channels known;
};

/* Arms of a pair, at most room. Returns their number. */
unsigned nt_refine_pair(const struct nt_refine *from, int pair, uint16_t *arm, unsigned room);

/* Can more be made of the best two pairs? */
nt_judge nt_refine;

#endif
