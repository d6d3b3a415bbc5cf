/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* entry-read.c - read an entry from untrusted JSON; false: a value is missing or makes no sense */
#include "launch/entry.h"

#include <string.h>
#include "lib/hex.h"
#include "lib/json.h"
#include "launch/program.h"

#define DEVIATION_MAX 10.0 /* of logarithms */
#define KIND_MAX 16 /* of the word for a fabric or an origin */
#define RANKS_MAX (1 << 24)
#define WHEN_MAX_S (INT64_C(1) << 40)
#define ADDED_MAX_US (INT64_C(1) << 60)

/* ---- single values; NULL is none */

/* Older lines lack some members. */
static bool has(struct json_object *in, const char *key)
{
	return json_object_object_get_ex(in, key, NULL);
}

static bool take_whole(struct json_object *in, int64_t least, int64_t largest, int64_t *out)
{
	if (!json_object_is_type(in, json_type_int))
		return false;
	*out = json_object_get_int64(in);
	return *out >= least && *out <= largest;
}

static bool take_u32(struct json_object *in, uint32_t least, uint32_t largest, uint32_t *out)
{
	int64_t number;
	bool good = take_whole(in, least, largest, &number);

	if (good)
		*out = (uint32_t)number;
	return good;
}

static bool take_bytes(struct json_object *in, uint64_t *out)
{
	int64_t number;
	bool good = take_whole(in, 0, NT_ENTRY_BYTES_MAX, &number);

	if (good)
		*out = (uint64_t)number;
	return good;
}

/* A text of plain characters that fits, perhaps "". */
static bool take_text(struct json_object *in, char *out, size_t size)
{
	const char *text;
	size_t length;

	if (!json_object_is_type(in, json_type_string))
		return false;
	text = json_object_get_string(in);
	length = strlen(text);
	if (length >= size || length != (size_t)json_object_get_string_len(in) ||
	    strspn(text, NT_PLAIN_WORD "/") != length)
		return false;
	memcpy(out, text, length + 1);
	return true;
}

static bool take_flag(struct json_object *in, const char *key, bool *out)
{
	if (!has(in, key))
		return true;
	*out = json_object_get_boolean(nt_json_member(in, key));
	return json_object_is_type(nt_json_member(in, key), json_type_boolean);
}

static bool take_kind(struct json_object *in, int *kind)
{
	char name[32];

	if (!take_text(in, name, sizeof(name)))
		return false;
	*kind = nt_kind_parse(name);
	return *kind >= 0;
}

/* ---- keys */

static bool take_quantiles(struct json_object *in, struct nt_quantiles *out)
{
	if (!json_object_is_type(in, json_type_array) || json_object_array_length(in) != 4 ||
	    !nt_json_take_number(json_object_array_get_idx(in, 0), NT_ENTRY_TIME_MAX_US,
				 &out->p25_us) ||
	    !nt_json_take_number(json_object_array_get_idx(in, 1), NT_ENTRY_TIME_MAX_US,
				 &out->median_us) ||
	    !nt_json_take_number(json_object_array_get_idx(in, 2), NT_ENTRY_TIME_MAX_US,
				 &out->p75_us) ||
	    !take_u32(json_object_array_get_idx(in, 3), 0, UINT32_MAX, &out->samples))
		return false;
	return out->samples == 0 ||
	       (out->p25_us > 0 && out->p25_us <= out->median_us && out->median_us <= out->p75_us);
}

/* The communicator's shape, which older lines do not have. */
static bool take_shape(struct nt_known_key *key, struct json_object *in)
{
	if (json_object_array_length(in) == 6)
		return true;
	return take_u32(json_object_array_get_idx(in, 6), 0, RANKS_MAX, &key->ranks) &&
	       take_u32(json_object_array_get_idx(in, 7), 0, NT_ENTRY_NODES_MAX, &key->nodes) &&
	       key->nodes <= key->ranks && (key->nodes > 0 || key->ranks == 0);
}

static bool take_key(struct nt_known_key *key, struct json_object *in)
{
	char arm[NT_ARM_TEXT];

	if (!json_object_is_type(in, json_type_array) ||
	    (json_object_array_length(in) != 6 && json_object_array_length(in) != 8) ||
	    !take_text(json_object_array_get_idx(in, 2), arm, sizeof(arm)))
		return false;
	key->arm = nt_arm_parse(arm);
	return key->arm >= 0 && take_kind(json_object_array_get_idx(in, 0), &key->coll) &&
	       take_bytes(json_object_array_get_idx(in, 1), &key->bytes) &&
	       take_bytes(json_object_array_get_idx(in, 3), &key->calls) &&
	       take_quantiles(json_object_array_get_idx(in, 4), &key->best) &&
	       take_quantiles(json_object_array_get_idx(in, 5), &key->untuned) &&
	       take_shape(key, in);
}

static bool take_keys(struct nt_memory_entry *entry, struct json_object *in)
{
	if (!json_object_is_type(in, json_type_array) ||
	    json_object_array_length(in) > NT_ENTRY_KEYS)
		return false;
	for (size_t i = 0; i < (size_t)json_object_array_length(in); i++) {
		struct nt_known_key *key = nt_entry_add_key(entry);

		if (key == NULL || !take_key(key, json_object_array_get_idx(in, i)))
			return false;
	}
	return true;
}

/* ---- the rest of an entry */

static bool take_names(struct nt_memory_entry *entry, struct json_object *in)
{
	struct nt_where *where = &entry->where;
	char fingerprint[NT_HEX_U64 + 1];

	return take_text(nt_json_member(in, "fingerprint"), fingerprint, sizeof(fingerprint)) &&
	       nt_hex_parse(fingerprint, NT_HEX_U64, &where->fingerprint) == 0 &&
	       take_text(nt_json_member(in, "id"), entry->id, sizeof(entry->id)) &&
	       nt_hex_valid(entry->id, NT_ENTRY_ID - 1) &&
	       take_text(nt_json_member(in, "profile"), entry->profile, sizeof(entry->profile)) &&
	       nt_profile_name_valid(entry->profile) &&
	       take_text(nt_json_member(in, "driver"), where->driver, sizeof(where->driver));
}

static bool take_kinds(struct nt_memory_entry *entry, struct json_object *in)
{
	char fabric[KIND_MAX], origin[KIND_MAX];
	int number;

	if (!take_text(nt_json_member(in, "fabric"), fabric, sizeof(fabric)) ||
	    !take_text(nt_json_member(in, "origin"), origin, sizeof(origin)))
		return false;
	number = nt_fabric_parse(fabric);
	if (number < 0)
		return false;
	entry->where.fabric = (enum nt_fabric)number;
	for (int i = 0; i <= NT_ORIGIN_CALIBRATE; i++) {
		entry->origin = (enum nt_entry_origin)i;
		if (strcmp(origin, nt_origin_name(i)) == 0)
			return true;
	}
	return false;
}

static bool take_numbers(struct nt_memory_entry *entry, struct json_object *in)
{
	struct nt_where *where = &entry->where;
	int64_t version;

	return take_whole(nt_json_member(in, "v"), NT_ENTRY_VERSION, NT_ENTRY_VERSION, &version) &&
	       take_u32(nt_json_member(in, "nodes"), 1, NT_ENTRY_NODES_MAX, &where->nodes) &&
	       take_u32(nt_json_member(in, "per_node"), 1, NT_ENTRY_PER_NODE_MAX,
			&where->per_node) &&
	       take_u32(nt_json_member(in, "nccl"), 0, NT_ENTRY_NCCL_MAX, &where->nccl) &&
	       take_u32(nt_json_member(in, "job"), 0, UINT32_MAX, &entry->job) &&
	       take_u32(nt_json_member(in, "step"), 0, UINT32_MAX, &entry->step) &&
	       take_whole(nt_json_member(in, "when"), 0, WHEN_MAX_S, &entry->when_s) &&
	       take_whole(nt_json_member(in, "added"), 0, ADDED_MAX_US, &entry->added_us) &&
	       (!has(in, "own") ||
		take_u32(nt_json_member(in, "own"), 1, UINT32_MAX, &where->user_env));
}

static bool take_marker(struct nt_memory_entry *entry, struct json_object *in)
{
	struct json_object *periods = nt_json_member(in, "period_us");

	if (!json_object_is_type(periods, json_type_array) ||
	    json_object_array_length(periods) > NT_ENTRY_PERIODS ||
	    !take_kind(nt_json_member(in, "coll"), &entry->marker_coll) ||
	    entry->marker_coll >= NT_COLLS ||
	    !take_bytes(nt_json_member(in, "bytes"), &entry->marker_bytes) ||
	    (has(in, "a_step") &&
	     (!take_bytes(nt_json_member(in, "a_step"), &entry->marker_calls) ||
	      entry->marker_calls == 0)))
		return false;
	entry->periods = (unsigned)json_object_array_length(periods);
	for (unsigned i = 0; i < entry->periods; i++) {
		double us;

		if (!nt_json_take_number(json_object_array_get_idx(periods, i),
					 NT_ENTRY_TIME_MAX_US, &us) ||
		    us <= 0)
			return false;
		entry->period_us[i] = (float)us;
	}
	return true;
}

/* A path may have more characters than a plain word. */
static bool take_library(struct nt_memory_entry *entry, struct json_object *in)
{
	const char *path = json_object_is_type(in, json_type_string) ? json_object_get_string(in)
								     : "";

	if (strlen(path) != (size_t)json_object_get_string_len(in) || !nt_entry_library_valid(path))
		return false;
	memcpy(entry->library, path, strlen(path) + 1);
	return true;
}

static bool take_laps(struct nt_memory_entry *entry, struct json_object *in)
{
	return take_u32(nt_json_member(in, "laps"), 1, NT_ENTRY_LAPS, &entry->laps) &&
	       nt_json_take_number(nt_json_member(in, "deviation"), DEVIATION_MAX,
				   &entry->deviation);
}

static bool take_start(struct nt_memory_entry *entry, struct json_object *in)
{
	return json_object_is_type(in, json_type_array) && json_object_array_length(in) == 2 &&
	       take_u32(json_object_array_get_idx(in, 0), 1, NT_ENTRY_NODES_MAX,
			&entry->start_nodes) &&
	       take_u32(json_object_array_get_idx(in, 1), entry->start_nodes, RANKS_MAX,
			&entry->start_tasks);
}

int nt_entry_parse(struct nt_memory_entry *entry, struct json_object *line)
{
	nt_entry_init(entry);
	if (json_object_is_type(line, json_type_object) && take_names(entry, line) &&
	    take_kinds(entry, line) && take_numbers(entry, line) &&
	    take_keys(entry, nt_json_member(line, "keys")) &&
	    take_flag(line, "asked", &entry->asked) && take_flag(line, "wrong", &entry->wrong) &&
	    (!has(line, "program") ||
	     (take_text(nt_json_member(line, "program"), entry->where.program,
			sizeof(entry->where.program)) &&
	      nt_program_valid(entry->where.program, sizeof(entry->where.program)))) &&
	    (!has(line, "start") || take_start(entry, nt_json_member(line, "start"))) &&
	    (!has(line, "share") ||
	     nt_json_take_number(nt_json_member(line, "share"), 1, &entry->share)) &&
	    (!has(line, "laps") || take_laps(entry, line)) &&
	    (!has(line, "library") || take_library(entry, nt_json_member(line, "library"))) &&
	    (!has(line, "marker") || take_marker(entry, nt_json_member(line, "marker"))))
		return 0;
	nt_entry_fini(entry);
	return -1;
}
