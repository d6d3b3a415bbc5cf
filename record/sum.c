/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Rank records into one: what is known of each communicator. Whatever has no sense in a record
 * makes it unusable as a whole. */
#include "record/sum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/reason.h"
#include "lib/array.h"
#include "lib/printable.h"
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

/* *node: its index in sum->nodes. */
static int add_node(struct nt_sum *sum, const char *name, size_t *node)
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

void nt_sum_add_unusable(struct nt_sum *sum, const char *why)
{
	sum->unusable++;
	if (sum->unusable == 1 || strcmp(why, sum->unusable_why.text) < 0)
		nt_error_set(&sum->unusable_why, "%s", why);
}

/* ---- a rank record */

static int wrong(const char *name, const char *want, struct nt_error *err)
{
	return nt_error_set(err, "%s is not %s", name, want);
}

/* Without a reason in the record, the state gives one. */
static int key_reason(const struct nt_key *key)
{
	const int reason = key->reason;
	const bool back = key->rollbacks > 0 && key->best_arm >= 0;

	switch ((enum nt_keystate)key->state) {
	case NT_KEYSTATE_COMMITTED:
		return strcmp(key->from, NT_KEYFROM_POLICY) == 0 ? NT_REASON_REMEMBERED
								 : NT_REASON_NONE;
	case NT_KEYSTATE_KEPT:
		if (back)
			return NT_REASON_ROLLED_BACK;
		return reason != NT_REASON_NONE ? reason : NT_REASON_OTHER;
	case NT_KEYSTATE_OBSERVED: return NT_REASON_OBSERVED;
	case NT_KEYSTATE_EXPLORING: return reason != NT_REASON_NONE ? reason : NT_REASON_UNFINISHED;
	case NT_KEYSTATE_COUNTED:
	case NT_KEYSTATES: break;
	}
	return reason != NT_REASON_NONE ? reason : NT_REASON_COUNTED;
}

static int settle_key(struct nt_key *key, int64_t rank, struct nt_error *err)
{
	key->rank = rank;
	key->trial = NULL; /* the record's */
	if (key->state < 0)
		return wrong("state", "a state of a key", err);
	if (key->coll < 0)
		return wrong("coll", "a collective", err);
	if (key->bytes < 0)
		return wrong("bytes", "there", err);
	if (key->state != NT_KEYSTATE_COMMITTED || key->arm < 0)
		key->arm = NT_ARM_BASELINE;
	key->reason = key_reason(key);
	return 0;
}

/* 0 for ranks or nodes: NCCL did not tell, so keys are ignored. */
static int check_shape(struct nt_comm_seen *comm, struct nt_error *err)
{
	if (!comm->id[0] || comm->rank < 0 || comm->ranks < 0 || comm->nodes < 0)
		return wrong("id, rank, ranks or nodes of a communicator", "there", err);
	if (comm->ranks == 0 || comm->nodes == 0) {
		comm->ranks = comm->nodes = 0;
		comm->key_count = 0;
		return 0;
	}
	if (comm->ranks <= comm->rank || comm->ranks > UINT32_MAX || comm->nodes > comm->ranks)
		return wrong("rank, ranks or nodes of a communicator", "in range", err);
	return 0;
}

static int check_comm(struct nt_comm_seen *comm, struct nt_error *err)
{
	if (check_shape(comm, err) < 0)
		return -1;
	if (comm->state < 0)
		return wrong("state", "a state of a communicator", err);
	comm->key_array = comm->sampled_array = NULL; /* the record's */
	for (size_t i = 0; i < comm->key_count; i++) {
		if (settle_key(&comm->keys[i], comm->rank, err) < 0)
			return -1;
	}
	return 0;
}

/* A record counts as a whole: all is checked before any is added. */
static int add_comms(struct nt_sum *sum, struct nt_rank *rank, struct nt_error *err)
{
	size_t node;

	for (size_t i = 0; i < rank->comm_count; i++) {
		if (check_comm(&rank->comms[i], err) < 0)
			return -1;
	}
	if (add_node(sum, rank->node, &node) < 0)
		return nt_error_set(err, "more nodes than can be summed up");
	sum->nodes[node].records++;
	for (size_t i = 0; i < rank->comm_count; i++) {
		if (nt_sum_add(sum, &rank->comms[i], rank->task, node) < 0)
			nt_sum_add_unusable(sum,
					    "more communicators or keys than can be summed up");
	}
	return 0;
}

/* A key was explored by one process; the fuller account counts. */
static void keep_explored(struct nt_sum *sum, const struct nt_sum_explored *explored)
{
	struct nt_sum_explored *added;

	for (size_t i = 0; i < sum->explored_count; i++) {
		struct nt_sum_explored *known = &sum->explored[i];

		if (!nt_explored_same(&known->key, &explored->key))
			continue;
		if (explored->arm_count > known->arm_count)
			*known = *explored;
		return;
	}
	added = nt_array_add(&sum->explored, &sum->explored_count, EXPLORED_MAX, sizeof(*added));
	if (added)
		*added = *explored;
}

/* Arms that make no sense are left out. */
static void add_arms(struct nt_sum *sum, json_object *object)
{
	struct nt_sum_explored explored = { .arm_count = 0 };
	json_object *arms;

	nt_fields_clear(&nt_explored_fields, &explored.key);
	if (nt_fields_read(&nt_explored_fields, object, &explored.key, NT_READ_TO_COPY, NULL) < 0 ||
	    !explored.key.arm_array || explored.key.coll < 0)
		return;
	arms = explored.key.arm_array;
	explored.key.arm_array = NULL; /* the record's */
	for (size_t i = 0; i < json_object_array_length(arms) && explored.arm_count < NT_SUM_ARMS;
	     i++) {
		struct nt_explored_arm *arm = &explored.arm[explored.arm_count];

		if (nt_fields_read_item(&nt_explored_arm_fields, arms, i, arm, NT_READ_TO_COPY,
					NULL) == 0 &&
		    arm->arm >= 0)
			explored.arm_count++;
	}
	if (explored.arm_count > 0)
		keep_explored(sum, &explored);
}

static void add_explored(struct nt_sum *sum, const struct nt_rank *rank)
{
	size_t count = rank->explored ? json_object_array_length(rank->explored) : 0;

	for (size_t i = 0; i < count; i++)
		add_arms(sum, json_object_array_get_idx(rank->explored, i));
}

/* At most NT_SUM_COUNTS names. */
static void add_dropped(struct nt_sum *sum, const char *what, int64_t count)
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

static void add_counts(struct nt_sum *sum, const struct nt_rank *rank)
{
	char name[40];

	if (!rank->counts)
		return;
	json_object_object_foreach(rank->counts, what, value)
	{
		int64_t count = json_object_get_int64(value);

		nt_printable_copy(name, sizeof(name), what, strlen(what));
		if (count > 0 && count <= NT_COUNT_MAX)
			add_dropped(sum, name, count);
	}
}

/* text: about a chained plugin; nothing if that was loaded */
static void add_plugin(struct nt_sum *sum, const char *text)
{
	struct nt_reason why;

	nt_reason_read(&why, text, strlen(text));
	if ((why.id == NT_REASON_NOT_LOADED || why.id == NT_REASON_PLUGIN_FAILED) &&
	    (!sum->not_loaded.text[0] || strcmp(why.text, sum->not_loaded.text) < 0))
		sum->not_loaded = why;
}

static void add_plugins(struct nt_sum *sum, const struct nt_rank *rank)
{
	if (!rank->plugins)
		return;
	json_object_object_foreach(rank->plugins, kind, value)
	{
		(void)kind;
		if (json_object_is_type(value, json_type_string))
			add_plugin(sum, json_object_get_string(value));
	}
}

/* Unknown is not different; but no launch profile is. */
static void add_words(struct nt_sum *sum, const struct nt_rank *rank)
{
	if (rank->driver[0])
		nt_sum_add_word(&sum->driver, rank->driver);
	if (rank->fabric[0] && strcmp(rank->fabric, "any") != 0)
		nt_sum_add_word(&sum->fabric, rank->fabric);
	nt_sum_add_word(&sum->launch, rank->launch);
	if (rank->library[0] && (!sum->library[0] || strcmp(rank->library, sum->library) < 0))
		memcpy(sum->library, rank->library, sizeof(sum->library));
}

static void add_facts(struct nt_sum *sum, const struct nt_rank *rank)
{
	struct nt_facts_seen *seen;

	if (!rank->facts_object)
		return;
	seen = nt_array_add(&sum->facts, &sum->facts_count, NT_FINDINGS_RANKS, sizeof(*seen));
	if (!seen)
		return;
	seen->facts = rank->facts;
	seen->task = rank->task;
	for (size_t i = 0; i < rank->comm_count; i++) {
		if (rank->comms[i].nodes > seen->nodes)
			seen->nodes = rank->comms[i].nodes;
		if (rank->comms[i].ranks <= seen->ranks)
			continue;
		memcpy(seen->comm, rank->comms[i].id, sizeof(seen->comm));
		seen->ranks = rank->comms[i].ranks;
		seen->rank = rank->comms[i].rank;
	}
	memcpy(seen->node, rank->node, sizeof(seen->node));
	memcpy(seen->fabric, rank->fabric, sizeof(seen->fabric));
	memcpy(seen->driver, rank->driver, sizeof(seen->driver));
	memcpy(seen->library, rank->library, sizeof(seen->library));
	memcpy(seen->variables, rank->variables, sizeof(seen->variables));
	memcpy(seen->inside, rank->variables_inside, sizeof(seen->inside));
}

static int add_record(struct nt_sum *sum, struct nt_rank *rank, uint32_t job, uint32_t step,
		      struct nt_error *err)
{
	if ((job != NT_SUM_ANY && rank->job != job) || (step != NT_SUM_ANY && rank->step != step))
		return nt_error_set(err, "it is of another step");
	if (rank->nccl > 999999)
		return wrong("nccl", "a version", err);
	if (add_comms(sum, rank, err) < 0)
		return -1;
	add_words(sum, rank);
	add_facts(sum, rank);
	nt_sum_add_marker(sum, &rank->marker, rank->task < 0 ? INT64_MAX : rank->task);
	add_explored(sum, rank);
	add_counts(sum, rank);
	add_plugins(sum, rank);
	sum->flags |= (uint32_t)rank->flags;
	if (!sum->mode[0])
		memcpy(sum->mode, rank->mode, sizeof(sum->mode));
	sum->records++;
	if (!rank->end && rank->written_s > sum->open_s)
		sum->open_s = rank->written_s;
	if (rank->nccl > sum->nccl)
		sum->nccl = rank->nccl;
	return 0;
}

int nt_sum_add_record(struct nt_sum *sum, const char *text, size_t text_bytes, uint32_t job,
		      uint32_t step, struct nt_error *err)
{
	json_object *root = NULL;
	struct nt_rank rank;
	int rc;

	if (text_bytes == 0 || text_bytes > NT_RANK_RECORD_MAX ||
	    nt_json_parse(text, text_bytes, &root, NULL) < 0) {
		json_object_put(root);
		return nt_error_set(err, "it is not JSON of at most %d bytes", NT_RANK_RECORD_MAX);
	}
	rc = nt_rank_read_take(&rank, root, NT_READ_TO_COPY, err);
	if (rc == 0)
		rc = add_record(sum, &rank, job, step, err);
	nt_rank_fini(&rank);
	return rc;
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
