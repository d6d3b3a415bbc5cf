/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The record of one NCCL process. It is a user's file: nothing in it is trusted. */
#include "report/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contract/record.h"
#include "report/fields.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define TEXT_ROOM(type, member) offsetof(struct type, member), sizeof(((struct type *)0)->member)

#define RANK(member) offsetof(struct nt_rank, member), 0
static const struct nt_field rank_fields[] = {
	{ "v", RANK(version), NT_FIELD_COUNT, true },
	{ "job", RANK(job), NT_FIELD_COUNT, true },
	{ "step", RANK(step), NT_FIELD_COUNT, true },
	{ "task", RANK(task), NT_FIELD_COUNT, false },
	{ "pid", RANK(pid), NT_FIELD_COUNT, false },
	{ "node", TEXT_ROOM(nt_rank, node), NT_FIELD_TEXT, true },
	{ "mode", TEXT_ROOM(nt_rank, mode), NT_FIELD_TEXT, false },
	{ "policy", TEXT_ROOM(nt_rank, policy), NT_FIELD_TEXT, false },
	{ "nccl", RANK(nccl), NT_FIELD_COUNT, false },
	{ "flags", RANK(flags), NT_FIELD_COUNT, false },
	{ "end", RANK(end), NT_FIELD_BOOL, false },
	{ "plugins", RANK(plugins), NT_FIELD_OBJECT, false },
	{ "agreement", RANK(agreement), NT_FIELD_OBJECT, false },
	{ "explored", RANK(explored), NT_FIELD_ARRAY, false },
	{ "counts", RANK(counts), NT_FIELD_OBJECT, false },
	{ "comms", RANK(comm_array), NT_FIELD_ARRAY, true },
};

#define COMM(member) offsetof(struct nt_rank_comm, member), 0
static const struct nt_field comm_fields[] = {
	{ "id", TEXT_ROOM(nt_rank_comm, id), NT_FIELD_TEXT, true },
	{ "rank", COMM(rank), NT_FIELD_COUNT, true },
	{ "ranks", COMM(ranks), NT_FIELD_COUNT, true },
	{ "nodes", COMM(nodes), NT_FIELD_COUNT, false },
	{ "state", TEXT_ROOM(nt_rank_comm, state), NT_FIELD_TEXT, true },
	{ "why", TEXT_ROOM(nt_rank_comm, why), NT_FIELD_TEXT, false },
	{ "keys", COMM(key_array), NT_FIELD_ARRAY, false },
};

#define KEY(member) offsetof(struct nt_rank_key, member), 0
static const struct nt_field key_fields[] = {
	{ "coll", KEY(coll), NT_FIELD_COLL, true },
	{ "bytes", KEY(bytes), NT_FIELD_COUNT, true },
	{ "state", TEXT_ROOM(nt_rank_key, state), NT_FIELD_TEXT, true },
	{ "why", TEXT_ROOM(nt_rank_key, why), NT_FIELD_TEXT, false },
	{ "auto", KEY(auto_arm), NT_FIELD_ARM, false },
	{ "arm", KEY(arm), NT_FIELD_ARM, false },
	{ "auto_us", KEY(auto_us), NT_FIELD_TIME, false },
	{ "arm_us", KEY(arm_us), NT_FIELD_TIME, false },
	{ "auto_p25_us", KEY(auto_p25_us), NT_FIELD_TIME, false },
	{ "arm_p25_us", KEY(arm_p25_us), NT_FIELD_TIME, false },
	{ "p", KEY(p), NT_FIELD_SHARE, false },
	{ "samples", KEY(samples), NT_FIELD_COUNT, false },
	{ "spent_calls", KEY(spent_calls), NT_FIELD_COUNT, false },
	{ "spent_ms", KEY(spent_ms), NT_FIELD_TIME, false },
	{ "saved_ms", KEY(saved_ms), NT_FIELD_NUMBER, false },
	{ "rechecks", KEY(rechecks), NT_FIELD_COUNT, false },
	{ "rollbacks", KEY(rollbacks), NT_FIELD_COUNT, false },
	{ "changes", KEY(changes), NT_FIELD_COUNT, false },
	{ "calls", KEY(calls), NT_FIELD_COUNT, false },
	{ "forced", KEY(forced), NT_FIELD_COUNT, false },
	{ "differed", KEY(differed), NT_FIELD_COUNT, false },
	{ "predicted_auto_us", KEY(predicted_auto_us), NT_FIELD_TIME, false },
	{ "predicted_arm_us", KEY(predicted_arm_us), NT_FIELD_TIME, false },
	{ "trial", KEY(trial), NT_FIELD_OBJECT, false },
};

static int read_key(struct nt_rank_key *key, json_object *object, struct nt_error *err)
{
	*key = (struct nt_rank_key){
		.auto_arm = -1,
		.arm = -1,
		.auto_us = NAN,
		.arm_us = NAN,
		.auto_p25_us = NAN,
		.arm_p25_us = NAN,
		.p = NAN,
		.predicted_auto_us = NAN,
		.predicted_arm_us = NAN,
		.spent_ms = NAN,
		.saved_ms = NAN,
		.samples = -1,
		.calls = -1,
		.spent_calls = -1,
		.forced = -1,
		.differed = -1,
		.rechecks = -1,
		.rollbacks = -1,
		.changes = -1,
	};
	return nt_fields_read(key_fields, LENGTH(key_fields), object, key, err);
}

static int read_keys(struct nt_rank_comm *comm, struct nt_error *err)
{
	size_t count = comm->key_array ? json_object_array_length(comm->key_array) : 0;
	struct nt_error inner;

	comm->keys = count ? calloc(count, sizeof(comm->keys[0])) : NULL;
	if (count && !comm->keys)
		return nt_error_set(err, "no memory for %zu keys", count);
	for (size_t i = 0; i < count; i++) {
		if (read_key(&comm->keys[i], json_object_array_get_idx(comm->key_array, i),
			     &inner) < 0)
			return nt_error_set(err, "key %zu: %.120s", i, inner.text);
		comm->key_count++;
	}
	return 0;
}

static int read_comms(struct nt_rank *rank, struct nt_error *err)
{
	size_t count = json_object_array_length(rank->comm_array);
	struct nt_error inner;

	rank->comms = count ? calloc(count, sizeof(rank->comms[0])) : NULL;
	if (count && !rank->comms)
		return nt_error_set(err, "no memory for %zu communicators", count);
	for (size_t i = 0; i < count; i++) {
		struct nt_rank_comm *comm = &rank->comms[i];

		comm->nodes = -1;
		if (nt_fields_read(comm_fields, LENGTH(comm_fields),
				   json_object_array_get_idx(rank->comm_array, i), comm,
				   &inner) < 0)
			return nt_error_set(err, "communicator %zu: %.120s", i, inner.text);
		rank->comm_count++;
		if (read_keys(comm, &inner) < 0)
			return nt_error_set(err, "communicator %zu: %.120s", i, inner.text);
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
		if (nt_field_read(&field, value, &count, err) < 0)
			return -1;
	}
	return 0;
}

static int check_version(json_object *root, struct nt_error *err)
{
	static const struct nt_field field = { .name = "v", .kind = NT_FIELD_COUNT };
	json_object *value;
	int64_t version;

	if (!json_object_object_get_ex(root, "v", &value))
		return nt_error_set(err, "v is missing");
	if (nt_field_read(&field, value, &version, err) < 0)
		return -1;
	if (version != NT_RECORD_VERSION)
		return nt_error_set(err, "v is %lld (this nccl-tune reads version %d)",
				    (long long)version, NT_RECORD_VERSION);
	return 0;
}

int nt_rank_parse(struct nt_rank *rank, const char *text, size_t text_bytes, struct nt_error *err)
{
	memset(rank, 0, sizeof(*rank));
	rank->task = rank->pid = rank->nccl = -1;
	if (nt_json_parse(text, text_bytes, &rank->root, err) < 0 ||
	    check_version(rank->root, err) < 0)
		return -1;
	if (nt_fields_read(rank_fields, LENGTH(rank_fields), rank->root, rank, err) < 0)
		return -1;
	if (rank->counts && check_counts(rank->counts, err) < 0) {
		rank->counts = NULL;
		return -1;
	}
	return read_comms(rank, err);
}

void nt_rank_fini(struct nt_rank *rank)
{
	for (size_t i = 0; i < rank->comm_count; i++)
		free(rank->comms[i].keys);
	/* The one whose members could not be read has no keys. */
	free(rank->comms);
	json_object_put(rank->root);
	memset(rank, 0, sizeof(*rank));
}
