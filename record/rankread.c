/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The file is a user's: nothing in it is trusted. */
#include "record/rankread.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int read_keys(struct nt_comm_seen *comm, enum nt_reading how, struct nt_error *err)
{
	size_t count = comm->key_array ? json_object_array_length(comm->key_array) : 0;
	struct nt_error inner;

	comm->keys = count ? calloc(count, sizeof(comm->keys[0])) : NULL;
	if (count && !comm->keys)
		return nt_error_set(err, "no memory for %zu keys", count);
	for (size_t i = 0; i < count; i++) {
		nt_key_clear(&comm->keys[i]);
		if (nt_fields_read(&nt_rank_key_fields,
				   json_object_array_get_idx(comm->key_array, i), &comm->keys[i],
				   how, &inner) < 0)
			return nt_error_set(err, "key %zu: %.120s", i, inner.text);
		comm->key_count++;
	}
	return 0;
}

/* A number in an array. */
static int read_number(enum nt_field_kind kind, const char *name, json_object *array, size_t at,
		       void *out, struct nt_error *err)
{
	const struct nt_field field = { .name = name, .kind = kind };

	return nt_field_read(&field, json_object_array_get_idx(array, at), out, NT_READ_TO_SHOW,
			     err);
}

/* Three numbers for each call of one collective. */
static int read_kind(struct nt_comm_seen *comm, const struct nt_sampled *kind, struct nt_error *err)
{
	json_object *array = kind->call_array;
	size_t count = array ? json_object_array_length(array) : 0;

	if (count % 3 != 0 || count / 3 > NT_SAMPLED_MAX - comm->sampled_count)
		return nt_error_set(err, "%zu numbers (want three of each of at most %d calls)",
				    count, NT_SAMPLED_MAX);
	for (size_t i = 0; i < count; i += 3) {
		struct nt_sampled_call *call = &comm->sampled[comm->sampled_count];

		call->coll = kind->coll;
		call->ring = kind->ring;
		if (read_number(NT_FIELD_COUNT, "turn", array, i, &call->turn, err) < 0 ||
		    read_number(NT_FIELD_TIME, "us", array, i + 1, &call->us, err) < 0 ||
		    read_number(NT_FIELD_TIME, "s", array, i + 2, &call->s, err) < 0)
			return -1;
		comm->sampled_count++;
	}
	return 0;
}

static int read_sampled(struct nt_comm_seen *comm, enum nt_reading how, struct nt_error *err)
{
	size_t kinds = comm->sampled_array ? json_object_array_length(comm->sampled_array) : 0;
	struct nt_error inner;

	comm->sampled = kinds ? calloc(NT_SAMPLED_MAX, sizeof(comm->sampled[0])) : NULL;
	if (kinds && !comm->sampled)
		return nt_error_set(err, "no memory for calls");
	for (size_t i = 0; i < kinds; i++) {
		struct nt_sampled kind;

		if (nt_fields_read_item(&nt_sampled_fields, comm->sampled_array, i, &kind, how,
					&inner) < 0 ||
		    read_kind(comm, &kind, &inner) < 0)
			return nt_error_set(err, NT_RANK_SAMPLED ": %.120s", inner.text);
	}
	return 0;
}

static int read_comms(struct nt_rank *rank, enum nt_reading how, struct nt_error *err)
{
	size_t count = rank->comm_array ? json_object_array_length(rank->comm_array) : 0;
	struct nt_error inner;

	rank->comms = count ? calloc(count, sizeof(rank->comms[0])) : NULL;
	if (count && !rank->comms)
		return nt_error_set(err, "no memory for %zu communicators", count);
	for (size_t i = 0; i < count; i++) {
		struct nt_comm_seen *comm = &rank->comms[i];

		if (nt_fields_read_item(&nt_rank_comm_fields, rank->comm_array, i, comm, how,
					&inner) < 0)
			return nt_error_set(err, "communicator %zu: %.120s", i, inner.text);
		rank->comm_count++;
		if (read_keys(comm, how, &inner) < 0 || read_sampled(comm, how, &inner) < 0)
			return nt_error_set(err, "communicator %zu: %.120s", i, inner.text);
	}
	return 0;
}

static int read_marker(struct nt_rank *rank, enum nt_reading how, struct nt_error *err)
{
	struct nt_rank_marker *marker = &rank->marker;
	struct nt_error inner;
	size_t count;

	if (!rank->marker_object)
		return 0;
	if (nt_fields_read(&nt_rank_marker_fields, rank->marker_object, marker, how, &inner) < 0)
		return nt_error_set(err, "marker: %.120s", inner.text);
	count = marker->period_array ? json_object_array_length(marker->period_array) : 0;
	if (count > NT_RANK_PERIODS_MAX)
		return nt_error_set(err, "marker: %zu periods (want at most %d)", count,
				    NT_RANK_PERIODS_MAX);
	for (; marker->periods < count; marker->periods++) {
		if (read_number(NT_FIELD_TIME, NT_RANK_PERIODS, marker->period_array,
				marker->periods, &marker->period_us[marker->periods], &inner) < 0)
			return nt_error_set(err, "marker: %.120s", inner.text);
	}
	return 0;
}

static int check_counts(json_object *counts, struct nt_error *err)
{
	struct nt_field field = { .kind = NT_FIELD_COUNT };
	int64_t count;

	json_object_object_foreach(counts, name, value)
	{
		field.name = name;
		if (nt_field_read(&field, value, &count, NT_READ_TO_SHOW, err) < 0)
			return -1;
	}
	return 0;
}

int nt_rank_read_take(struct nt_rank *rank, json_object *root, enum nt_reading how,
		      struct nt_error *err)
{
	memset(rank, 0, sizeof(*rank));
	nt_fields_clear(&nt_rank_fields, rank);
	nt_fields_clear(&nt_rank_marker_fields, &rank->marker);
	rank->root = root;
	if (nt_version_check(root, err) < 0 ||
	    nt_fields_read(&nt_rank_fields, root, rank, how, err) < 0)
		return -1;
	if (rank->counts && check_counts(rank->counts, err) < 0) {
		rank->counts = NULL;
		return -1;
	}
	if (read_comms(rank, how, err) < 0)
		return -1;
	return read_marker(rank, how, err);
}

int nt_rank_parse(struct nt_rank *rank, const char *text, size_t text_bytes, struct nt_error *err)
{
	json_object *root;

	memset(rank, 0, sizeof(*rank));
	rank->marker.coll = -1;
	if (nt_json_parse(text, text_bytes, &root, err) < 0) {
		rank->root = root;
		return -1;
	}
	return nt_rank_read_take(rank, root, NT_READ_TO_SHOW, err);
}

void nt_comm_seen_fini(struct nt_comm_seen *comm)
{
	free(comm->keys);
	free(comm->sampled);
	free(comm->samples);
	free(comm->places);
	free(comm->volumes);
	free(comm->begun);
	free(comm->lateness);
	memset(comm, 0, sizeof(*comm));
}

void nt_rank_fini(struct nt_rank *rank)
{
	for (size_t i = 0; i < rank->comm_count; i++)
		nt_comm_seen_fini(&rank->comms[i]);
	free(rank->comms);
	json_object_put(rank->root);
	memset(rank, 0, sizeof(*rank));
}

static json_object *array_of(json_object *trial, const char *name, size_t most)
{
	json_object *array;

	if (!json_object_object_get_ex(trial, name, &array) ||
	    !json_object_is_type(array, json_type_array) || json_object_array_length(array) > most)
		return NULL;
	return array;
}

static int read_rounds(struct nt_rank_trial *trial,
		       uint8_t data[NT_RANK_TRIAL_ROUNDS][NT_RANK_TRIAL_BYTES], json_object *object,
		       struct nt_error *err)
{
	json_object *array = array_of(object, NT_IN_TRIAL_ROUNDS, NT_RANK_TRIAL_ROUNDS);

	if (!array)
		return nt_error_set(err, "trial has no rounds, or more than %d",
				    NT_RANK_TRIAL_ROUNDS);
	trial->rounds = (unsigned)json_object_array_length(array);
	for (unsigned i = 0; i < trial->rounds; i++) {
		const char *text = json_object_get_string(json_object_array_get_idx(array, i));
		int length = text ? nt_base64_decode(text, data[i], NT_RANK_TRIAL_BYTES) : -1;

		if (length < 0)
			return nt_error_set(err, "round %u of a trial cannot be read", i);
		trial->round[i].data = data[i];
		trial->round[i].bytes = (size_t)length;
	}
	return 0;
}

static int read_arms(struct nt_rank_trial *trial, json_object *object, struct nt_error *err)
{
	json_object *arms = array_of(object, NT_IN_TRIAL_ARMS, NT_RANK_TRIAL_ARMS);
	json_object *costs = array_of(object, NT_IN_TRIAL_COST, NT_RANK_TRIAL_ARMS);

	if (!arms || !costs || json_object_array_length(arms) != json_object_array_length(costs))
		return nt_error_set(err, "trial lacks arms, or their costs");
	trial->arms = (unsigned)json_object_array_length(arms);
	for (unsigned i = 0; i < trial->arms; i++) {
		const char *name = json_object_get_string(json_object_array_get_idx(arms, i));
		int arm = name ? nt_arm_parse(name) : -1;

		if (arm < 0 || arm >= NT_PAIRS)
			return nt_error_set(err, "trial of an unknown arm '%.24s'",
					    name ? name : "");
		trial->arm[i] = arm;
		trial->cost_us[i] = json_object_get_double(json_object_array_get_idx(costs, i));
	}
	return 0;
}

/* Present if the round tried channels or chunk sizes. */
static int read_channels(struct nt_rank_trial *trial, json_object *object, struct nt_error *err)
{
	struct nt_trial_channels channels;
	json_object *from;

	if (!json_object_object_get_ex(object, NT_IN_TRIAL_CHANNELS, &from))
		return 0;
	nt_fields_clear(&nt_trial_channels_fields, &channels);
	if (nt_fields_read(&nt_trial_channels_fields, from, &channels, NT_READ_TO_COPY, err) < 0)
		return -1;
	if (!channels.own || channels.ranks > UINT32_MAX || channels.most > UINT32_MAX)
		return nt_error_set(err, "trial's channels cannot be read");
	trial->has_channels = true;
	trial->ranks = channels.ranks > 0 ? (uint32_t)channels.ranks : 0;
	trial->most = channels.most > 0 ? (uint32_t)channels.most : 0;
	trial->chunks = channels.chunks;
	json_object_object_foreach(channels.own, name, number)
	{
		int pair = nt_arm_parse(name);
		int own = json_object_get_int(number);

		if (pair < 0 || pair >= NT_PAIRS || own < 0 || own > UINT8_MAX)
			return nt_error_set(err, "trial's channels of an unknown arm '%.24s'",
					    name);
		trial->own[pair] = (uint8_t)own;
	}
	return 0;
}

/* Present if the first round was of a remembered arm. */
static int read_remembered(struct nt_rank_trial *trial, json_object *object, struct nt_error *err)
{
	json_object *arm, *cost;

	if (!json_object_object_get_ex(object, NT_IN_TRIAL_REMEMBERED, &arm))
		return 0;
	trial->remembers = true;
	trial->remembered = nt_arm_parse(json_object_get_string(arm));
	trial->remembered_cost_us = -1;
	if (json_object_object_get_ex(object, NT_IN_TRIAL_REMEMBERED_COST, &cost))
		trial->remembered_cost_us = json_object_get_double(cost);
	if (trial->remembered < 0 || trial->remembered == NT_ARM_BASELINE)
		return nt_error_set(err, "trial of an unknown remembered arm");
	return 0;
}

/* How often each arm was to be called; absent: as often as the rule says. */
static void read_blocks(struct nt_rank_trial *trial, json_object *object)
{
	json_object *blocks, *plans = array_of(object, NT_IN_TRIAL_PLANS, NT_RANK_TRIAL_ROUNDS);

	if (!plans || json_object_array_length(plans) != trial->rounds)
		return;
	for (unsigned i = 0; i < trial->rounds; i++) {
		if (!json_object_object_get_ex(json_object_array_get_idx(plans, i),
					       NT_IN_PLAN_BLOCKS, &blocks) ||
		    json_object_get_int(blocks) < 0 || json_object_get_int(blocks) > UINT8_MAX)
			return;
		trial->round[i].blocks = (unsigned)json_object_get_int(blocks);
	}
}

int nt_rank_read_trial(struct nt_rank_trial *trial,
		       uint8_t data[NT_RANK_TRIAL_ROUNDS][NT_RANK_TRIAL_BYTES], json_object *object,
		       struct nt_error *err)
{
	memset(trial, 0, sizeof(*trial));
	if (read_rounds(trial, data, object, err) < 0 || read_arms(trial, object, err) < 0 ||
	    read_remembered(trial, object, err) < 0)
		return -1;
	read_blocks(trial, object);
	return read_channels(trial, object, err);
}
