/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* recorded.c - a job's decisions once more, from what its record kept of them */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lab/replay/trial.h"
#include "record/rankread.h"
#include "lab/replay/replay.h"

_Static_assert(NT_RANK_TRIAL_ROUNDS <= NT_HISTORY_ROUNDS, "what a record holds can be repeated");

/* A trial as read, and in the engine's form. */
struct data {
	struct nt_rank_trial trial;
	uint8_t bytes[NT_RANK_TRIAL_ROUNDS][NT_RANK_TRIAL_BYTES];
	struct nt_drive_rounds rounds;
};

/* Only the arms that were screened count as legal, so the same ones are screened again. */
static int take_trial(struct data *data, struct nt_drive_key *key, struct nt_error *err)
{
	const struct nt_rank_trial *trial = &data->trial;

	if (trial->arms > NT_SCHEDULE_ARMS)
		return nt_error_set(err, "trial of more than %d arms", NT_SCHEDULE_ARMS);
	for (unsigned i = 0; i < NT_PAIRS; i++)
		key->cost_us[i] = -1;
	for (unsigned i = 0; i < trial->arms; i++) {
		key->mask |= 1u << trial->arm[i];
		key->cost_us[trial->arm[i]] = (float)trial->cost_us[i];
	}
	if (trial->has_channels) {
		key->channels.ranks = trial->ranks;
		key->channels.most = trial->most;
		memcpy(key->channels.given, trial->own, sizeof(key->channels.given));
	}
	if (trial->remembers) {
		const int pair = nt_arm_pair(trial->remembered);

		key->remembers = true;
		key->remembered = (uint16_t)trial->remembered;
		key->cost_us[pair] = (float)trial->remembered_cost_us;
		key->mask |= 1u << pair;
	}
	data->rounds.count = trial->rounds;
	for (unsigned i = 0; i < trial->rounds; i++) {
		data->rounds.bytes[i] = trial->round[i].data;
		data->rounds.length[i] = trial->round[i].bytes;
		data->rounds.blocks[i] = trial->round[i].blocks;
	}
	return 0;
}

static bool decided(const struct nt_key *key)
{
	return key->state == NT_KEYSTATE_COMMITTED || key->state == NT_KEYSTATE_KEPT;
}

static void describe(const struct nt_comm_seen *comm, const struct nt_key *key,
		     const struct nt_driven *driven, struct nt_replay_row *row)
{
	const struct nt_outcome *o = &driven->outcome;
	bool committed = key->state == NT_KEYSTATE_COMMITTED;
	bool lower = o->best_arm != NT_ARM_BASELINE && o->best_us < o->baseline_us;

	*row = (struct nt_replay_row){
		.bytes = (uint64_t)key->bytes,
		.arms = o->arms,
		.auto_us = (double)o->baseline_us,
		.auto_arm = o->baseline_arm,
		.best_arm = lower ? o->best_arm : NT_ARM_BASELINE,
		.best_us = (double)(lower ? o->best_us : o->baseline_us),
		.chosen_arm = o->chosen_arm,
		.chosen_us = (double)(o->chosen_arm == NT_ARM_BASELINE ? o->baseline_us
								       : o->best_us),
		.verdict = o->verdict,
		.p = (double)o->p,
		.samples = driven->samples,
		.calls = driven->calls,
		.trials = 1,
		.recorded = true,
		.recorded_arm = committed && key->arm >= 0 ? (unsigned)key->arm : NT_ARM_BASELINE,
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

static int repeat(struct nt_replay *replay, const struct nt_comm_seen *comm,
		  const struct nt_key *key, struct nt_replay_rows *rows, struct nt_error *err)
{
	struct nt_drive_key drive_key = { .size_bytes = (uint64_t)key->bytes,
					  .auto_arm = key->auto_arm >= 0 ? (uint32_t)key->auto_arm
									 : NT_ARM_BASELINE };
	struct data *data = calloc(1, sizeof(*data));
	struct nt_driven driven;
	struct nt_replay_row *row;
	int rc = -1;

	if (!data)
		return nt_error_set(err, "no memory");
	if (nt_trial_read(&data->trial, data->bytes, key->trial, err) < 0 ||
	    take_trial(data, &drive_key, err) < 0)
		goto out;
	if (!nt_drive_repeat(&replay->drive, &drive_key, &data->rounds, &driven)) {
		nt_error_set(err,
			     "%s of %lld bytes: the times are not those of this policy's rounds",
			     nt_coll_name(key->coll), (long long)key->bytes);
		goto out;
	}
	row = nt_array_add(&rows->row, &rows->count, SIZE_MAX, sizeof(*row));
	if (!row) {
		nt_error_set(err, "no memory");
		goto out;
	}
	describe(comm, key, &driven, row);
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
			const struct nt_key *key = &rank->comms[c].keys[k];

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
	replay->drive.engine.policy = nt_engine_policy(&replay->drive.engine.policy);
	if (rc == 0)
		rc = repeat_all(replay, &rank, rows, left_out, &inner);
	nt_rank_fini(&rank);
	return rc == 0 ? 0 : nt_error_set(err, "%.140s", inner.text);
}
