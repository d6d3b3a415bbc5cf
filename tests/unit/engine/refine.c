/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* refine.c - which limits of channels are tried, and when */
#include "tests/unit/engine/engine-bench.h"

#include "engine/history.h"
#include "engine/refine.h"
#include "lib/append.h"
#include "tuner/rank-history.h"

/* The result of nt_refine_pair() as text. */
static const char *arms_of(const struct nt_channels *seen, int pair)
{
	static char text[256];
	uint16_t arm[8];
	unsigned count = nt_refine_pair(seen, pair, arm, 8);

	text[0] = '\0';
	for (unsigned i = 0; i < count; i++)
		nt_append(text, sizeof(text), "%s%s", i ? " " : "", nt_arm_name(arm[i]));
	return text;
}

static void give(struct nt_channels *from, unsigned own, unsigned most)
{
	memset(from->given, (int)own, sizeof(from->given));
	from->most = most;
}

static void caps_are_fractions_of_what_nccl_gave(void **state)
{
	struct nt_channels from = { .ranks = 8 };

	give(&from, 24, 24);
	assert_string_equal(arms_of(&from, RING_LL), "RING/LL/12ch RING/LL/6ch");
	give(&from, 4, 24);
	assert_string_equal(arms_of(&from, TREE_SIMPLE),
			    "TREE/SIMPLE/2ch TREE/SIMPLE/8ch TREE/SIMPLE/1ch");
	give(&from, 2, 2);
	assert_string_equal(arms_of(&from, RING_SIMPLE), "RING/SIMPLE/1ch");
	give(&from, 1, 1);
	assert_string_equal(arms_of(&from, RING_SIMPLE), "");
	give(&from, 4, 5); /* 5 has no class of its own, and 4 is what it has */
	assert_string_equal(arms_of(&from, RING_SIMPLE), "RING/SIMPLE/2ch RING/SIMPLE/1ch");
	give(&from, 0, 5); /* not seen */
	assert_string_equal(arms_of(&from, RING_SIMPLE), "");
}

static void nothing_is_capped_that_nccl_does_not_bound(void **state)
{
	struct nt_channels from = { .ranks = 8 };

	give(&from, 16, 24);
	/* COLLNET_*, NVLS, NVLS_TREE */
	for (int pair = 2 * NT_PROTOS; pair < 6 * NT_PROTOS; pair++)
		assert_string_equal(arms_of(&from, pair), "");
	assert_string_equal(arms_of(&from, 6 * NT_PROTOS + 2),
			    "PAT/SIMPLE/8ch PAT/SIMPLE/24ch PAT/SIMPLE/4ch");
}

static double eight_channels_are_best(int arm)
{
	return nt_arm_channels(arm) == 8 && nt_arm_pair(arm) == TREE_SIMPLE ? 500 : 900;
}

static void seen(struct bench *b, unsigned channels)
{
	atomic_store(&b->key->channels[TREE_SIMPLE], (uint8_t)channels);
	atomic_store(&b->key->channels[RING_SIMPLE], (uint8_t)channels);
	atomic_store(&b->comm->key[2].id, nt_key_id(NT_BROADCAST, 9, 1));
	atomic_store(&b->comm->key[2].channels[RING_LL], 24);
	atomic_store(&b->comm->ranks, 8);
	atomic_store(&b->comm->slot[0].state, NT_PARTICIPANT_JOINED);
	b->comm->slot[0].caps.api = 5 * 256 + 5;
}

static void autos_own_pair_is_capped_too(void **state)
{
	struct bench b;

	setup(&b, sockets, TREE_SIMPLE);
	b.shaped_us = eight_channels_are_best;
	b.home.engine.policy.channels = NT_SWITCH_ON;
	seen(&b, 16);
	b.us[NT_PAIRS] = 700;
	assert_int_equal(explore(&b), 1);
	assert_string_equal(nt_arm_name(b.final.arm[0]), "TREE/SIMPLE/8ch");
	assert_int_equal(b.final.outcome.baseline_arm, TREE_SIMPLE);
}

static void no_round_more_where_there_is_nothing_or_no_budget(void **state)
{
	struct bench b;

	setup(&b, sockets, RING_SIMPLE);
	b.home.engine.policy.channels = NT_SWITCH_ON;
	assert_int_equal(explore(&b), 0); /* no number of channels was seen */
	assert_int_equal(b.rounds, 1);

	setup(&b, sockets, RING_SIMPLE);
	b.us[TREE_SIMPLE] = 600;
	b.shaped_us = eight_channels_are_best;
	b.home.engine.policy.channels = NT_SWITCH_ON;
	b.home.engine.policy.max_calls = 4 * 9 + 3 * 25 + 3; /* the two other rounds, and no more */
	seen(&b, 16);
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.final.arm[0], TREE_SIMPLE);
	assert_int_equal(b.rounds, 2);
}

UNIT_TESTS(caps_are_fractions_of_what_nccl_gave, nothing_is_capped_that_nccl_does_not_bound,
	   autos_own_pair_is_capped_too, no_round_more_where_there_is_nothing_or_no_budget);
