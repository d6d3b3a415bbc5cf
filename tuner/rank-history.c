/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/rank-history.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "engine/times.h"
#include "record/rank.h"

_Static_assert(NT_SCHEDULE_ARMS - 1 <= NT_RANK_TRIAL_ARMS, "all arms of a trial go into a record");
_Static_assert(NT_SCHEDULE_ARMS <= NT_RANK_ROUND_ARMS, "all arms of a round");
_Static_assert(NT_HISTORY_ROUNDS <= NT_RANK_TRIAL_ROUNDS, "all its rounds");
_Static_assert(NT_TIMES_MAX * sizeof(uint16_t) <= NT_RANK_TRIAL_BYTES, "all their times");

void nt_rank_history_trial(struct nt_json_writer *put, const struct nt_history *history)
{
	struct nt_rank_trial out = {
		.arms = history->screened,
		.has_channels = history->channels.ranks != 0,
		.ranks = history->channels.ranks,
		.most = history->channels.most,
		.rounds = history->rounds,
	};

	if (history->remembers) {
		double us = (double)history->cost_us[nt_arm_pair(history->remembered)];

		out.remembers = true;
		out.remembered = history->remembered;
		out.remembered_cost_us = us >= 0 && isfinite(us) ? us : -1;
	}
	for (unsigned i = 0; i < history->screened; i++) {
		double us = (double)history->cost_us[history->screen[i]];

		out.arm[i] = history->screen[i];
		out.cost_us[i] = us >= 0 && isfinite(us) ? us : -1;
	}
	memcpy(out.own, history->channels.given, sizeof(out.own));
	for (unsigned i = 0; i < history->rounds; i++) {
		unsigned begin = i ? history->end[i - 1] : 0;

		out.round[i].sample = history->sample + begin;
		out.round[i].samples = history->end[i] - begin;
		out.round[i].blocks = history->plan[i].blocks;
		out.round[i].arms = history->plan[i].count;
		for (unsigned k = 0; k < history->plan[i].count; k++)
			out.round[i].arm[k] = history->plan[i].arm[k];
	}
	nt_rank_put_trial(put, &out);
}

static void put_arm(struct nt_json_writer *put, const struct nt_tried *tried)
{
	const struct nt_explored_arm out = {
		.arm = tried->arm,
		.predicted_us = (double)tried->predicted_us,
		.us = (double)tried->us,
		.p25_us = (double)tried->p25_us,
		.p75_us = (double)tried->p75_us,
		.min_us = (double)tried->min_us,
		.max_us = (double)tried->max_us,
		.samples = tried->samples,
	};

	nt_json_put_open(put, NULL, '{');
	nt_fields_put(put, &nt_explored_arm_fields, &out);
	nt_json_put_close(put);
}

void nt_rank_history_explored(struct nt_json_writer *put, const struct nt_history *history)
{
	struct nt_explored out = {
		.ranks = history->ranks,
		.nodes = history->nodes,
		.coll = (int)nt_key_coll(history->key),
		.bytes = (int64_t)nt_band_floor(nt_key_band(history->key)),
		.auto_arm = history->baseline_arm,
		.arm = history->chosen_arm,
	};

	snprintf(out.id, sizeof(out.id), "%016" PRIx64, history->comm);
	nt_json_put_open(put, NULL, '{');
	nt_fields_put(put, &nt_explored_fields, &out);
	nt_json_put_open(put, NT_EXPLORED_ARMS, '[');
	for (unsigned i = 0; i < history->arms; i++)
		put_arm(put, &history->arm[i]);
	nt_json_put_close(put);
	nt_json_put_close(put);
}
