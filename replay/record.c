/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - a job's decisions once more, from what its record kept of them */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "contract/record.h"
#include "engine/history_text.h"
#include "engine/times.h"
#include "replay/replay.h"
#include "report/rank.h"

/* The data of all rounds, decoded. */
struct data {
	struct nt_drive_rounds rounds;
	uint8_t bytes[NT_HISTORY_ROUNDS][2 * NT_TIMES_MAX];
};

static json_object *array_of(json_object *trial, const char *name, size_t most)
{
	json_object *array;

	if (!json_object_object_get_ex(trial, name, &array) ||
	    !json_object_is_type(array, json_type_array) || json_object_array_length(array) > most)
		return NULL;
	return array;
}

static int read_rounds(json_object *trial, struct data *data, struct nt_error *err)
{
	json_object *array = array_of(trial, "rounds", NT_HISTORY_ROUNDS);

	if (!array)
		return nt_error_set(err, "trial has no rounds, or more than %d", NT_HISTORY_ROUNDS);
	data->rounds.count = (unsigned)json_object_array_length(array);
	for (unsigned i = 0; i < data->rounds.count; i++) {
		const char *text = json_object_get_string(json_object_array_get_idx(array, i));
		int length = text ? nt_trial_decode(text, data->bytes[i], sizeof(data->bytes[i]))
				  : -1;

		if (length < 0)
			return nt_error_set(err, "round %u of a trial cannot be read", i);
		data->rounds.bytes[i] = data->bytes[i];
		data->rounds.length[i] = (size_t)length;
	}
	return 0;
}

/* The arms that were screened are legal, all others are not; so they are screened again. */
static int read_arms(json_object *trial, struct nt_drive_key *key, struct nt_error *err)
{
	json_object *arms = array_of(trial, "arms", NT_SCHEDULE_ARMS);
	json_object *costs = array_of(trial, "cost", NT_SCHEDULE_ARMS);

	if (!arms || !costs || json_object_array_length(arms) != json_object_array_length(costs))
		return nt_error_set(err, "trial lacks arms, or their costs");
	for (unsigned i = 0; i < NT_PAIRS; i++)
		key->cost_us[i] = -1;
	for (unsigned i = 0; i < json_object_array_length(arms); i++) {
		const char *name = json_object_get_string(json_object_array_get_idx(arms, i));
		int arm = name ? nt_arm_parse(name) : -1;

		if (arm < 0 || arm >= NT_PAIRS)
			return nt_error_set(err, "trial of an unknown arm '%.24s'",
					    name ? name : "");
		key->mask |= 1u << arm;
		key->cost_us[arm] = (float)json_object_get_double(
			json_object_array_get_idx(costs, i));
	}
	return 0;
}

/* Of a round with caps and chunk sizes; without it there was none. */
static int read_channels(json_object *trial, struct nt_channels *channels, struct nt_error *err)
{
	json_object *from, *value;

	if (!json_object_object_get_ex(trial, "channels", &from))
		return 0;
	channels->ranks = (unsigned)json_object_get_int(json_object_object_get(from, "ranks"));
	channels->most = (unsigned)json_object_get_int(json_object_object_get(from, "most"));
	channels->chunks = json_object_get_boolean(json_object_object_get(from, "chunks"));
	if (!json_object_object_get_ex(from, "own", &value) ||
	    !json_object_is_type(value, json_type_object))
		return nt_error_set(err, "trial's channels cannot be read");
	json_object_object_foreach(value, name, number)
	{
		int pair = nt_arm_parse(name);
		int own = json_object_get_int(number);

		if (pair < 0 || pair >= NT_PAIRS || own < 0 || own > UINT8_MAX)
			return nt_error_set(err, "trial's channels of an unknown arm '%.24s'",
					    name);
		channels->own[pair] = (uint8_t)own;
	}
	return 0;
}

static bool decided(const struct nt_rank_key *key)
{
	return strcmp(key->state, NT_KEYSTATE_COMMITTED) == 0 ||
	       strcmp(key->state, NT_KEYSTATE_KEPT) == 0;
}

static void describe(const struct nt_rank_comm *comm, const struct nt_rank_key *key,
		     const struct nt_driven *driven, struct nt_replay_row *row)
{
	const struct nt_outcome *o = &driven->outcome;
	bool committed = strcmp(key->state, NT_KEYSTATE_COMMITTED) == 0;
	bool lower = o->best_arm != NT_ARM_AUTO && o->best_us < o->auto_us;

	*row = (struct nt_replay_row){
		.bytes = (uint64_t)key->bytes,
		.arms = o->arms,
		.auto_us = (double)o->auto_us,
		.best_arm = lower ? o->best_arm : NT_ARM_AUTO,
		.best_us = (double)(lower ? o->best_us : o->auto_us),
		.chosen_arm = o->chosen_arm,
		.chosen_us = (double)(o->chosen_arm == NT_ARM_AUTO ? o->auto_us : o->best_us),
		.verdict = o->verdict,
		.p = (double)o->p,
		.samples = driven->samples,
		.calls = driven->calls,
		.trials = 1,
		.recorded = true,
		.recorded_arm = committed && key->arm >= 0 ? (unsigned)key->arm : NT_ARM_AUTO,
	};
	row->same = decided(key) && row->recorded_arm == row->chosen_arm &&
		    (isnan(key->p) || fabs(key->p - row->p) <= 1e-5 * (key->p + row->p));
	snprintf(row->collective, sizeof(row->collective), "%s", nt_coll_name(key->coll));
	if (comm->nodes > 0 && comm->ranks % comm->nodes == 0)
		snprintf(row->topology, sizeof(row->topology), "%dx%d", (int)comm->nodes,
			 (int)(comm->ranks / comm->nodes));
	else
		snprintf(row->topology, sizeof(row->topology), "%d ranks", (int)comm->ranks);
	snprintf(row->mode, sizeof(row->mode), "job");
}

static int repeat(struct nt_replay *replay, const struct nt_rank_comm *comm,
		  const struct nt_rank_key *key, struct nt_replay_rows *rows, struct nt_error *err)
{
	struct nt_drive_key drive_key = { .size_bytes = (uint64_t)key->bytes,
					  .auto_arm = key->auto_arm >= 0 ? (uint32_t)key->auto_arm
									 : NT_ARM_AUTO };
	struct data *data = calloc(1, sizeof(*data));
	struct nt_driven driven;
	struct nt_replay_row *grown;
	int rc = -1;

	if (!data)
		return nt_error_set(err, "no memory");
	if (read_rounds(key->trial, data, err) < 0 || read_arms(key->trial, &drive_key, err) < 0 ||
	    read_channels(key->trial, &drive_key.channels, err) < 0)
		goto out;
	if (!nt_drive_repeat(&replay->drive, &drive_key, &data->rounds, &driven)) {
		nt_error_set(err,
			     "%s of %lld bytes: the times are not those of this policy's rounds",
			     nt_coll_name(key->coll), (long long)key->bytes);
		goto out;
	}
	grown = realloc(rows->row, (rows->count + 1) * sizeof(grown[0]));
	if (!grown) {
		nt_error_set(err, "no memory");
		goto out;
	}
	rows->row = grown;
	describe(comm, key, &driven, &grown[rows->count++]);
	rc = 0;
out:
	free(data);
	return rc;
}

static int repeat_all(struct nt_replay *replay, const struct nt_rank *rank,
		      struct nt_replay_rows *rows, unsigned *left_out, struct nt_error *err)
{
	for (size_t c = 0; c < rank->comm_count; c++) {
		for (size_t k = 0; k < rank->comms[c].key_count; k++) {
			const struct nt_rank_key *key = &rank->comms[c].keys[k];

			if (key->trial && repeat(replay, &rank->comms[c], key, rows, err) < 0)
				return -1;
			*left_out += !key->trial && decided(key);
		}
	}
	return 0;
}

int nt_replay_record(struct nt_replay *replay, const char *text, size_t text_bytes,
		     struct nt_replay_rows *rows, unsigned *left_out, struct nt_error *err)
{
	struct nt_rank rank = { .root = NULL };
	struct nt_error inner = { "" };
	int rc = nt_rank_parse(&rank, text, text_bytes, &inner);

	nt_policy_default(&replay->drive.engine.policy);
	if (rc == 0 &&
	    nt_policy_parse_option(&replay->drive.engine.policy, rank.policy, &inner) < 0)
		rc = -1;
	if (rc == 0)
		rc = repeat_all(replay, &rank, rows, left_out, &inner);
	nt_rank_fini(&rank);
	return rc == 0 ? 0 : nt_error_set(err, "%.140s", inner.text);
}
