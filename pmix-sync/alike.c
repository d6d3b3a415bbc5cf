/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* alike.c - see alike.h */
#include "pmix-sync/alike.h"

#include <string.h>
#include "pmix-sync/board.h"
#include "pmix-sync/view.h"

#define NT_WAIT_MS 2000 /* at most, for one that should be ready at the same time */
#define NT_SPREAD 16 /* turns by which the counts of groups that run beside each other differ */

static bool alike(struct nt_agree *a, const struct nt_agree_comm *x, const struct nt_agree_comm *y)
{
	if (x == y || !y->is_home || !y->agreed || y->rejected || y->refused ||
	    x->ranks != y->ranks || x->participant_count != y->participant_count)
		return false;
	for (uint32_t i = 0; i < x->participant_count; i++) {
		if (x->participants[i] != y->participants[i])
			return false;
	}
	return !nt_board_share_gpu(a->config.board, nt_view_comm(a, x), nt_view_comm(a, y));
}

/* The key's like in the next communicator from *at on; NULL: there is none. */
static struct nt_agree_key *next_like(struct nt_agree *a, const struct nt_agree_comm *comm,
				      const struct nt_agree_key *key, uint32_t *at)
{
	while (*at < NT_BOARD_COMMS) {
		struct nt_agree_comm *other = a->comms[(*at)++];

		for (uint32_t k = 0; other && k < other->key_count; k++) {
			struct nt_agree_key *like = &other->keys[k];

			if (like->id == key->id && like->slot >= 0 && alike(a, comm, other))
				return like;
		}
	}
	return NULL;
}

static bool asking(const struct nt_agree_key *key)
{
	return key->home == NT_HOME_WANTED || key->home == NT_HOME_RUNNING;
}

static bool proposing(const struct nt_agree_key *key)
{
	return key->home == NT_HOME_PROPOSED || key->home == NT_HOME_RUNNING;
}

/* Of the same exploration or recheck, and as far in it. */
static bool abreast(const struct nt_agree_key *key, const struct nt_agree_key *like)
{
	return like->opened == key->opened && like->asked == key->asked;
}

static bool same_plan(const struct nt_plan *x, const struct nt_plan *y)
{
	return x->until == y->until && x->payload_bytes == y->payload_bytes &&
	       memcmp(x->payload, y->payload, x->payload_bytes) == 0;
}

bool nt_alike_wait(struct nt_agree *a, const struct nt_agree_comm *comm,
		   const struct nt_agree_key *key)
{
	const struct nt_agree_key *like;
	uint32_t at = 0;

	if (a->now_ms - key->answered_ms >= NT_WAIT_MS)
		return false;
	while ((like = next_like(a, comm, key, &at)) != NULL) {
		/* Called as often, it is opened at any moment. */
		if (like->home == NT_HOME_IDLE && key->asked == 0 && key->opened == 0 &&
		    2 * like->rhythm.calls >= key->rhythm.calls)
			return true;
		if (asking(like) && abreast(key, like) && !like->answered)
			return true;
	}
	return false;
}

/* Where this plan began, or is to begin, in a like communicator; NULL: nowhere, or too soon. */
static const struct nt_plan *begun(struct nt_agree *a, const struct nt_agree_comm *comm,
				   const struct nt_agree_key *key, uint64_t top, uint64_t lead)
{
	const struct nt_agree_key *like;
	uint32_t at = 0;

	while ((like = next_like(a, comm, key, &at)) != NULL) {
		if (proposing(like) && abreast(key, like) && same_plan(&key->plan, &like->plan) &&
		    like->plan.at >= top + lead - lead / 4 &&
		    like->plan.at <= top + 2 * lead + NT_SPREAD)
			return &like->plan;
	}
	return NULL;
}

void nt_alike_align(struct nt_agree *a, const struct nt_agree_comm *comm, struct nt_agree_key *key,
		    uint64_t top, uint64_t lead)
{
	const struct nt_plan *with = begun(a, comm, key, top, lead);
	const struct nt_agree_key *like;
	uint32_t at = 0;

	if (with) {
		key->plan.at = with->at;
		key->plan.stride = with->stride;
		key->plan.cell = with->cell;
		if (with->epoch > key->plan.epoch)
			key->plan.epoch = with->epoch;
		return;
	}
	/* The first one: those that follow it come to their turns in these moments. */
	while ((like = next_like(a, comm, key, &at)) != NULL) {
		if (!asking(like) || !like->answered || like->opened != key->opened ||
		    like->asked + 1 != key->asked)
			continue;
		if (like->max_turn > top && like->max_turn <= top + NT_SPREAD &&
		    like->max_turn + lead > key->plan.at)
			key->plan.at = like->max_turn + lead;
		if (like->plan.epoch >= key->plan.epoch)
			key->plan.epoch = like->plan.epoch + 1;
	}
}

void nt_alike_share(struct nt_agree *a, const struct nt_agree_comm *comm,
		    const struct nt_agree_key *key, const uint8_t *bytes, size_t count)
{
	const struct nt_agree_key *like;
	uint32_t at = 0;

	while (count > 0 && (like = next_like(a, comm, key, &at)) != NULL) {
		if (like->home == NT_HOME_RUNNING && abreast(key, like) &&
		    same_plan(&key->plan, &like->plan))
			a->config.hooks.absorb(like->tuner, bytes, count);
	}
}
