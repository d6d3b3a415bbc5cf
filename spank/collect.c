/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* One rank record, from what its reader made of it to the sum. Whatever has no sense here makes the
 * record unusable as a whole. */
#include "spank/collect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/rankread.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static int wrong(const char *name, const char *want, struct nt_error *err)
{
	return nt_error_set(err, "%s is not %s", name, want);
}

static int key_state(const char *text, enum nt_sum_state *state)
{
	static const char *const words[] = {
		[NT_SUM_COUNTED] = NT_KEYSTATE_COUNTED,
		[NT_SUM_EXPLORING] = NT_KEYSTATE_EXPLORING,
		[NT_SUM_OBSERVED] = NT_KEYSTATE_OBSERVED,
		[NT_SUM_KEPT] = NT_KEYSTATE_KEPT,
		[NT_SUM_COMMITTED] = NT_KEYSTATE_COMMITTED,
	};

	for (size_t i = 0; i < LENGTH(words); i++) {
		if (strcmp(words[i], text) == 0) {
			*state = (enum nt_sum_state)i;
			return 0;
		}
	}
	return -1;
}

static int take_key(struct nt_sum_key *key, const struct nt_rank_key *read, int64_t rank,
		    struct nt_error *err)
{
	*key = (struct nt_sum_key){
		.coll = read->coll,
		.bytes = read->bytes,
		.unworthy = strcmp(read->why, NT_KEYWHY_UNWORTHY) == 0,
		.auto_arm = read->auto_arm,
		.arm = read->arm,
		.auto_us = read->auto_us,
		.arm_us = read->arm_us,
		.p = read->p,
		.auto_p25_us = read->auto_p25_us,
		.auto_p75_us = read->auto_p75_us,
		.arm_p25_us = read->arm_p25_us,
		.arm_p75_us = read->arm_p75_us,
		.own_us = { read->auto_own_us, read->arm_own_us },
		.period_us = { read->auto_period_us, read->arm_period_us },
		.samples = read->samples,
		.calls = read->calls,
		.spent_calls = read->spent_calls,
		.rechecks = read->rechecks,
		.rollbacks = read->rollbacks,
		.spent_ms = read->spent_ms,
		.saved_ms = read->saved_ms,
		.rank = rank,
	};
	if (key_state(read->state, &key->state) < 0)
		return wrong("state", "a state of a key", err);
	if (key->coll < 0)
		return wrong("coll", "a collective", err);
	if (key->bytes < 0)
		return wrong("bytes", "there", err);
	return 0;
}

/* Without a shape the record has no place for keys. */
static int take_keys(struct nt_sum_comm *comm, const struct nt_rank_comm *read,
		     struct nt_error *err)
{
	size_t count = comm->ranks > 0 ? read->key_count : 0;

	comm->keys = count ? calloc(count, sizeof(comm->keys[0])) : NULL;
	if (count && !comm->keys)
		return nt_error_set(err, "no memory for %zu keys", count);
	for (size_t i = 0; i < count; i++) {
		if (take_key(&comm->keys[i], &read->keys[i], comm->rank, err) < 0)
			return -1;
		comm->key_count++;
	}
	return 0;
}

/* A rank that NCCL told too little writes 0 for what it does not know; the rest must fit
 * together. */
static int check_shape(struct nt_sum_comm *comm, struct nt_error *err)
{
	if (!comm->id[0] || comm->rank < 0 || comm->ranks < 0 || comm->nodes < 0)
		return wrong("id, rank, ranks or nodes of a communicator", "there", err);
	if (comm->ranks == 0 || comm->nodes == 0) {
		comm->ranks = comm->nodes = 0;
		return 0;
	}
	if (comm->ranks <= comm->rank || comm->ranks > UINT32_MAX || comm->nodes > comm->ranks)
		return wrong("rank, ranks or nodes of a communicator", "in range", err);
	return 0;
}

static int take_comm(struct nt_sum_comm *comm, const struct nt_rank_comm *read,
		     struct nt_error *err)
{
	*comm = (struct nt_sum_comm){
		.rank = read->rank,
		.ranks = read->ranks,
		.nodes = read->nodes,
		.joining = strcmp(read->state, NT_COMMSTATE_JOINING) == 0,
		.rejected = strcmp(read->state, NT_COMMSTATE_REJECTED) == 0,
		.alike = read->alike,
	};
	memcpy(comm->id, read->id, sizeof(comm->id));
	snprintf(comm->why, sizeof(comm->why), "%.*s", (int)sizeof(comm->why) - 1, read->why);
	if (check_shape(comm, err) < 0)
		return -1;
	if (!comm->joining && !comm->rejected && strcmp(read->state, NT_COMMSTATE_AGREED) != 0)
		return wrong("state", "a state of a communicator", err);
	return take_keys(comm, read, err);
}

static void free_comms(struct nt_sum_comm *comms, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(comms[i].keys);
	free(comms);
}

/* All of it is looked at before any of it is added: a record counts as a whole. */
static int add_comms(struct nt_sum *sum, const struct nt_rank *rank, struct nt_error *err)
{
	size_t count = rank->comm_count;
	struct nt_sum_comm *comms = count ? calloc(count, sizeof(comms[0])) : NULL;
	int rc = 0;

	if (count && !comms)
		return nt_error_set(err, "no memory for %zu communicators", count);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = take_comm(&comms[i], &rank->comms[i], err);
	for (size_t i = 0; i < count && rc == 0; i++) {
		if (nt_sum_add(sum, &comms[i]) < 0)
			nt_sum_add_unusable(sum,
					    "more communicators or keys than can be summed up");
	}
	free_comms(comms, count);
	return rc;
}

static void add_marker(struct nt_sum *sum, const struct nt_rank *rank)
{
	struct nt_sum_marker marker = {
		.coll = rank->marker.coll,
		.bytes = rank->marker.bytes,
		.ranks = rank->marker.ranks,
		.calls = rank->marker.calls,
		.task = rank->task < 0 ? INT64_MAX : rank->task,
	};

	if (!rank->marker_object)
		return;
	for (size_t i = 0; i < rank->marker.periods && i < NT_SUM_PERIODS; i++)
		marker.period_us[marker.periods++] = (float)rank->marker.period_us[i];
	nt_sum_add_marker(sum, &marker);
}

/* What is not known is no other word; but a rank without a launch profile has another one. */
static void add_words(struct nt_sum *sum, const struct nt_rank *rank)
{
	if (rank->driver[0])
		nt_sum_add_word(&sum->driver, rank->driver);
	if (rank->fabric[0] && strcmp(rank->fabric, "any") != 0)
		nt_sum_add_word(&sum->fabric, rank->fabric);
	nt_sum_add_word(&sum->launch, rank->launch);
}

static int add_record(struct nt_sum *sum, const struct nt_rank *rank, uint32_t job, uint32_t step,
		      struct nt_error *err)
{
	if (rank->job != job || rank->step != step)
		return nt_error_set(err, "it is of another step");
	if (rank->nccl > 999999)
		return wrong("nccl", "a version", err);
	if (add_comms(sum, rank, err) < 0)
		return -1;
	add_words(sum, rank);
	add_marker(sum, rank);
	sum->records++;
	if (rank->nccl > sum->nccl)
		sum->nccl = rank->nccl;
	return 0;
}

int nt_collect_record(struct nt_sum *sum, const char *text, size_t text_bytes, uint32_t job,
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
