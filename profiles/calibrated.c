/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiles/calibrated.h"

#include <math.h>
#include <string.h>
#include <json-c/json.h>
#include "lib/json.h"
#include "lib/printable.h"
#include "profiles/measure/request.h"

#define SECONDS_MAX 1e5
#define GAIN_MAX 1e4

/* ---- single values */

static bool take_number(json_object *in, const char *name, double largest, double *out)
{
	return nt_json_take_number(nt_json_member(in, name), largest, out);
}

static bool take_whole(json_object *in, const char *name, uint32_t largest, uint32_t *out)
{
	double number = 0;
	bool good = take_number(in, name, largest, &number) && number == floor(number);

	if (good)
		*out = (uint32_t)number;
	return good;
}

static bool take_text(json_object *in, const char *name, char *out, size_t room)
{
	json_object *value = nt_json_member(in, name);
	const char *text = json_object_is_type(value, json_type_string)
				   ? json_object_get_string(value)
				   : NULL;

	if (!text || strlen(text) >= room)
		return false;
	memcpy(out, text, strlen(text) + 1);
	(void)nt_printable_json(out);
	return true;
}

/* ---- profiles */

static bool take_times(json_object *in, struct nt_quantiles *us)
{
	return take_number(in, "p25", NT_ENTRY_TIME_MAX_US, &us->p25_us) &&
	       take_number(in, "median", NT_ENTRY_TIME_MAX_US, &us->median_us) &&
	       take_number(in, "p75", NT_ENTRY_TIME_MAX_US, &us->p75_us) &&
	       take_whole(in, "samples", UINT32_MAX, &us->samples) && us->samples > 0 &&
	       us->p25_us > 0 && us->p25_us <= us->median_us && us->median_us <= us->p75_us;
}

/* The benchmark runs NCCL's own choices, and nothing else was tried. */
static bool take_key(struct nt_memory_entry *entry, json_object *in)
{
	char coll[32];
	struct nt_known_key key = { .arm = NT_ARM_BASELINE }, *added;
	double bytes, calls = 0;

	if (!take_text(in, "coll", coll, sizeof(coll)) ||
	    !take_number(in, "bytes", (double)NT_ENTRY_BYTES_MAX, &bytes) ||
	    !take_whole(in, "ranks", 1 << 24, &key.ranks) ||
	    !take_whole(in, "nodes", NT_ENTRY_NODES_MAX, &key.nodes) || key.nodes < 1 ||
	    key.nodes > key.ranks || !take_times(in, &key.untuned))
		return false;
	(void)take_number(in, "calls", (double)NT_ENTRY_BYTES_MAX, &calls);
	key.coll = nt_kind_parse(coll);
	key.bytes = (uint64_t)bytes;
	key.calls = (uint64_t)calls;
	added = key.coll >= 0 ? nt_entry_add_key(entry) : NULL;
	if (added)
		*added = key;
	return added != NULL;
}

static bool take_keys(struct nt_memory_entry *entry, json_object *in)
{
	if (!json_object_is_type(in, json_type_array))
		return false;
	for (size_t i = 0; i < (size_t)json_object_array_length(in); i++)
		if (!take_key(entry, json_object_array_get_idx(in, i)))
			return false;
	return true;
}

/* One that failed has nothing to remember. */
static bool take_profile(struct nt_calibrated *out, json_object *in)
{
	struct nt_memory_entry entry;
	char settings[512], failed[NT_CAL_WHY];
	bool good;

	nt_entry_init(&entry);
	entry.origin = NT_ORIGIN_CALIBRATE;
	good = take_text(in, "profile", entry.profile, sizeof(entry.profile)) &&
	       nt_profile_name_valid(entry.profile) &&
	       take_text(in, "settings", settings, sizeof(settings)) &&
	       take_text(in, "failed", failed, sizeof(failed)) && !failed[0];
	entry.wrong = json_object_get_boolean(nt_json_member(in, "wrong"));
	if (good && !entry.wrong)
		good = take_whole(in, "turns", NT_ENTRY_TURNS, &entry.turns) && entry.turns > 0 &&
		       take_number(in, "deviation", 10, &entry.deviation) &&
		       take_keys(&entry, nt_json_member(in, "keys"));
	if (good && strcmp(entry.profile, out->chosen) == 0 && settings[0])
		good = nt_settings_parse(&out->settings, settings) == 0;
	if (good)
		good = nt_memory_add_take(&out->profiles, &entry, NULL) == 0;
	nt_entry_fini(&entry);
	return good;
}

/* ---- the file */

static bool take_head(struct nt_calibrated *out, json_object *in)
{
	uint32_t version = 0;

	return take_whole(in, "v", 1, &version) && version == 1 &&
	       take_number(in, "seconds", SECONDS_MAX, &out->seconds) &&
	       take_whole(in, "nodes", NT_ENTRY_NODES_MAX, &out->nodes) &&
	       take_whole(in, "per_node", NT_ENTRY_PER_NODE_MAX, &out->per_node) &&
	       take_whole(in, "nccl", NT_ENTRY_NCCL_MAX, &out->nccl) &&
	       take_text(in, "library", out->library, sizeof(out->library)) &&
	       take_text(in, "chosen", out->chosen, sizeof(out->chosen)) &&
	       take_number(in, "gain", GAIN_MAX, &out->gain) &&
	       take_number(in, "deviation", 10, &out->deviation) &&
	       take_text(in, "why", out->why, sizeof(out->why)) &&
	       (!out->chosen[0] || nt_profile_name_valid(out->chosen));
}

int nt_calibrated_parse(struct nt_calibrated *out, const char *text, size_t bytes,
			struct nt_error *err)
{
	bool head = false;

	memset(out, 0, sizeof(*out));
	nt_memory_init(&out->profiles);
	while (bytes > 0) {
		const char *end = memchr(text, '\n', bytes);
		const size_t length = end ? (size_t)(end - text) : bytes;
		json_tokener *tokener = json_tokener_new();
		json_object *line = tokener ? json_tokener_parse_ex(tokener, text, (int)length)
					    : NULL;

		if (!head && !take_head(out, line)) {
			json_object_put(line);
			json_tokener_free(tokener);
			return nt_error_set(err, "it is no calibration");
		}
		if (head && line)
			(void)take_profile(out, line);
		head = true;
		json_object_put(line);
		json_tokener_free(tokener);
		text += end ? length + 1 : length;
		bytes -= end ? length + 1 : length;
	}
	return head ? 0 : nt_error_set(err, "it is empty");
}

void nt_calibrated_fini(struct nt_calibrated *calibrated)
{
	nt_memory_fini(&calibrated->profiles);
}

void nt_calibrated_apply(const struct nt_calibrated *calibrated, struct nt_ticket *ticket)
{
	if (!calibrated->chosen[0])
		return;
	snprintf(ticket->profile, sizeof(ticket->profile), "%s", calibrated->chosen);
	snprintf(ticket->from, sizeof(ticket->from), "calibrated before this step on %u x %u",
		 calibrated->nodes, calibrated->per_node);
	ticket->settings = calibrated->settings;
	ticket->why = strcmp(calibrated->chosen, NT_PROFILE_DEFAULT) == 0 ? NT_WHY_NONE_BETTER
									  : NT_WHY_GAIN;
	ticket->expected = calibrated->gain > 1 ? calibrated->gain : 0;
}
