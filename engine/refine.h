/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* refine.h - variants of a good pair: other channel counts, smaller chunks
 * (docs/decisions/arms.md)
 *
 * Channel caps are half, a quarter and twice the channels that NCCL gave the pair, at most what it
 * gave any pair of the communicator. Chunks are a half and a quarter of a channel's share (in a
 * ring, of its part of one rank), as powers of two: over all channels 256 KiB to 16 MiB, and no
 * more in flight than bandwidth times delay of the links.
 *
 * Threads:  pure functions.
 * Memory:   the caller's.
 * Errors:   none: no arm if nothing is known.
 * Units:    bytes as passed to a tuner.
 */
#ifndef NT_REFINE_H
#define NT_REFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/judge.h"

struct nt_refine {
	bool channels, chunks; /* what may be tried */
	uint32_t forbidden; /* pairs without variants: bits by pair */
	size_t bytes; /* of the collective */
	struct nt_channels info;
};

/* At most `most` variants of a pair. Returns their number. */
unsigned nt_refine_pair(const struct nt_refine *from, int pair, uint16_t *arm, unsigned most);

/* Try variants of the best two pairs? */
nt_judge nt_refine;

#endif
