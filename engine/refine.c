/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The refinement round, and the round that tries variants.
 *
 * After all pairs, a first round of the best two, their variants and the baseline: only times of
 * one round are compared. It must leave enough budget for a second round; otherwise the pairs alone
 * go on. */
#include "engine/refine.h"

#include "engine/budget.h"
#include "engine/confirm.h"

#define RING 1
#define CHUNK_MIN ((size_t)256 << 10) /* of all channels together */
#define CHUNK_MAX ((size_t)16 << 20)
/* In flight over all channels and ranks, on Hopper. Other links are not known here, and NCCL's
 * chunk sizes are the limit anyway. */
#define IN_FLIGHT ((size_t)32 << 20)

/* No duplicates, nor the pair itself. */
static unsigned add_arm(uint16_t *arm, unsigned count, unsigned most, int new)
{
	if (new < NT_PAIRS || count >= most)
		return count;
	for (unsigned i = 0; i < count; i++) {
		if (arm[i] == new)
			return count;
	}
	arm[count] = (uint16_t) new;
	return count + 1;
}

static unsigned add_caps(const struct nt_refine *from, int pair, uint16_t *arm, unsigned most)
{
	const unsigned given = from->info.given[pair];
	const unsigned wish[] = { given / 2, 2 * given, given / 4 };
	unsigned count = 0;

	for (unsigned i = 0; i < 3; i++) {
		unsigned channels = wish[i] < from->info.most ? wish[i] : from->info.most;

		int capped = nt_arm_make(pair, channels, 0);

		if (channels != 0 && nt_arm_channels(capped) != given)
			count = add_arm(arm, count, most, capped);
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

/* A channel's chunk size if `depth` chunks fill the pipe. */
static size_t chunk_of(const struct nt_refine *from, int pair, unsigned depth)
{
	size_t parts = (size_t)depth * (is_ring(pair) ? from->info.ranks : 1);
	size_t chunk = power_of_two(from->bytes) / parts;
	size_t flying = IN_FLIGHT / parts;

	chunk = chunk < flying ? chunk : flying;
	chunk = chunk > CHUNK_MIN ? chunk : CHUNK_MIN;
	chunk = chunk < CHUNK_MAX ? chunk : CHUNK_MAX;
	return power_of_two(chunk / from->info.given[pair]);
}

static unsigned add_chunks(const struct nt_refine *from, int pair, uint16_t *arm, unsigned most)
{
	size_t part = from->bytes / from->info.given[pair] / (is_ring(pair) ? from->info.ranks : 1);
	unsigned count = 0;

	for (unsigned depth = 2; depth <= 4; depth += 2) {
		size_t chunk = chunk_of(from, pair, depth);

		/* Otherwise all is one chunk. */
		if (chunk < part && chunk >= NT_ARM_CHUNK_MIN)
			count = add_arm(arm, count, most, nt_arm_make(pair, 0, chunk));
	}
	return count;
}

unsigned nt_refine_pair(const struct nt_refine *from, int pair, uint16_t *arm, unsigned most)
{
	unsigned count = 0;

	if (from->info.given[pair] == 0 || from->info.ranks == 0 || from->forbidden >> pair & 1)
		return 0;
	if (from->channels && nt_pair_takes_channels(pair))
		count = add_caps(from, pair, arm, most);
	if (from->chunks && from->info.chunks && nt_pair_takes_chunk(pair))
		count += add_chunks(from, pair, arm + count, most - count);
	return count;
}

/* A screened arm and variants of its pair. */
struct variants {
	uint16_t arm[NT_SCHEDULE_ARMS - 1];
	unsigned count, made;
};

static void add_variants(const struct nt_refine *from, unsigned arm, unsigned baseline_arm,
			 struct variants *w)
{
	const unsigned most = sizeof(w->arm) / sizeof(w->arm[0]);
	const unsigned pair = arm == NT_ARM_BASELINE ? baseline_arm : arm;
	unsigned made;

	if (arm != NT_ARM_BASELINE && w->count < most)
		w->arm[w->count++] = (uint16_t)arm;
	if (pair >= NT_PAIRS)
		return;
	made = nt_refine_pair(from, (int)pair, w->arm + w->count, most - w->count);
	w->count += made;
	w->made += made;
}

/* Indices of the best two arms, the baseline perhaps among them. */
static void best_two(const struct nt_evaluation *seen, unsigned index[2])
{
	const struct nt_evidence *e = &seen->screen;
	const unsigned first = nt_evaluation_next_best(seen, e, 0);
	const unsigned second = nt_evaluation_next_best(seen, e, 1u << first);
	const double baseline_us = nt_evidence_p25_us(e, 0);

	index[0] = 0;
	index[1] = first;
	if (nt_evidence_p25_us(e, first) < baseline_us) {
		index[0] = first;
		index[1] = second != 0 && nt_evidence_p25_us(e, second) < baseline_us ? second : 0;
	}
}

/* This round, and a second one. */
static bool allows_both(const struct nt_evaluation *seen, const struct nt_schedule *schedule)
{
	const uint32_t blocks = (uint32_t)seen->policy->confirm_blocks + NT_SCHEDULE_WARM_UP;

	return nt_budget_allows(seen, schedule, (1 + NT_CONFIRM_ARMS) * blocks);
}

void nt_refine(const struct nt_evaluation *seen, struct nt_next *next)
{
	const struct nt_refine from = {
		.channels = seen->policy->channels == NT_SWITCH_ON,
		.chunks = seen->policy->chunks == NT_SWITCH_ON,
		.forbidden = seen->info.forbidden,
		.bytes = nt_evaluation_bytes(seen),
		.info = seen->info.channels,
	};
	struct variants w = { .count = 0 };
	struct nt_schedule schedule;
	unsigned index[2];

	if (seen->refined || !(from.channels || from.chunks))
		return;
	best_two(seen, index);
	for (unsigned i = 0; i < 2; i++)
		add_variants(&from, seen->screen.arm[index[i]], seen->info.baseline_arm, &w);
	schedule = nt_evaluation_explore(seen, NT_SCHEDULE_SCREEN, w.arm, w.count,
					 seen->first_blocks);
	if (w.made == 0 || !allows_both(seen, &schedule))
		return;
	next->what = NT_NEXT_EXPLORE;
	next->schedule = schedule;
	next->refined = w.made;
}
