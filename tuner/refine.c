/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* refine.c - see refine.h */
#include "tuner/refine.h"

#define RING 1
#define CHUNK_MIN ((size_t)256 << 10) /* of all channels together */
#define CHUNK_MAX ((size_t)16 << 20)
/* In flight, of all channels and ranks: Hopper's. Newer links bear more, older ones less, but which
 * they are is not known here, and NCCL's own chunks are the limit anyway. */
#define IN_FLIGHT ((size_t)32 << 20)

/* Once each, and nothing that is as the pair itself. */
static unsigned add(uint16_t *arm, unsigned count, unsigned room, int new)
{
	if (new < NT_PAIRS || count >= room)
		return count;
	for (unsigned i = 0; i < count; i++) {
		if (arm[i] == new)
			return count;
	}
	arm[count] = (uint16_t) new;
	return count + 1;
}

static unsigned add_caps(const struct nt_refine *from, int pair, uint16_t *arm, unsigned room)
{
	const unsigned own = from->known.own[pair];
	const unsigned wish[] = { own / 2, 2 * own, own / 4 };
	unsigned count = 0;

	for (unsigned i = 0; i < 3; i++) {
		unsigned channels = wish[i] < from->known.most ? wish[i] : from->known.most;

		int capped = nt_arm_make(pair, channels, 0);

		if (channels != 0 && nt_arm_channels(capped) != own)
			count = add(arm, count, room, capped);
	}
	return count;
}

static size_t power_of_two(size_t bytes)
{
	return bytes == 0 ? 0 : (size_t)1 << (63 - __builtin_clzll(bytes));
}

static bool is_ring(int pair)
{
	return pair / NT_PROTOS == RING;
}

/* What one channel sends at once where depth chunks fill the pipe. */
static size_t chunk_of(const struct nt_refine *from, int pair, unsigned depth)
{
	size_t parts = (size_t)depth * (is_ring(pair) ? from->known.ranks : 1);
	size_t chunk = power_of_two(from->bytes) / parts;
	size_t flying = IN_FLIGHT / parts;

	chunk = chunk < flying ? chunk : flying;
	chunk = chunk > CHUNK_MIN ? chunk : CHUNK_MIN;
	chunk = chunk < CHUNK_MAX ? chunk : CHUNK_MAX;
	return power_of_two(chunk / from->known.own[pair]);
}

static unsigned add_chunks(const struct nt_refine *from, int pair, uint16_t *arm, unsigned room)
{
	size_t part = from->bytes / from->known.own[pair] / (is_ring(pair) ? from->known.ranks : 1);
	unsigned count = 0;

	for (unsigned depth = 2; depth <= 4; depth += 2) {
		size_t chunk = chunk_of(from, pair, depth);

		/* Else all is one chunk, as it is without. */
		if (chunk < part && chunk >= NT_ARM_CHUNK_MIN)
			count = add(arm, count, room, nt_arm_make(pair, 0, chunk));
	}
	return count;
}

unsigned nt_refine_pair(const struct nt_refine *from, int pair, uint16_t *arm, unsigned room)
{
	unsigned count = 0;

	if (from->known.own[pair] == 0 || from->known.ranks == 0)
		return 0;
	if (from->channels && nt_pair_takes_channels(pair))
		count = add_caps(from, pair, arm, room);
	if (from->chunks && from->known.chunks && nt_pair_takes_chunk(pair))
		count += add_chunks(from, pair, arm + count, room - count);
	return count;
}
