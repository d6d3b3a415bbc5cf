/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* writehistory.c - see writehistory.h */
#include "tuner/writehistory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "record/rank.h"
#include "tuner/finding.h"
#include "tuner/times.h"
#include "tuner/trial.h"

_Static_assert(NT_SCHEDULE_ARMS - 1 <= NT_RANK_TRIAL_ARMS, "all arms of a trial go into a record");
_Static_assert(NT_TRIAL_ROUNDS <= NT_RANK_TRIAL_ROUNDS, "all its rounds");
_Static_assert(NT_TIMES_MAX * sizeof(uint16_t) <= NT_RANK_TRIAL_BYTES, "all their times");

void nt_write_trial(struct nt_put *put, const struct nt_trial *trial)
{
	struct nt_rank_trial out = {
		.arms = trial->arms,
		.has_channels = trial->channels.ranks != 0,
		.ranks = trial->channels.ranks,
		.most = trial->channels.most,
		.chunks = trial->channels.chunks,
		.rounds = trial->rounds,
	};

	for (unsigned i = 0; i < trial->arms; i++) {
		out.arm[i] = trial->arm[i];
		out.cost_us[i] = (double)trial->cost_us[i];
	}
	memcpy(out.own, trial->channels.own, sizeof(out.own));
	for (unsigned i = 0; i < trial->rounds; i++) {
		unsigned begin = i ? trial->end[i - 1] : 0;

		out.round[i].sample = trial->sample + begin;
		out.round[i].samples = trial->end[i] - begin;
	}
	nt_rank_put_trial(put, &out);
}

void nt_write_finding(struct nt_put *put, const struct nt_finding *finding)
{
	struct nt_explored out = {
		.ranks = finding->ranks,
		.nodes = finding->nodes,
		.coll = (int)nt_key_coll(finding->key),
		.bytes = (int64_t)nt_band_floor(nt_key_band(finding->key)),
		.auto_arm = finding->auto_arm,
		.arm = finding->chosen_arm,
	};

	snprintf(out.id, sizeof(out.id), "%016" PRIx64, finding->comm);
	nt_put_open(put, NULL, '{');
	nt_fields_put(put, &nt_explored_fields, &out);
	nt_put_open(put, NT_EXPLORED_ARMS, '[');
	for (unsigned i = 0; i < finding->arms; i++) {
		const struct nt_found *f = &finding->arm[i];
		const struct nt_explored_arm arm = {
			.arm = f->arm,
			.predicted_us = (double)f->predicted_us,
			.us = (double)f->us,
			.p25_us = (double)f->p25_us,
			.samples = f->samples,
		};

		nt_put_open(put, NULL, '{');
		nt_fields_put(put, &nt_explored_arm_fields, &arm);
		nt_put_close(put);
	}
	nt_put_close(put);
	nt_put_close(put);
}
