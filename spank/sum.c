/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Rank records into one: what is known of each communicator. */
#include "spank/sum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMS_MAX 4096 /* of one node's processes in one step; a board holds 128 at once */
#define KEYS_MAX 1024 /* of one communicator; a board holds 32 */

void nt_sum_init(struct nt_sum *sum)
{
	memset(sum, 0, sizeof(*sum));
	sum->marker.coll = -1;
}

void nt_sum_fini(struct nt_sum *sum)
{
	for (size_t i = 0; i < sum->comm_count; i++)
		free(sum->comms[i].keys);
	free(sum->comms);
	nt_sum_init(sum);
}

/* Room for one more item at the end of an array that doubles; NULL when there is none. */
static void *grow(void *array, size_t count, size_t max, size_t item_bytes)
{
	if (count >= max)
		return NULL;
	if ((count & (count - 1)) != 0)
		return array;
	return realloc(array, (count ? 2 * count : 1) * item_bytes);
}

static int knowledge(const struct nt_sum_key *key)
{
	return 4 * (int)key->state + 2 * !isnan(key->p) + !isnan(key->auto_us);
}

static bool knows_more(const struct nt_sum_key *left, const struct nt_sum_key *right)
{
	int difference = knowledge(left) - knowledge(right);

	return difference > 0 || (difference == 0 && left->rank < right->rank);
}

/* Every rank counts the same calls; the last to write has seen the most. */
static void merge_key(struct nt_sum_key *known, const struct nt_sum_key *key)
{
	int64_t calls = known->calls > key->calls ? known->calls : key->calls;

	if (knows_more(key, known))
		*known = *key;
	known->calls = calls;
}

static int add_key(struct nt_sum_comm *comm, const struct nt_sum_key *key)
{
	struct nt_sum_key *keys;

	for (size_t i = 0; i < comm->key_count; i++) {
		if (comm->keys[i].coll == key->coll && comm->keys[i].bytes == key->bytes) {
			merge_key(&comm->keys[i], key);
			return 0;
		}
	}
	keys = grow(comm->keys, comm->key_count, KEYS_MAX, sizeof(*keys));
	if (!keys)
		return -1;
	comm->keys = keys;
	keys[comm->key_count++] = *key;
	return 0;
}

static struct nt_sum_comm *find_comm(struct nt_sum *sum, const struct nt_sum_comm *wanted)
{
	for (size_t i = 0; i < sum->comm_count; i++) {
		struct nt_sum_comm *comm = &sum->comms[i];

		if (strcmp(comm->id, wanted->id) == 0 && comm->ranks == wanted->ranks)
			return comm;
	}
	return NULL;
}

static struct nt_sum_comm *add_comm(struct nt_sum *sum, const struct nt_sum_comm *comm)
{
	struct nt_sum_comm *comms = grow(sum->comms, sum->comm_count, COMMS_MAX, sizeof(*comms));

	if (!comms)
		return NULL;
	sum->comms = comms;
	comms += sum->comm_count++;
	*comms = *comm;
	comms->keys = NULL;
	comms->key_count = 0;
	comms->here = 1;
	if (!comm->why[0])
		comms->rank = INT64_MAX;
	return comms;
}

/* A reason that any rank gives holds for the communicator; of several, the lowest rank's. The
 * rank of what is known is that of the reason. */
static void merge_comm(struct nt_sum_comm *known, const struct nt_sum_comm *comm)
{
	if (comm->why[0] && comm->rank < known->rank) {
		memcpy(known->why, comm->why, sizeof(known->why));
		known->rank = comm->rank;
	}
	if (comm->nodes > known->nodes)
		known->nodes = comm->nodes;
	known->joining = known->joining && comm->joining;
	known->rejected = known->rejected || comm->rejected;
	known->alike = known->alike || comm->alike;
	known->here++;
}

int nt_sum_add(struct nt_sum *sum, const struct nt_sum_comm *comm)
{
	struct nt_sum_comm *known = find_comm(sum, comm);
	int rc = 0;

	if (known)
		merge_comm(known, comm);
	else
		known = add_comm(sum, comm);
	if (!known)
		return -1;
	for (size_t i = 0; i < comm->key_count && rc == 0; i++)
		rc = add_key(known, &comm->keys[i]);
	return rc;
}

static bool usable(const struct nt_sum_marker *marker)
{
	return marker->periods >= 8; /* fewer show nothing */
}

void nt_sum_add_marker(struct nt_sum *sum, const struct nt_sum_marker *marker)
{
	const struct nt_sum_marker *known = &sum->marker;
	bool better = known->coll < 0 || marker->ranks > known->ranks;

	if (marker->coll < 0)
		return;
	if (known->coll >= 0 && marker->ranks == known->ranks)
		better = usable(marker) != usable(known) ? usable(marker)
							 : marker->task < known->task;
	if (better)
		sum->marker = *marker;
}

void nt_sum_add_word(struct nt_sum_word *word, const char *text)
{
	if (word->known && strcmp(word->text, text) != 0)
		word->mixed = true;
	if (!word->known)
		snprintf(word->text, sizeof(word->text), "%s", text);
	word->known = true;
}

void nt_sum_add_unusable(struct nt_sum *sum, const char *why)
{
	sum->unusable++;
	if (sum->unusable == 1 || strcmp(why, sum->unusable_why) < 0)
		snprintf(sum->unusable_why, sizeof(sum->unusable_why), "%s", why);
}

bool nt_sum_decided(const struct nt_sum *sum)
{
	for (size_t i = 0; i < sum->comm_count; i++) {
		for (size_t k = 0; k < sum->comms[i].key_count; k++) {
			if (sum->comms[i].keys[k].state >= NT_SUM_KEPT)
				return true;
		}
	}
	return false;
}
