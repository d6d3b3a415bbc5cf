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
	nt_fields_clear(&nt_facts_fields, &rank->facts);
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
	if (rank->facts_object &&
	    nt_fields_read(&nt_facts_fields, rank->facts_object, &rank->facts, how, err) < 0)
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
