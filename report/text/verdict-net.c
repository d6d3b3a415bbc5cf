/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences on what was saved and spent, and on when exploring pays. */
#include "report/text/verdict-maker.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "report/text/row-text.h"
#include "report/model/row-time.h"
#include "lib/table.h"

#define POLICY "--nccl-tune=policy,launch=auto"
#define REUSE "To use the results without exploring again: " POLICY "."
#define LONGER_OR_REUSE "Run longer, or use the results without exploring again: " POLICY "."
#define LONGER                                                                              \
	"Run longer; or explore once in a short step with --nccl-tune=profile,launch=auto " \
	"and use the result with " POLICY "."

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

static struct net net_of(const struct nt_summary *summary, size_t step)
{
	struct net net = { 0 };

	net.saved_ms = nt_step_saved_ms(summary, step);
	net.spent_ms = nt_step_spent_ms(summary, step);
	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		if (row->step != step)
			continue;
		net.gained |= nt_row_is_tuned(row) && row->saved_ms > 0;
		net.unfinished |= nt_row_reason(row) == NT_REASON_UNFINISHED;
	}
	return net;
}

/* "" if the step itself used remembered results. */
static const char *reuse(const struct nt_step *step, const char *advice)
{
	return strcmp(step->mode, "policy") == 0 ? "" : advice;
}

static void say_running(struct nt_maker *maker, const char *name, double after_s)
{
	char after[32];

	if (!isnan(after_s))
		nt_maker_say(maker, NT_SENTENCE_NET, "", "%s: exploring pays off after about %s.",
			     name, nt_duration_text(ceil(after_s) * 1e3, after, sizeof(after)));
}

/* A step that has cost more than it saved. */
static void say_loss(struct nt_maker *maker, size_t at, const struct net *net)
{
	const struct nt_step *step = &maker->summary->steps[at];
	const bool known = step->launch[0] != '\0'; /* with launch=off nothing is remembered */
	double after_s = nt_verdict_pays_after_s(maker->summary, at);
	char name[48], text[32];

	if (maker->summary->step_count > 1)
		snprintf(name, sizeof(name), "Step %s", step->name);
	else
		snprintf(name, sizeof(name), "This step");
	/* Without a final record nobody knows what was saved in the end. */
	if (step->running || ((step->early > 0 || step->as_of_s > 0) && net->gained))
		say_running(maker, name, after_s);
	else if (!isnan(after_s))
		nt_maker_say(maker, NT_SENTENCE_NET, reuse(step, known ? REUSE : LONGER),
			     "%s was too short for exploring to pay off: that takes about %s%s.",
			     name, nt_duration_text(ceil(after_s) * 1e3, text, sizeof(text)),
			     known ? ", or use " POLICY : "");
	else if (net->gained)
		nt_maker_say(maker, NT_SENTENCE_NET, reuse(step, known ? LONGER_OR_REUSE : LONGER),
			     "%s was too short for exploring to pay off.", name);
	else
		nt_maker_say(maker, NT_SENTENCE_NET,
			     net->unfinished ? ""
					     : reuse(step, "For such steps use " POLICY
							   ": it explores nothing and uses "
							   "remembered results."),
			     "%s spent %s on exploring and gained nothing%s.", name,
			     nt_duration_text(net->spent_ms, text, sizeof(text)),
			     net->unfinished ? " before it ended" : "");
}

/* ", 2.7 % of 29 s": of the job's time. */
static const char *of_job(const struct nt_summary *summary, double net_ms, char *out,
			  size_t out_bytes)
{
	const double elapsed_s = (double)summary->job.elapsed_s;
	const double percent = net_ms / elapsed_s / 10;
	char text[32];

	if (elapsed_s < 120)
		snprintf(text, sizeof(text), "%.0f s", elapsed_s);
	else
		nt_duration_text(elapsed_s * 1e3, text, sizeof(text));
	out[0] = '\0';
	if (elapsed_s > 0)
		/* No -0.0. */
		snprintf(out, out_bytes, ", %.1f %% of %s", fabs(percent) < 0.05 ? 0.0 : percent,
			 text);
	return out;
}

struct time_sums {
	double launch_ms, saved_ms, spent_ms, calibration_ms, estimated_ms;
};

static void say_sums(struct nt_maker *maker, const struct time_sums *sums)
{
	const double net_ms = sums->launch_ms + sums->saved_ms - sums->spent_ms -
			      sums->calibration_ms;
	/* Then sentences on what was not tuned come first. */
	const bool nothing = fabs(sums->launch_ms) < NT_NOTHING_MS &&
			     fabs(sums->saved_ms) < NT_NOTHING_MS &&
			     sums->estimated_ms < NT_NOTHING_MS &&
			     sums->calibration_ms < NT_NOTHING_MS;
	char net[32], launch[32], profile[64] = "", saved[32], spent[32], share[64];
	char estimated[112] = "", calibration[64] = "";

	if (sums->launch_ms < 0 || sums->launch_ms > 0)
		snprintf(profile, sizeof(profile), "%s by launch profiles and ",
			 nt_duration_text(sums->launch_ms, launch, sizeof(launch)));
	if (sums->calibration_ms > 0)
		snprintf(calibration, sizeof(calibration), " on exploring and %s on calibrating",
			 nt_duration_text(sums->calibration_ms, net, sizeof(net)));
	if (sums->estimated_ms >= NT_NOTHING_MS)
		snprintf(estimated, sizeof(estimated),
			 " Not counted: about %s by remembered choices, estimated from earlier "
			 "steps.",
			 nt_duration_text(sums->estimated_ms, net, sizeof(net)));
	nt_maker_say(maker, nothing ? NT_SENTENCE_NOTHING : NT_SENTENCE_NET, "",
		     "Net time saved: %s (saved %s%s%s, spent %s%s)%s.%s",
		     nt_duration_text(net_ms, net, sizeof(net)), profile,
		     nt_duration_text(sums->saved_ms, saved, sizeof(saved)),
		     profile[0] ? " by calls" : "",
		     nt_duration_text(sums->spent_ms, spent, sizeof(spent)), calibration,
		     of_job(maker->summary, net_ms, share, sizeof(share)), estimated);
}

void nt_maker_net(struct nt_maker *maker)
{
	const struct nt_summary *summary = maker->summary;
	struct time_sums sums = { 0 };
	size_t losses = 0;

	for (size_t i = 0; i < summary->step_count; i++) {
		struct net net = net_of(summary, i);

		sums.launch_ms += nt_or_zero(nt_step_launch_ms(&summary->steps[i]));
		sums.saved_ms += net.saved_ms;
		sums.spent_ms += net.spent_ms;
		sums.calibration_ms += nt_step_calibration_ms(&summary->steps[i]);
		sums.estimated_ms += nt_or_zero(summary->steps[i].estimated_ms);
		if (net.spent_ms > net.saved_ms && strcmp(summary->steps[i].mode, "observe") != 0 &&
		    losses++ < NT_TOLD_MAX)
			say_loss(maker, i, &net);
	}
	say_sums(maker, &sums);
}
