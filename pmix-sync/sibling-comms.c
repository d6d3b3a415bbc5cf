/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/sibling-comms.h"

#include <string.h>
#include "pmix-sync/shm.h"
#include "pmix-sync/view.h"

#define NT_WAIT_MS 2000 /* longest wait for a sibling that should be ready, too */
#define NT_SIBLING_TURNS 16 /* siblings differ by at most so many turns */

static bool are_siblings(struct nt_agree *a, const struct nt_agree_comm *x,
			 const struct nt_agree_comm *y)
{
	if (x == y || !y->is_coordinator || !y->agreed || y->rejected || y->refused ||
	    x->ranks != y->ranks || x->participant_count != y->participant_count)
		return false;
	for (uint32_t i = 0; i < x->participant_count; i++) {
		if (x->participants[i] != y->participants[i])
			return false;
	}
	return !nt_shm_share_gpu(a->config.shm, nt_view_comm(a, x), nt_view_comm(a, y));
}

/* The same key in the next sibling from *at on; NULL: none. */
static struct nt_agree_key *next_sibling(struct nt_agree *a, const struct nt_agree_comm *comm,
					 const struct nt_agree_key *key, uint32_t *at)
{
	while (*at < NT_SHM_COMMS) {
		struct nt_agree_comm *other = a->comms[(*at)++];

		for (uint32_t k = 0; other && k < other->key_count; k++) {
			struct nt_agree_key *sibling = &other->keys[k];

			if (sibling->id == key->id && sibling->slot >= 0 &&
			    are_siblings(a, comm, other))
				return sibling;
		}
	}
	return NULL;
}

static bool asking(const struct nt_agree_key *key)
{
	return key->coordinator == NT_COORDINATOR_WANTED ||
	       key->coordinator == NT_COORDINATOR_RUNNING;
}

static bool proposing(const struct nt_agree_key *key)
{
	return key->coordinator == NT_COORDINATOR_PROPOSED ||
	       key->coordinator == NT_COORDINATOR_RUNNING;
}

/* Equally far in the same exploration or recheck. */
static bool abreast(const struct nt_agree_key *key, const struct nt_agree_key *sibling)
{
	return sibling->opened == key->opened && sibling->asked == key->asked;
}

static bool same_plan(const struct nt_plan *x, const struct nt_plan *y)
{
	return x->until == y->until && x->payload_bytes == y->payload_bytes &&
	       memcmp(x->payload, y->payload, x->payload_bytes) == 0;
}

bool nt_siblings_wait(struct nt_agree *a, const struct nt_agree_comm *comm,
		      const struct nt_agree_key *key)
{
	const struct nt_agree_key *sibling;
	uint32_t at = 0;

	if (a->now_ms - key->answered_ms >= NT_WAIT_MS)
		return false;
	while ((sibling = next_sibling(a, comm, key, &at)) != NULL) {
		/* It is called as often: it will be opened any moment. */
		if (sibling->coordinator == NT_COORDINATOR_IDLE && key->asked == 0 &&
		    key->opened == 0 && 2 * sibling->interval.calls >= key->interval.calls)
			return true;
		if (asking(sibling) && abreast(key, sibling) && !sibling->answered)
			return true;
	}
	return false;
}

/* A sibling's plan with these contents; NULL: none, or it begins too soon or too late. */
static const struct nt_plan *begun(struct nt_agree *a, const struct nt_agree_comm *comm,
				   const struct nt_agree_key *key, uint64_t top, uint64_t lead)
{
	const struct nt_agree_key *sibling;
	uint32_t at = 0;

	while ((sibling = next_sibling(a, comm, key, &at)) != NULL) {
		if (proposing(sibling) && abreast(key, sibling) &&
		    same_plan(&key->plan, &sibling->plan) &&
		    sibling->plan.at >= top + lead - lead / 4 &&
		    sibling->plan.at <= top + 2 * lead + NT_SIBLING_TURNS)
			return &sibling->plan;
	}
	return NULL;
}

void nt_siblings_align(struct nt_agree *a, const struct nt_agree_comm *comm,
		       struct nt_agree_key *key, uint64_t top, uint64_t lead)
{
	const struct nt_plan *with = begun(a, comm, key, top, lead);
	const struct nt_agree_key *sibling;
	uint32_t at = 0;

	if (with) {
		key->plan.at = with->at;
		key->plan.stride = with->stride;
		key->plan.cell = with->cell;
		if (with->epoch > key->plan.epoch)
			key->plan.epoch = with->epoch;
		return;
	}
	/* The first of them: the others reach their turns about now. */
	while ((sibling = next_sibling(a, comm, key, &at)) != NULL) {
		if (!asking(sibling) || !sibling->answered || sibling->opened != key->opened ||
		    sibling->asked + 1 != key->asked)
			continue;
		if (sibling->max_turn > top && sibling->max_turn <= top + NT_SIBLING_TURNS &&
		    sibling->max_turn + lead > key->plan.at)
			key->plan.at = sibling->max_turn + lead;
		if (sibling->plan.epoch >= key->plan.epoch)
			key->plan.epoch = sibling->plan.epoch + 1;
	}
}

void nt_siblings_share(struct nt_agree *a, const struct nt_agree_comm *comm,
		       const struct nt_agree_key *key, const uint8_t *bytes, size_t count)
{
	const struct nt_agree_key *sibling;
	uint32_t at = 0;

	while (count > 0 && (sibling = next_sibling(a, comm, key, &at)) != NULL) {
		if (sibling->coordinator == NT_COORDINATOR_RUNNING && abreast(key, sibling) &&
		    same_plan(&key->plan, &sibling->plan))
			a->config.hooks.absorb(sibling->tuner, bytes, count);
	}
}
