/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* One rank record from JSON, strictly. */
#include "spank/collect.h"

#include <json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "contract/record.h"

#define DEPTH_MAX 8 /* record, comms, comm, keys, key, value */
#define COUNT_MAX INT64_C(1000000000000000)
#define NUMBER_MAX 1e15 /* of what a record may claim, so that sums stay finite and printable */
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* A text as the step's record may hold it: printable ASCII without quotes, backslashes and
 * braces. */
static void copy_text(char *out, size_t out_bytes, const char *text)
{
	static const char from[] = "\"\\{}";
	static const char to[] = "'/()";
	size_t i;

	for (i = 0; text[i] && i + 1 < out_bytes; i++) {
		const char *found = strchr(from, text[i]);

		if (found)
			out[i] = to[found - from];
		else
			out[i] = text[i] < 0x20 || text[i] > 0x7e ? '?' : text[i];
	}
	out[i] = '\0';
}

static int wrong(const char *name, const char *want, struct nt_error *err)
{
	return nt_error_set(err, "%s is not %s", name, want);
}

/* Absent members leave *value as it is; a wrong type or range is an error. */
static int get_count(json_object *object, const char *name, int64_t *value, struct nt_error *err)
{
	json_object *member;

	if (!json_object_object_get_ex(object, name, &member))
		return 0;
	if (!json_object_is_type(member, json_type_int))
		return wrong(name, "a whole number", err);
	*value = json_object_get_int64(member);
	if (*value < 0 || *value > COUNT_MAX)
		return wrong(name, "a count", err);
	return 0;
}

static int get_number(json_object *object, const char *name, double *value, struct nt_error *err)
{
	json_object *member;

	if (!json_object_object_get_ex(object, name, &member))
		return 0;
	if (!json_object_is_type(member, json_type_double) &&
	    !json_object_is_type(member, json_type_int))
		return wrong(name, "a number", err);
	*value = json_object_get_double(member);
	if (!isfinite(*value) || fabs(*value) > NUMBER_MAX)
		return wrong(name, "a number in range", err);
	return 0;
}

static int get_text(json_object *object, const char *name, char *out, size_t out_bytes,
		    struct nt_error *err)
{
	json_object *member;

	out[0] = '\0';
	if (!json_object_object_get_ex(object, name, &member))
		return 0;
	if (!json_object_is_type(member, json_type_string))
		return wrong(name, "a text", err);
	copy_text(out, out_bytes, json_object_get_string(member));
	return 0;
}

static int get_name(json_object *object, const char *name, int (*parse)(const char *), int *value,
		    struct nt_error *err)
{
	char text[64];

	*value = -1;
	if (get_text(object, name, text, sizeof(text), err) < 0)
		return -1;
	if (!text[0])
		return 0;
	*value = parse(text);
	return *value < 0 ? wrong(name, "a known name", err) : 0;
}

/* *array is NULL where the member is absent. */
static int get_array(json_object *object, const char *name, json_object **array,
		     struct nt_error *err)
{
	*array = NULL;
	if (!json_object_object_get_ex(object, name, array))
		return 0;
	return json_object_is_type(*array, json_type_array) ? 0 : wrong(name, "an array", err);
}

static int get_state(json_object *object, enum nt_sum_state *state, struct nt_error *err)
{
	static const char *const words[] = {
		[NT_SUM_COUNTED] = NT_KEYSTATE_COUNTED,
		[NT_SUM_EXPLORING] = NT_KEYSTATE_EXPLORING,
		[NT_SUM_OBSERVED] = NT_KEYSTATE_OBSERVED,
		[NT_SUM_KEPT] = NT_KEYSTATE_KEPT,
		[NT_SUM_COMMITTED] = NT_KEYSTATE_COMMITTED,
	};
	char text[32];

	if (get_text(object, "state", text, sizeof(text), err) < 0)
		return -1;
	for (size_t i = 0; i < LENGTH(words); i++) {
		if (strcmp(words[i], text) == 0) {
			*state = (enum nt_sum_state)i;
			return 0;
		}
	}
	return wrong("state", "a state of a key", err);
}

static int check_key(const struct nt_sum_key *key, struct nt_error *err)
{
	if (key->coll < 0)
		return wrong("coll", "a collective", err);
	if (key->bytes < 0)
		return wrong("bytes", "there", err);
	if (key->auto_us < 0 || key->arm_us < 0 || key->spent_ms < 0)
		return wrong("a time", "positive", err);
	if (key->p < 0 || key->p > 1)
		return wrong("p", "a share", err);
	return 0;
}

static int read_key(struct nt_sum_key *key, json_object *object, struct nt_error *err)
{
	const struct {
		const char *name;
		int64_t *value;
	} counts[] = {
		{ "bytes", &key->bytes },	{ "samples", &key->samples },
		{ "calls", &key->calls },	{ "spent_calls", &key->spent_calls },
		{ "rechecks", &key->rechecks }, { "rollbacks", &key->rollbacks },
	};
	const struct {
		const char *name;
		double *value;
	} numbers[] = {
		{ "auto_us", &key->auto_us },	{ "arm_us", &key->arm_us },	{ "p", &key->p },
		{ "spent_ms", &key->spent_ms }, { "saved_ms", &key->saved_ms },
	};

	if (!json_object_is_type(object, json_type_object))
		return wrong("a key", "an object", err);
	key->bytes = key->samples = key->calls = key->spent_calls = -1;
	key->rechecks = key->rollbacks = -1;
	key->auto_us = key->arm_us = key->p = key->spent_ms = key->saved_ms = NAN;
	for (size_t i = 0; i < LENGTH(counts); i++) {
		if (get_count(object, counts[i].name, counts[i].value, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < LENGTH(numbers); i++) {
		if (get_number(object, numbers[i].name, numbers[i].value, err) < 0)
			return -1;
	}
	if (get_state(object, &key->state, err) < 0 ||
	    get_name(object, "coll", nt_coll_parse, &key->coll, err) < 0 ||
	    get_name(object, "auto", nt_arm_parse, &key->auto_arm, err) < 0 ||
	    get_name(object, "arm", nt_arm_parse, &key->arm, err) < 0)
		return -1;
	return check_key(key, err);
}

static int read_keys(struct nt_sum_comm *comm, json_object *array, struct nt_error *err)
{
	size_t count = array ? json_object_array_length(array) : 0;

	comm->keys = count ? calloc(count, sizeof(comm->keys[0])) : NULL;
	if (count && !comm->keys)
		return nt_error_set(err, "no memory for %zu keys", count);
	for (size_t i = 0; i < count; i++) {
		if (read_key(&comm->keys[i], json_object_array_get_idx(array, i), err) < 0)
			return -1;
		comm->keys[i].rank = comm->rank;
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

static int read_comm(struct nt_sum_comm *comm, json_object *object, struct nt_error *err)
{
	json_object *keys;
	char state[32];

	if (!json_object_is_type(object, json_type_object))
		return wrong("a communicator", "an object", err);
	comm->rank = comm->ranks = comm->nodes = -1;
	if (get_count(object, "rank", &comm->rank, err) < 0 ||
	    get_count(object, "ranks", &comm->ranks, err) < 0 ||
	    get_count(object, "nodes", &comm->nodes, err) < 0 ||
	    get_text(object, "id", comm->id, sizeof(comm->id), err) < 0 ||
	    get_text(object, "state", state, sizeof(state), err) < 0 ||
	    get_text(object, "why", comm->why, sizeof(comm->why), err) < 0 ||
	    get_array(object, "keys", &keys, err) < 0)
		return -1;
	if (check_shape(comm, err) < 0)
		return -1;
	comm->joining = strcmp(state, NT_COMMSTATE_JOINING) == 0;
	comm->rejected = strcmp(state, NT_COMMSTATE_REJECTED) == 0;
	if (!comm->joining && !comm->rejected && strcmp(state, NT_COMMSTATE_AGREED) != 0)
		return wrong("state", "a state of a communicator", err);
	/* Without a shape the record has no place for keys. */
	return comm->ranks > 0 ? read_keys(comm, keys, err) : 0;
}

static void free_comms(struct nt_sum_comm *comms, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(comms[i].keys);
	free(comms);
}

/* All of it is read before any of it is added: a record counts as a whole. */
static int add_comms(struct nt_sum *sum, json_object *array, struct nt_error *err)
{
	size_t count = array ? json_object_array_length(array) : 0;
	struct nt_sum_comm *comms = count ? calloc(count, sizeof(comms[0])) : NULL;
	int rc = 0;

	if (count && !comms)
		return nt_error_set(err, "no memory for %zu communicators", count);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = read_comm(&comms[i], json_object_array_get_idx(array, i), err);
	for (size_t i = 0; i < count && rc == 0; i++) {
		if (nt_sum_add(sum, &comms[i]) < 0)
			nt_sum_add_unusable(sum,
					    "more communicators or keys than can be summed up");
	}
	free_comms(comms, count);
	return rc;
}

static int add_record(struct nt_sum *sum, json_object *root, uint32_t job, uint32_t step,
		      struct nt_error *err)
{
	int64_t version = -1, in_job = -1, in_step = -1, nccl = 0;
	json_object *comms;

	if (!json_object_is_type(root, json_type_object))
		return wrong("the record", "an object", err);
	if (get_count(root, "v", &version, err) < 0 || get_count(root, "job", &in_job, err) < 0 ||
	    get_count(root, "step", &in_step, err) < 0 || get_count(root, "nccl", &nccl, err) < 0 ||
	    get_array(root, "comms", &comms, err) < 0)
		return -1;
	if (version != NT_RECORD_VERSION)
		return nt_error_set(err, "v is not %d", NT_RECORD_VERSION);
	if (in_job != job || in_step != step)
		return nt_error_set(err, "it is of another step");
	if (nccl > 999999)
		return wrong("nccl", "a version", err);
	if (add_comms(sum, comms, err) < 0)
		return -1;
	sum->records++;
	if (nccl > sum->nccl)
		sum->nccl = nccl;
	return 0;
}

int nt_collect_record(struct nt_sum *sum, const char *text, size_t text_bytes, uint32_t job,
		      uint32_t step, struct nt_error *err)
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	json_object *root = NULL;
	size_t end = 0;
	int rc;

	if (!tokener)
		return nt_error_set(err, "no memory");
	if (text_bytes > 0 && text_bytes <= NT_RANK_RECORD_MAX) {
		json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
		root = json_tokener_parse_ex(tokener, text, (int)text_bytes);
		end = json_tokener_get_parse_end(tokener);
	}
	while (root && end < text_bytes && strchr(" \t\r\n", text[end]) && text[end])
		end++;
	if (root && end == text_bytes)
		rc = add_record(sum, root, job, step, err);
	else
		rc = nt_error_set(err, "it is not JSON of at most %d bytes", NT_RANK_RECORD_MAX);
	json_object_put(root);
	json_tokener_free(tokener);
	return rc;
}
