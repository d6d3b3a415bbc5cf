/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/rank.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RANK_ROW(...) NT_FIELD_ROW(struct nt_rank, __VA_ARGS__)
const struct nt_fields nt_rank_fields = NT_FIELDS(NT_RANK_FIELDS(RANK_ROW));

#define COMM_ROW(...) NT_FIELD_ROW(struct nt_comm_seen, __VA_ARGS__)
const struct nt_fields nt_rank_comm_fields = NT_FIELDS(NT_RANK_COMM_FIELDS(COMM_ROW));

#define WARM_ROW(...) NT_FIELD_ROW(struct nt_rank_warm, __VA_ARGS__)
const struct nt_fields nt_rank_warm_fields = NT_FIELDS(NT_RANK_WARM_FIELDS(WARM_ROW));

#define MARKER_ROW(...) NT_FIELD_ROW(struct nt_rank_marker, __VA_ARGS__)
const struct nt_fields nt_rank_marker_fields = NT_FIELDS(NT_RANK_MARKER_FIELDS(MARKER_ROW));

#define FACTS_ROW(...) NT_FIELD_ROW(struct nt_facts, __VA_ARGS__)
const struct nt_fields nt_facts_fields = NT_FIELDS(NT_FACTS_FIELDS(FACTS_ROW));

#define EXPLORED_ROW(...) NT_FIELD_ROW(struct nt_explored, __VA_ARGS__)
const struct nt_fields nt_explored_fields = NT_FIELDS(NT_EXPLORED_FIELDS(EXPLORED_ROW));

#define EXPLORED_ARM_ROW(...) NT_FIELD_ROW(struct nt_explored_arm, __VA_ARGS__)
const struct nt_fields nt_explored_arm_fields = NT_FIELDS(NT_EXPLORED_ARM_FIELDS(EXPLORED_ARM_ROW));

#define AGREEMENT_ROW(...) NT_FIELD_ROW(struct nt_agreement, __VA_ARGS__)
const struct nt_fields nt_agreement_fields = NT_FIELDS(NT_AGREEMENT_FIELDS(AGREEMENT_ROW));

#define CHANNELS_ROW(...) NT_FIELD_ROW(struct nt_trial_channels, __VA_ARGS__)
const struct nt_fields nt_trial_channels_fields = NT_FIELDS(NT_TRIAL_CHANNELS_FIELDS(CHANNELS_ROW));

#define SAMPLED_ROW(...) NT_FIELD_ROW(struct nt_sampled, __VA_ARGS__)
const struct nt_fields nt_sampled_fields = NT_FIELDS(NT_SAMPLED_FIELDS(SAMPLED_ROW));

bool nt_explored_same(const struct nt_explored *a, const struct nt_explored *b)
{
	return strcmp(a->id, b->id) == 0 && a->ranks == b->ranks && a->coll == b->coll &&
	       a->bytes == b->bytes;
}

void nt_rank_put_marker(struct nt_json_writer *put, const struct nt_rank_marker *marker)
{
	nt_json_put_open(put, NT_RANK_MARKER, '{');
	nt_fields_put(put, &nt_rank_marker_fields, marker);
	nt_json_put_open(put, NT_RANK_PERIODS, '[');
	for (size_t i = 0; i < marker->periods && i < NT_RANK_PERIODS_MAX; i++) {
		if (nt_number_fits(NT_FIELD_TIME, marker->period_us[i]))
			nt_json_put_value(put, NULL, "%.1f", marker->period_us[i]);
	}
	nt_json_put_close(put);
	nt_json_put_close(put);
}

static bool is_of(const struct nt_sampled_call *call, const struct nt_sampled *kind)
{
	return call->coll == kind->coll && call->ring == kind->ring &&
	       nt_number_fits(NT_FIELD_TIME, call->us) && nt_number_fits(NT_FIELD_TIME, call->s);
}

static void put_kind(struct nt_json_writer *put, const struct nt_sampled *kind,
		     const struct nt_sampled_call *calls, size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		if (!is_of(&calls[i], kind))
			continue;
		if (!any) {
			nt_json_put_open(put, NULL, '{');
			nt_fields_put(put, &nt_sampled_fields, kind);
			nt_json_put_open(put, NT_SAMPLED_CALLS, '[');
		}
		any = true;
		nt_json_put_count(put, NULL, (uint64_t)calls[i].turn);
		nt_json_put_value(put, NULL, "%.1f", calls[i].us);
		nt_json_put_value(put, NULL, "%.3f", calls[i].s);
	}
	if (any) {
		nt_json_put_close(put);
		nt_json_put_close(put);
	}
}

void nt_rank_put_sampled(struct nt_json_writer *put, const struct nt_sampled_call *calls,
			 size_t count)
{
	if (count == 0)
		return;
	nt_json_put_open(put, NT_RANK_SAMPLED, '[');
	for (int coll = 0; coll < NT_COLLS; coll++) {
		put_kind(put, &(struct nt_sampled){ .coll = coll, .ring = true }, calls, count);
		put_kind(put, &(struct nt_sampled){ .coll = coll }, calls, count);
	}
	nt_json_put_close(put);
}

static void put_channels(struct nt_json_writer *put, const struct nt_rank_trial *trial)
{
	const struct nt_trial_channels channels = {
		.ranks = trial->ranks,
		.most = trial->most,
	};

	nt_json_put_open(put, NT_IN_TRIAL_CHANNELS, '{');
	nt_fields_put(put, &nt_trial_channels_fields, &channels);
	nt_json_put_open(put, NT_IN_TRIAL_OWN, '{');
	for (int pair = 0; pair < NT_PAIRS; pair++) {
		if (trial->own[pair] != 0)
			nt_json_put_count(put, nt_arm_name(pair), trial->own[pair]);
	}
	nt_json_put_close(put);
	nt_json_put_close(put);
}

static void put_plans(struct nt_json_writer *put, const struct nt_rank_trial *trial)
{
	nt_json_put_open(put, NT_IN_TRIAL_PLANS, '[');
	for (unsigned i = 0; i < trial->rounds; i++) {
		nt_json_put_open(put, NULL, '{');
		nt_json_put_count(put, NT_IN_PLAN_BLOCKS, trial->round[i].blocks);
		nt_json_put_open(put, NT_IN_PLAN_ARMS, '[');
		for (unsigned k = 0; k < trial->round[i].arms; k++)
			nt_json_put_text(put, NULL, nt_arm_name(trial->round[i].arm[k]));
		nt_json_put_close(put);
		nt_json_put_close(put);
	}
	nt_json_put_close(put);
}

void nt_rank_put_trial(struct nt_json_writer *put, const struct nt_rank_trial *trial)
{
	nt_json_put_open(put, NT_RANK_TRIAL, '{');
	nt_json_put_open(put, NT_IN_TRIAL_ARMS, '[');
	for (unsigned i = 0; i < trial->arms; i++)
		nt_json_put_text(put, NULL, nt_arm_name(trial->arm[i]));
	nt_json_put_close(put);
	nt_json_put_open(put, NT_IN_TRIAL_COST, '[');
	for (unsigned i = 0; i < trial->arms; i++)
		nt_json_put_value(put, NULL, "%.9g", trial->cost_us[i]);
	nt_json_put_close(put);
	if (trial->remembers) {
		nt_json_put_text(put, NT_IN_TRIAL_REMEMBERED, nt_arm_name(trial->remembered));
		nt_json_put_value(put, NT_IN_TRIAL_REMEMBERED_COST, "%.9g",
				  trial->remembered_cost_us);
	}
	if (trial->has_channels)
		put_channels(put, trial);
	nt_json_put_open(put, NT_IN_TRIAL_ROUNDS, '[');
	for (unsigned i = 0; i < trial->rounds; i++)
		nt_json_put_samples(put, NULL, trial->round[i].sample, trial->round[i].samples);
	nt_json_put_close(put);
	put_plans(put, trial);
	nt_json_put_close(put);
}

void nt_rank_put_agreement(struct nt_json_writer *put, const struct nt_agreement *agreement,
			   const uint16_t *commit_ms, size_t commits)
{
	nt_json_put_open(put, NT_RANK_AGREEMENT, '{');
	nt_fields_put(put, &nt_agreement_fields, agreement);
	nt_json_put_open(put, "commit_ms", '[');
	for (size_t i = 0; i < commits; i++)
		nt_json_put_count(put, NULL, commit_ms[i]);
	nt_json_put_close(put);
	nt_json_put_close(put);
}
