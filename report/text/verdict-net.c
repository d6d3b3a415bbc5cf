/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What was saved and spent, and when exploring pays. */
#include "report/text/verdict-maker.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "report/text/row-text.h"
#include "report/model/row-time.h"
#include "lib/table.h"

#define POLICY "--nccl-tune=policy,launch=auto"

/* Seconds saved after so many seconds of running. */
static double saved_after(const struct nt_summary *summary, size_t step, double seconds)
{
	double saved_s = 0;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];
		double rate = nt_row_saving_rate(row, &summary->steps[step]);
		double from_s = nt_row_decided_s(row, &summary->steps[step]);

		if (row->step == step && !isnan(rate) && !isnan(from_s) && seconds > from_s)
			saved_s += rate * (seconds - from_s);
	}
	return saved_s;
}

#define LONGEST_S (30 * 86400.0)

double nt_verdict_pays_after_s(const struct nt_summary *summary, size_t step)
{
	double spent_s = 0, low = 0, high = LONGEST_S;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		if (row->step == step && !isnan(row->spent_ms))
			spent_s += row->spent_ms / 1e3;
	}
	if (spent_s <= 0 || saved_after(summary, step, high) < spent_s)
		return NAN;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (saved_after(summary, step, middle) < spent_s)
			low = middle;
		else
			high = middle;
	}
	return high;
}

struct net {
	double saved_ms, spent_ms;
	bool gained; /* something is faster */
	bool unfinished;
};

/* A step's own sums are of what had no room in the record, too. */
static struct net net_of(const struct nt_summary *summary, size_t step)
{
	const struct nt_step *known = &summary->steps[step];
	struct net net = { 0 };

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		if (row->step != step)
			continue;
		net.saved_ms += nt_maker_worth(row);
		net.spent_ms += isnan(row->spent_ms) ? 0 : row->spent_ms;
		net.gained |= nt_row_is_tuned(row) && nt_maker_worth(row) > 0;
		net.unfinished |= nt_row_reason(row) == NT_REASON_UNFINISHED;
	}
	if (!isnan(known->spent_ms))
		net.spent_ms = known->spent_ms;
	if (!isnan(known->saved_ms))
		net.saved_ms = known->saved_ms;
	return net;
}

/* A step that has cost more than it saved. */
static void say_loss(struct nt_maker *maker, size_t step, const struct net *net)
{
	double after_s = nt_verdict_pays_after_s(maker->summary, step);
	char name[48], spent[32], after[32] = "";

	if (maker->summary->step_count > 1)
		snprintf(name, sizeof(name), "Step %s", maker->summary->steps[step].name);
	else
		snprintf(name, sizeof(name), "This step");
	if (!isnan(after_s)) {
		nt_duration_text(ceil(after_s) * 1e3, after, sizeof(after));
		nt_maker_say(maker, NT_SENTENCE_NET,
			     "To use the results without exploring again: " POLICY ".",
			     "%s was too short for exploring to pay off: that takes about %s, or "
			     "use " POLICY ".",
			     name, after);
	} else if (net->gained) {
		nt_maker_say(maker, NT_SENTENCE_NET,
			     "Run longer, or use the results without exploring again: " POLICY ".",
			     "%s was too short for exploring to pay off.", name);
	} else {
		nt_duration_text(net->spent_ms, spent, sizeof(spent));
		nt_maker_say(maker, NT_SENTENCE_NET,
			     net->unfinished ? ""
					     : "For such steps use " POLICY
					       ": it explores nothing and uses remembered results.",
			     "%s spent %s on exploring and gained nothing%s.", name, spent,
			     net->unfinished ? " before it ended" : "");
	}
}

void nt_maker_net(struct nt_maker *maker)
{
	const struct nt_summary *summary = maker->summary;
	struct net all = { 0 };
	char net_text[32], saved[32], spent[32];
	size_t losses = 0;

	for (size_t i = 0; i < summary->step_count; i++) {
		struct net net = net_of(summary, i);

		all.saved_ms += net.saved_ms;
		all.spent_ms += net.spent_ms;
		if (net.spent_ms > net.saved_ms && strcmp(summary->steps[i].mode, "observe") != 0 &&
		    losses++ < NT_TOLD_MAX)
			say_loss(maker, i, &net);
	}
	nt_maker_say(maker, NT_SENTENCE_NET, "", "Net time saved: %s (saved %s, spent %s).",
		     nt_duration_text(all.saved_ms - all.spent_ms, net_text, sizeof(net_text)),
		     nt_duration_text(all.saved_ms, saved, sizeof(saved)),
		     nt_duration_text(all.spent_ms, spent, sizeof(spent)));
}
