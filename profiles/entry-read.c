/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* entry-read.c - read an entry from untrusted JSON */
#include "profiles/entry.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "lib/hex.h"
#include "profiles/program.h"

#define DEVIATION_MAX 10.0 /* of logarithms */

static int take_number(struct json_object *in, const char *key, int64_t least, int64_t largest,
		       int64_t *out, struct nt_error *err)
{
	struct json_object *value;

	if (!json_object_object_get_ex(in, key, &value) ||
	    !json_object_is_type(value, json_type_int))
		return nt_error_set(err, "%s is missing or not a whole number", key);
	*out = json_object_get_int64(value);
	if (*out < least || *out > largest)
		return nt_error_set(err, "%s is out of range", key);
	return 0;
}

/* A text of plain characters that fits, perhaps ""; NULL if it is not one. */
static const char *plain_text(struct json_object *value, size_t room)
{
	const char *text;
	size_t length;

	if (!json_object_is_type(value, json_type_string))
		return NULL;
	text = json_object_get_string(value);
	length = strlen(text);
	if (length >= room || length != (size_t)json_object_get_string_len(value))
		return NULL;
	return strspn(text, NT_PLAIN_WORD "/") == length ? text : NULL;
}

static const char *text_member(struct json_object *in, const char *key, size_t room,
			       struct nt_error *err)
{
	struct json_object *value;
	const char *text = NULL;

	if (json_object_object_get_ex(in, key, &value))
		text = plain_text(value, room);
	if (text == NULL)
		nt_error_set(err, "%s is missing or not plain text", key);
	return text;
}

static int take_names(struct nt_memory_entry *entry, struct json_object *in, struct nt_error *err)
{
	const char *fingerprint = text_member(in, "fingerprint", 17, err);
	const char *id = text_member(in, "id", NT_ENTRY_ID, err);
	const char *profile = text_member(in, "profile", NT_PROFILE_NAME, err);
	const char *driver = text_member(in, "driver", NT_WHERE_DRIVER, err);

	if (fingerprint == NULL || id == NULL || profile == NULL || driver == NULL)
		return -1;
	if (nt_hex_parse(fingerprint, NT_HEX_U64, &entry->where.fingerprint) < 0 ||
	    !nt_hex_valid(id, NT_ENTRY_ID - 1) || !nt_profile_name_valid(profile))
		return nt_error_set(err, "bad fingerprint, id or name of a profile");
	snprintf(entry->id, sizeof(entry->id), "%s", id);
	snprintf(entry->profile, sizeof(entry->profile), "%s", profile);
	snprintf(entry->where.driver, sizeof(entry->where.driver), "%s", driver);
	return 0;
}

static int take_kinds(struct nt_memory_entry *entry, struct json_object *in, struct nt_error *err)
{
	const char *fabric = text_member(in, "fabric", 16, err);
	const char *origin = text_member(in, "origin", 16, err);
	int number;

	if (fabric == NULL || origin == NULL)
		return -1;
	number = nt_fabric_parse(fabric);
	if (number < 0)
		return nt_error_set(err, "unknown fabric '%s'", fabric);
	entry->where.fabric = (enum nt_fabric)number;
	for (int i = 0; i <= NT_ORIGIN_IMPORT; i++) {
		if (strcmp(origin, nt_origin_name(i)) == 0) {
			entry->origin = (enum nt_entry_origin)i;
			return 0;
		}
	}
	return nt_error_set(err, "unknown origin '%s'", origin);
}

static int take_numbers(struct nt_memory_entry *entry, struct json_object *in, struct nt_error *err)
{
	int64_t version, nodes, per_node, nccl, job, step;

	if (take_number(in, "v", NT_ENTRY_VERSION, NT_ENTRY_VERSION, &version, err) < 0 ||
	    take_number(in, "nodes", 1, NT_ENTRY_NODES_MAX, &nodes, err) < 0 ||
	    take_number(in, "per_node", 1, NT_ENTRY_PER_NODE_MAX, &per_node, err) < 0 ||
	    take_number(in, "nccl", 0, NT_ENTRY_NCCL_MAX, &nccl, err) < 0 ||
	    take_number(in, "job", 0, UINT32_MAX, &job, err) < 0 ||
	    take_number(in, "step", 0, UINT32_MAX, &step, err) < 0 ||
	    take_number(in, "when", 0, INT64_C(1) << 40, &entry->when_s, err) < 0 ||
	    take_number(in, "added", 0, INT64_C(1) << 60, &entry->added_us, err) < 0)
		return -1;
	entry->where.nodes = (uint32_t)nodes;
	entry->where.per_node = (uint32_t)per_node;
	entry->where.nccl = (uint32_t)nccl;
	entry->job = (uint32_t)job;
	entry->step = (uint32_t)step;
	return 0;
}

static bool time_of(struct json_object *value, double *us)
{
	if (!json_object_is_type(value, json_type_double) &&
	    !json_object_is_type(value, json_type_int))
		return false;
	*us = json_object_get_double(value);
	return isfinite(*us) && *us >= 0 && *us <= NT_ENTRY_TIME_MAX_US;
}

static bool take_quantiles(struct json_object *in, struct nt_quantiles *out)
{
	int64_t samples;

	if (!json_object_is_type(in, json_type_array) || json_object_array_length(in) != 4 ||
	    !time_of(json_object_array_get_idx(in, 0), &out->p25_us) ||
	    !time_of(json_object_array_get_idx(in, 1), &out->median_us) ||
	    !time_of(json_object_array_get_idx(in, 2), &out->p75_us) ||
	    !json_object_is_type(json_object_array_get_idx(in, 3), json_type_int))
		return false;
	samples = json_object_get_int64(json_object_array_get_idx(in, 3));
	if (samples < 0 || samples > UINT32_MAX)
		return false;
	out->samples = (uint32_t)samples;
	return samples == 0 ||
	       (out->p25_us > 0 && out->p25_us <= out->median_us && out->median_us <= out->p75_us);
}

static bool take_whole(struct json_object *in, int64_t largest, uint64_t *out)
{
	int64_t value;

	if (!json_object_is_type(in, json_type_int))
		return false;
	value = json_object_get_int64(in);
	*out = (uint64_t)value;
	return value >= 0 && value <= largest;
}

/* The communicator's shape, which older lines do not have. */
static bool take_shape(struct nt_known_key *key, struct json_object *in)
{
	uint64_t ranks, nodes;

	if (json_object_array_length(in) == 6)
		return true;
	if (!take_whole(json_object_array_get_idx(in, 6), 1 << 24, &ranks) ||
	    !take_whole(json_object_array_get_idx(in, 7), NT_ENTRY_NODES_MAX, &nodes) ||
	    nodes > ranks || (nodes == 0 && ranks > 0))
		return false;
	key->ranks = (uint32_t)ranks;
	key->nodes = (uint32_t)nodes;
	return true;
}

static bool take_key(struct nt_known_key *key, struct json_object *in)
{
	const char *coll, *arm;

	if (!json_object_is_type(in, json_type_array) ||
	    (json_object_array_length(in) != 6 && json_object_array_length(in) != 8))
		return false;
	coll = plain_text(json_object_array_get_idx(in, 0), 32);
	arm = plain_text(json_object_array_get_idx(in, 2), NT_ARM_TEXT);
	if (coll == NULL || arm == NULL)
		return false;
	key->coll = nt_kind_parse(coll);
	key->arm = nt_arm_parse(arm);
	return key->coll >= 0 && key->arm >= 0 &&
	       take_whole(json_object_array_get_idx(in, 1), NT_ENTRY_BYTES_MAX, &key->bytes) &&
	       take_whole(json_object_array_get_idx(in, 3), NT_ENTRY_BYTES_MAX, &key->calls) &&
	       take_quantiles(json_object_array_get_idx(in, 4), &key->best) &&
	       take_quantiles(json_object_array_get_idx(in, 5), &key->untuned) &&
	       take_shape(key, in);
}

static int take_keys(struct nt_memory_entry *entry, struct json_object *in, struct nt_error *err)
{
	struct json_object *keys;

	if (!json_object_object_get_ex(in, "keys", &keys) ||
	    !json_object_is_type(keys, json_type_array) ||
	    json_object_array_length(keys) > NT_ENTRY_KEYS)
		return nt_error_set(err, "keys is missing, not an array or too long");
	for (size_t i = 0; i < (size_t)json_object_array_length(keys); i++) {
		struct nt_known_key *key = nt_entry_add_key(entry);

		if (key == NULL)
			return nt_error_set(err, "out of memory");
		if (!take_key(key, json_object_array_get_idx(keys, i)))
			return nt_error_set(err, "key %zu is malformed", i + 1);
	}
	return 0;
}

static int take_periods(struct nt_memory_entry *entry, struct json_object *array,
			struct nt_error *err)
{
	size_t count = (size_t)json_object_array_length(array);

	if (count > NT_ENTRY_PERIODS)
		return nt_error_set(err, "marker has too many periods");
	for (size_t i = 0; i < count; i++) {
		double us;

		if (!time_of(json_object_array_get_idx(array, i), &us) || us <= 0)
			return nt_error_set(err, "period %zu of the marker is malformed", i + 1);
		entry->period_us[i] = (float)us;
	}
	entry->periods = (unsigned)count;
	return 0;
}

static int take_marker(struct nt_memory_entry *entry, struct json_object *in, struct nt_error *err)
{
	struct json_object *marker, *periods;
	const char *coll;
	int64_t bytes;

	if (!json_object_object_get_ex(in, "marker", &marker))
		return 0;
	if (!json_object_is_type(marker, json_type_object) ||
	    !json_object_object_get_ex(marker, "period_us", &periods) ||
	    !json_object_is_type(periods, json_type_array))
		return nt_error_set(err, "marker is malformed");
	coll = text_member(marker, "coll", 32, err);
	if (coll == NULL || take_number(marker, "bytes", 0, NT_ENTRY_BYTES_MAX, &bytes, err) < 0)
		return -1;
	entry->marker_coll = nt_coll_parse(coll);
	entry->marker_bytes = (uint64_t)bytes;
	if (entry->marker_coll < 0)
		return nt_error_set(err, "unknown collective of the marker");
	return take_periods(entry, periods, err);
}

static int take_own(struct nt_memory_entry *entry, struct json_object *in, struct nt_error *err)
{
	int64_t own = 0;

	if (json_object_object_get_ex(in, "own", NULL) &&
	    take_number(in, "own", 1, UINT32_MAX, &own, err) < 0)
		return -1;
	entry->where.user_env = (uint32_t)own;
	return 0;
}

static int take_library(struct nt_memory_entry *entry, struct json_object *in, struct nt_error *err)
{
	struct json_object *value;
	const char *path;

	if (!json_object_object_get_ex(in, "library", &value))
		return 0;
	path = json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
	if (strlen(path) != (size_t)json_object_get_string_len(value) ||
	    !nt_entry_library_valid(path))
		return nt_error_set(err, "library is not an absolute path of plain characters");
	snprintf(entry->library, sizeof(entry->library), "%s", path);
	return 0;
}

/* Older lines do not have them: they are of one step. */
static int take_turns(struct nt_memory_entry *entry, struct json_object *in, struct nt_error *err)
{
	struct json_object *value;
	int64_t turns;

	if (!json_object_object_get_ex(in, "turns", &value))
		return 0;
	if (take_number(in, "turns", 1, NT_ENTRY_TURNS, &turns, err) < 0)
		return -1;
	entry->turns = (uint32_t)turns;
	if (!json_object_object_get_ex(in, "deviation", &value))
		return nt_error_set(err, "turns are without their deviation");
	if (!json_object_is_type(value, json_type_double) &&
	    !json_object_is_type(value, json_type_int))
		return nt_error_set(err, "deviation is not a number");
	entry->deviation = json_object_get_double(value);
	if (!(entry->deviation >= 0 && entry->deviation <= DEVIATION_MAX))
		return nt_error_set(err, "deviation is out of range");
	return 0;
}

static int take_flag(struct json_object *in, const char *key, bool *out, struct nt_error *err)
{
	struct json_object *value;

	if (!json_object_object_get_ex(in, key, &value))
		return 0;
	if (!json_object_is_type(value, json_type_boolean))
		return nt_error_set(err, "%s is neither true nor false", key);
	*out = json_object_get_boolean(value);
	return 0;
}

static int take_program(struct nt_memory_entry *entry, struct json_object *in, struct nt_error *err)
{
	const char *program;

	if (!json_object_object_get_ex(in, "program", NULL))
		return 0;
	program = text_member(in, "program", NT_PROGRAM_NAME, err);
	if (program == NULL)
		return -1;
	if (!nt_program_valid(program, NT_PROGRAM_NAME))
		return nt_error_set(err, "bad program name");
	snprintf(entry->where.program, sizeof(entry->where.program), "%s", program);
	return 0;
}

int nt_entry_parse(struct nt_memory_entry *entry, struct json_object *line, struct nt_error *err)
{
	nt_entry_init(entry);
	if (!json_object_is_type(line, json_type_object)) {
		return nt_error_set(err, "no object");
	}
	if (take_names(entry, line, err) < 0 || take_kinds(entry, line, err) < 0 ||
	    take_numbers(entry, line, err) < 0 || take_keys(entry, line, err) < 0 ||
	    take_own(entry, line, err) < 0 || take_program(entry, line, err) < 0 ||
	    take_turns(entry, line, err) < 0 || take_flag(line, "asked", &entry->asked, err) < 0 ||
	    take_flag(line, "wrong", &entry->wrong, err) < 0 ||
	    take_library(entry, line, err) < 0 || take_marker(entry, line, err) < 0) {
		nt_entry_fini(entry);
		return -1;
	}
	return 0;
}
