/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/rank-section.h"

#include <stdio.h>
#include <string.h>
#include "record/rank.h"
#include "tuner/chain.h"
#include "tuner/comm.h"
#include "tuner/rank-history.h"

_Static_assert(NT_KEPT_CALLS <= NT_SAMPLED_MAX, "all kept calls go into a record");
_Static_assert(NT_MARKER_WINDOWS <= NT_RANK_PERIODS_MAX, "all periods go into a record");

void nt_rank_section_plugins(struct nt_json_writer *put)
{
	static const char *const names[] = {
		[NT_CHAINED_PROFILER] = "profiler", [NT_CHAINED_TUNER] = "tuner"
	};
	struct nt_json_writer before = *put;
	char text[480];
	bool any = false;

	nt_json_put_open(put, NT_RANK_PLUGINS, '{');
	for (enum nt_chained which = 0; which < NT_CHAINED_ALL; which++) {
		nt_chain_describe(which, text, sizeof(text));
		if (text[0])
			nt_json_put_text(put, names[which], text);
		any = any || text[0];
	}
	nt_json_put_close(put);
	if (put->full || !any)
		*put = before;
}

/* Of one rank, those that use a remembered arm */
static int64_t warm_keys(const struct nt_comm *comm)
{
	struct nt_outcome outcome;
	int64_t used = 0;

	for (unsigned i = 0; i < nt_comm_keys(comm); i++) {
		if (nt_comm_key_id(comm, i) != 0 && nt_key_commits(&comm->key[i], &outcome) > 0)
			used += outcome.from != NT_FROM_STEP;
	}
	return used;
}

void nt_rank_section_warm(struct nt_json_writer *put, const struct nt_process *process)
{
	struct nt_rank_warm out = { .offered = process->warm.arms.count };
	struct nt_json_writer before = *put;

	if (!process->warm.offered)
		return;
	for (uint32_t i = 0; i < process->comms; i++)
		out.used += warm_keys(process->comm[i]);
	snprintf(out.refused, sizeof(out.refused), "%.159s", process->warm.refused.text);
	nt_json_put_open(put, NT_RANK_WARM, '{');
	nt_fields_put(put, &nt_rank_warm_fields, &out);
	nt_json_put_close(put);
	if (put->full)
		*put = before;
}

void nt_rank_section_marker(struct nt_json_writer *put, const struct nt_marker *marker)
{
	struct nt_json_writer before = *put;
	struct nt_marker_found found;
	struct nt_rank_marker out;

	if (!marker || !nt_marker_find(marker, &found))
		return;
	out = (struct nt_rank_marker){
		.coll = (int)nt_key_coll(found.key.key),
		.bytes = (int64_t)nt_band_floor(nt_key_band(found.key.key)),
		.ranks = found.key.ranks,
		.calls = (int64_t)found.calls,
		.periods = found.periods,
	};
	memcpy(out.period_us, found.period_us, found.periods * sizeof(out.period_us[0]));
	nt_rank_put_marker(put, &out);
	if (put->full)
		*put = before;
}

void nt_rank_section_agreement(struct nt_json_writer *put, const struct nt_node_leader_counts *c)
{
	const struct nt_agreement out = {
		.nodes = c->nodes,
		.fetches = c->log.fetches,
		.appends = c->log.appends,
		.bytes = (int64_t)c->log.bytes,
		.spent_kib = (int64_t)(c->log.spent >> 10),
		.commits = c->agree.commits,
		.aborts = c->agree.aborts,
		.rejects = c->agree.rejects,
		.refusals = c->agree.refusals,
		.rechecks = c->agree.rechecks,
		.looks = c->agree.looks,
	};
	struct nt_json_writer before = *put;

	nt_rank_put_agreement(put, &out, c->agree.commit_ms,
			      c->agree.timed < NT_AGREE_TIMES ? c->agree.timed : NT_AGREE_TIMES);
	if (put->full)
		*put = before;
}

void nt_rank_section_sampled(struct nt_json_writer *put, const struct nt_kept_calls *kept)
{
	struct nt_sampled_call calls[NT_KEPT_CALLS];
	struct nt_json_writer before = *put;
	struct nt_kept call;
	unsigned count = 0;

	while (count < NT_KEPT_CALLS && nt_kept_read(kept, count, &call))
		calls[count++] = (struct nt_sampled_call){
			.coll = call.coll,
			.ring = call.ring,
			.turn = call.turn,
			.us = (double)call.ns / 1e3,
			.s = (double)call.when_ms / 1e3,
		};
	put->bytes /= 2;
	nt_rank_put_sampled(put, calls, count);
	if (put->full)
		*put = before;
	put->bytes = before.bytes;
}

void nt_rank_section_explored(struct nt_json_writer *put, const struct nt_histories *histories)
{
	const struct nt_history *h = nt_history_measured(histories->first);
	const size_t bytes = put->bytes;
	bool fits = true;

	if (!h)
		return;
	nt_json_put_open(put, NT_RANK_EXPLORED, '[');
	put->bytes /= 2;
	for (; h && fits; h = nt_history_measured(h->next)) {
		struct nt_json_writer before = *put;

		nt_rank_history_explored(put, h);
		fits = !put->full;
		if (!fits)
			*put = before;
	}
	put->bytes = bytes;
	nt_json_put_close(put);
}
