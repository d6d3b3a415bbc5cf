/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/calibrated.h"

#include <math.h>
#include <string.h>
#include <json-c/json.h>
#include "lib/json.h"
#include "lib/printable.h"
#include "launch/measure/request.h"

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

static bool take_text(json_object *in, const char *name, char *out, size_t size)
{
	json_object *value = nt_json_member(in, name);
	const char *text = json_object_is_type(value, json_type_string)
				   ? json_object_get_string(value)
				   : NULL;

	if (!text || strlen(text) >= size)
		return false;
	memcpy(out, text, strlen(text) + 1);
	(void)nt_printable_json(out);
	return true;
}

/* ---- profiles */

/* The benchmark runs NCCL's own choices, and nothing else was tried. */
static bool makes_sense(const struct nt_memory_entry *entry)
{
	for (size_t i = 0; i < entry->keys; i++)
		if (entry->key[i].arm != NT_ARM_BASELINE || entry->key[i].untuned.samples == 0 ||
		    entry->key[i].best.samples > 0 || entry->key[i].nodes == 0)
			return false;
	return entry->origin == NT_ORIGIN_CALIBRATE && (entry->keys > 0) != entry->wrong;
}

static int take_profiles(struct nt_calibrated *out, const char *text, size_t bytes,
			 struct nt_error *err)
{
	struct nt_memory read;
	int rc;

	nt_memory_init(&read);
	rc = nt_memory_read_text(&read, text, bytes, err) < 0 ? -1 : 0;
	for (size_t i = 0; rc == 0 && i < read.entries; i++)
		if (makes_sense(&read.entry[i]))
			rc = nt_memory_add_take(&out->profiles, &read.entry[i], err);
	nt_memory_fini(&read);
	return rc;
}

/* ---- the file */

static bool take_head(struct nt_calibrated *out, json_object *in)
{
	char settings[512];
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
	       (!out->chosen[0] || nt_profile_name_valid(out->chosen)) &&
	       take_text(in, "settings", settings, sizeof(settings)) &&
	       (!settings[0] || nt_settings_parse(&out->settings, settings) == 0);
}

int nt_calibrated_parse(struct nt_calibrated *out, const char *text, size_t bytes,
			struct nt_error *err)
{
	const char *end = memchr(text, '\n', bytes);
	const size_t head = end ? (size_t)(end - text) + 1 : bytes;
	json_tokener *tokener = json_tokener_new();
	json_object *line = tokener ? json_tokener_parse_ex(tokener, text, (int)head) : NULL;
	bool good;

	memset(out, 0, sizeof(*out));
	nt_memory_init(&out->profiles);
	good = take_head(out, line);
	json_object_put(line);
	json_tokener_free(tokener);
	if (!good)
		return nt_error_set(err, "it is no calibration");
	return take_profiles(out, text + head, bytes - head, err);
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
