/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Rank records into one: what is known of each communicator. */
#include "record/sum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/reason.h"
#include "lib/array.h"
#include "record/rankread.h"

#define COMMS_MAX 65536 /* of one step; shared memory holds 128 at once */
#define PLACES_MAX 65536 /* ranks of one */
#define NODES_MAX 65536
#define EXPLORED_MAX 4096 /* keys of one step */
#define SAMPLES_MAX (1 << 20) /* of one */
#define KEYS_MAX 1024 /* of one communicator; shared memory holds 256 */

void nt_sum_init(struct nt_sum *sum)
{
	memset(sum, 0, sizeof(*sum));
	sum->marker.coll = -1;
}

void nt_sum_fini(struct nt_sum *sum)
{
	for (size_t i = 0; i < sum->comm_count; i++)
		nt_comm_seen_fini(&sum->comms[i]);
	free(sum->comms);
	free(sum->nodes);
	free(sum->explored);
	free(sum->calls);
	free(sum->facts);
	nt_sum_init(sum);
}

static int add_key(struct nt_comm_seen *comm, const struct nt_key *key)
{
	struct nt_key *added;

	for (size_t i = 0; i < comm->key_count; i++) {
		if (comm->keys[i].coll == key->coll && comm->keys[i].bytes == key->bytes) {
			nt_key_merge_rank(&comm->keys[i], key);
			return 0;
		}
	}
	added = nt_array_add(&comm->keys, &comm->key_count, KEYS_MAX, sizeof(*added));
	if (!added)
		return -1;
	*added = *key;
	return 0;
}

static struct nt_comm_seen *find_comm(struct nt_sum *sum, const struct nt_comm_seen *wanted)
{
	for (size_t i = 0; i < sum->comm_count; i++) {
		struct nt_comm_seen *comm = &sum->comms[i];

		if (strcmp(comm->id, wanted->id) == 0 && comm->ranks == wanted->ranks)
			return comm;
	}
	return NULL;
}

static struct nt_comm_seen *add_comm(struct nt_sum *sum, const struct nt_comm_seen *comm)
{
	struct nt_comm_seen *added = nt_array_add(&sum->comms, &sum->comm_count, COMMS_MAX,
						  sizeof(*added));

	if (!added)
		return NULL;
	*added = *comm;
	added->keys = NULL;
	added->sampled = NULL;
	added->key_count = added->sampled_count = 0;
	if (comm->why.id == NT_REASON_NONE)
		added->rank = INT64_MAX;
	return added;
}

/* Others were not heard: they know the cause. */
static bool is_of_others(const struct nt_reason *why)
{
	return why->id == NT_REASON_UNSEEN || why->id == NT_REASON_SILENT ||
	       why->id == NT_REASON_JOINING;
}

/* Any rank's reason holds for the communicator. Of several, a cause of the rank's own takes
 * precedence, then the lowest rank. */
static void merge_comm(struct nt_comm_seen *known, const struct nt_comm_seen *comm)
{
	bool others = is_of_others(&comm->why), known_others = is_of_others(&known->why);

	if (comm->why.id != NT_REASON_NONE &&
	    (others == known_others || known->why.id == NT_REASON_NONE ? comm->rank < known->rank
								       : known_others)) {
		known->why = comm->why;
		known->rank = comm->rank;
	}
	if (comm->nodes > known->nodes)
		known->nodes = comm->nodes;
	/* Joining only if all ranks are; rejected if any is. */
	if (comm->state > known->state)
		known->state = comm->state;
	known->alike = known->alike || comm->alike;
	if (!known->name[0])
		memcpy(known->name, comm->name, sizeof(known->name));
}

static int add_place(struct nt_comm_seen *comm, int64_t rank, int64_t task, size_t node)
{
	struct nt_place_seen *added;

	for (size_t i = 0; i < comm->place_count; i++) {
		if (comm->places[i].rank == rank)
			return 0;
	}
	added = nt_array_add(&comm->places, &comm->place_count, PLACES_MAX, sizeof(*added));
	if (!added)
		return -1;
	*added = (struct nt_place_seen){ .rank = rank, .task = task, .node = node };
	return 0;
}

/* At most SAMPLES_MAX. */
static int add_samples(struct nt_comm_seen *known, const struct nt_comm_seen *comm, size_t node)
{
	for (size_t i = 0; i < comm->sampled_count && known->sample_count < SAMPLES_MAX; i++) {
		struct nt_late_sample *added = nt_array_add(&known->samples, &known->sample_count,
							    SAMPLES_MAX, sizeof(*added));

		if (!added)
			return -1;
		*added = (struct nt_late_sample){
			.call = comm->sampled[i],
			.rank = (uint32_t)comm->rank,
			.node = (uint32_t)node,
		};
	}
	return 0;
}

int nt_sum_add(struct nt_sum *sum, const struct nt_comm_seen *comm, int64_t task, size_t node)
{
	struct nt_comm_seen *known = find_comm(sum, comm);
	int rc = 0;

	if (known)
		merge_comm(known, comm);
	else
		known = add_comm(sum, comm);
	if (!known)
		return -1;
	for (size_t i = 0; i < comm->key_count && rc == 0; i++)
		rc = add_key(known, &comm->keys[i]);
	if (rc == 0 && comm->ranks > 0)
		rc = add_place(known, comm->rank, task, node) | add_samples(known, comm, node);
	return rc;
}

static bool usable(const struct nt_rank_marker *marker)
{
	return marker->periods >= 8; /* fewer show nothing */
}

void nt_sum_add_marker(struct nt_sum *sum, const struct nt_rank_marker *marker, int64_t task)
{
	const struct nt_rank_marker *known = &sum->marker;
	bool better = known->coll < 0 || marker->ranks > known->ranks;

	if (marker->coll < 0)
		return;
	if (known->coll >= 0 && marker->ranks == known->ranks)
		better = usable(marker) != usable(known) ? usable(marker) : task < sum->marker_task;
	if (!better)
		return;
	sum->marker = *marker;
	sum->marker.period_array = NULL; /* the record's */
	sum->marker_task = task;
}

void nt_sum_add_word(struct nt_sum_word *word, const char *text)
{
	if (word->known && strcmp(word->text, text) != 0)
		word->mixed = true;
	if (!word->known)
		snprintf(word->text, sizeof(word->text), "%s", text);
	word->known = true;
}

int nt_sum_add_node(struct nt_sum *sum, const char *name, size_t *node)
{
	struct nt_node_seen *added;

	for (*node = 0; *node < sum->node_count; (*node)++) {
		if (strcmp(sum->nodes[*node].name, name) == 0)
			return 0;
	}
	added = nt_array_add(&sum->nodes, &sum->node_count, NODES_MAX, sizeof(*added));
	if (!added)
		return -1;
	snprintf(added->name, sizeof(added->name), "%s", name);
	return 0;
}

/* A key was explored by one process; the fuller account counts. */
int nt_sum_add_explored(struct nt_sum *sum, const struct nt_sum_explored *explored)
{
	struct nt_sum_explored *added;

	for (size_t i = 0; i < sum->explored_count; i++) {
		struct nt_sum_explored *known = &sum->explored[i];

		if (!nt_explored_same(&known->key, &explored->key))
			continue;
		if (explored->arm_count > known->arm_count)
			*known = *explored;
		return 0;
	}
	added = nt_array_add(&sum->explored, &sum->explored_count, EXPLORED_MAX, sizeof(*added));
	if (!added)
		return -1;
	*added = *explored;
	return 0;
}

void nt_sum_add_dropped(struct nt_sum *sum, const char *what, int64_t count)
{
	struct nt_dropped *dropped;
	size_t i = 0;

	while (i < sum->dropped_count && strcmp(sum->dropped[i].what, what) != 0)
		i++;
	if (i == NT_SUM_COUNTS)
		return;
	dropped = &sum->dropped[i];
	if (i == sum->dropped_count) {
		sum->dropped_count++;
		snprintf(dropped->what, sizeof(dropped->what), "%s", what);
	}
	dropped->count += count;
}

void nt_sum_add_unusable(struct nt_sum *sum, const char *why)
{
	sum->unusable++;
	if (sum->unusable == 1 || strcmp(why, sum->unusable_why.text) < 0)
		nt_error_set(&sum->unusable_why, "%s", why);
}

void nt_sum_add_plugin(struct nt_sum *sum, const char *text)
{
	struct nt_reason why;

	nt_reason_read(&why, text, strlen(text));
	if ((why.id == NT_REASON_NOT_LOADED || why.id == NT_REASON_PLUGIN_FAILED) &&
	    (!sum->not_loaded.text[0] || strcmp(why.text, sum->not_loaded.text) < 0))
		sum->not_loaded = why;
}

bool nt_sum_decided(const struct nt_sum *sum)
{
	for (size_t i = 0; i < sum->comm_count; i++) {
		for (size_t k = 0; k < sum->comms[i].key_count; k++) {
			if (sum->comms[i].keys[k].state >= NT_KEYSTATE_KEPT)
				return true;
		}
	}
	return false;
}
