/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/replay/trial.h"

#include <string.h>
#include "contract/coll.h"
#include "record/read.h"

int nt_base64_decode(const char *text, uint8_t *out, size_t cap)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t held = 0;
	unsigned bits = 0;
	size_t count = 0;

	for (; *text; text++) {
		const char *digit = strchr(digits, *text);

		if (!digit)
			return -1;
		held = held << 6 | (uint32_t)(digit - digits);
		bits += 6;
		if (bits < 8)
			continue;
		bits -= 8;
		if (count == cap)
			return -1;
		out[count++] = (uint8_t)(held >> bits);
	}
	return (int)count;
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

/* Present if the round tried channels. */
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

int nt_trial_read(struct nt_rank_trial *trial,
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
