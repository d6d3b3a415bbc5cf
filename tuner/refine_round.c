/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* refine_round.c - after all pairs: the best two with other numbers of channels, and with smaller
 *                  chunks
 *
 * A round of the first kind, in which the pairs themselves and AUTO are measured again: only
 * times of one round are compared. What it costs must leave enough of the budget, else the pairs
 * go on alone.
 */
#include <string.h>
#include "tuner/engine_state.h"
#include "tuner/refine.h"

/* All cards of a communicator that takes plans are equal. */
static bool asks_for_chunks(const struct nt_board_comm *comm)
{
	for (unsigned m = 0; m < NT_BOARD_MEMBERS; m++) {
		if (atomic_load(&comm->member[m].state) == NT_MEMBER_JOINED)
			return comm->member[m].card.api >> 8 >= NT_REFINE_CHUNK_API;
	}
	return false;
}

/* What NCCL gave any pair of this communicator, as far as our ranks saw. */
static unsigned most_channels(const struct nt_board_comm *comm)
{
	unsigned most = 0;

	for (unsigned k = 0; k < NT_BOARD_KEYS; k++) {
		for (int pair = 0; pair < NT_PAIRS; pair++) {
			unsigned seen = atomic_load(&comm->key[k].channels[pair]);

			if (nt_pair_takes_channels(pair) && seen > most)
				most = seen;
		}
	}
	return most;
}

static struct nt_channels known(const struct engine_key *key)
{
	struct nt_channels channels = {
		.ranks = atomic_load(&key->comm->ranks),
		.most = most_channels(key->comm),
		.chunks = asks_for_chunks(key->comm),
	};

	for (unsigned pair = 0; pair < NT_PAIRS; pair++)
		channels.own[pair] = atomic_load(&key->board_key->channels[pair]);
	return channels;
}

/* An arm that was screened, and what can be made of its pair. Returns how many of the latter. */
static unsigned add(const struct engine_key *key, const struct nt_refine *from, unsigned arm,
		    struct nt_schedule *s)
{
	unsigned pair = arm == NT_ARM_AUTO ? key->auto_arm : arm;
	unsigned made;

	if (arm != NT_ARM_AUTO && s->count < NT_SCHEDULE_ARMS)
		s->arm[s->count++] = (uint16_t)arm;
	if (pair >= NT_PAIRS)
		return 0;
	made = nt_refine_pair(from, (int)pair, s->arm + s->count, NT_SCHEDULE_ARMS - s->count);
	s->count = (uint8_t)(s->count + made);
	return made;
}

/* This round and the one that decides. */
static bool allows_both(struct engine_key *key)
{
	uint32_t spent = key->spent_calls;
	bool allows;

	key->spent_calls += (1 + NT_ENGINE_FINALISTS) *
			    ((uint32_t)key->engine->policy.confirm_blocks + NT_SCHEDULE_WARM_UP);
	allows = budget_allows(key);
	key->spent_calls = spent;
	return allows;
}

bool refine_plan(struct engine_key *key)
{
	const struct nt_policy *policy = &key->engine->policy;
	struct nt_refine from = {
		.channels = policy->channels == NT_SWITCH_ON,
		.chunks = policy->chunks == NT_SWITCH_ON,
		.bytes = nt_band_floor(nt_key_band(key->id)),
	};
	const struct nt_schedule before = key->schedule;
	struct nt_schedule *s = &key->schedule;
	struct evidence *e = &key->screen;
	unsigned place[3] = { 0, engine_next_best(key, e, 0) };
	unsigned made;

	if (key->refined || !(from.channels || from.chunks))
		return false;
	from.known = known(key);
	place[2] = engine_next_best(key, e, 1u << place[1]);
	if (engine_p25(e, place[1]) < engine_p25(e, 0)) {
		place[0] = place[1];
		place[1] = place[2] != 0 && engine_p25(e, place[2]) < engine_p25(e, 0) ? place[2]
										       : 0;
	}
	*s = (struct nt_schedule){ .kind = NT_SCHEDULE_SCREEN, .count = 1, .arm = { NT_ARM_AUTO } };
	made = add(key, &from, e->arm[place[0]], s) + add(key, &from, e->arm[place[1]], s);
	engine_set_blocks(s, policy->screen_blocks);
	if (made == 0 || !allows_both(key)) {
		*s = before;
		return false;
	}
	key->refined = true;
	if (key->trial)
		key->trial->channels = from.known;
	key->arms += made;
	memset(e, 0, sizeof(*e));
	return true;
}
