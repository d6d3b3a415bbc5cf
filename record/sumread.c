/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* One rank record, from what its reader made of it to the sum. Whatever has no sense here makes the
 * record unusable as a whole. */
#include "record/sum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/printable.h"
#include "record/rankread.h"

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
	if (nt_sum_add_node(sum, rank->node, &node) < 0)
		return nt_error_set(err, "more nodes than can be summed up");
	sum->nodes[node].records++;
	for (size_t i = 0; i < rank->comm_count; i++) {
		if (nt_sum_add(sum, &rank->comms[i], rank->task, node) < 0)
			nt_sum_add_unusable(sum,
					    "more communicators or keys than can be summed up");
	}
	return 0;
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
		(void)nt_sum_add_explored(sum, &explored);
}

static void add_explored(struct nt_sum *sum, const struct nt_rank *rank)
{
	size_t count = rank->explored ? json_object_array_length(rank->explored) : 0;

	for (size_t i = 0; i < count; i++)
		add_arms(sum, json_object_array_get_idx(rank->explored, i));
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
			nt_sum_add_dropped(sum, name, count);
	}
}

static void add_plugins(struct nt_sum *sum, const struct nt_rank *rank)
{
	if (!rank->plugins)
		return;
	json_object_object_foreach(rank->plugins, kind, value)
	{
		(void)kind;
		if (json_object_is_type(value, json_type_string))
			nt_sum_add_plugin(sum, json_object_get_string(value));
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
