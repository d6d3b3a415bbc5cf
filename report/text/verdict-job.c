/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences on what the job gained, and on what to do next. */
#include "report/text/verdict-maker.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "contract/coll.h"
#include "lib/append.h"
#include "lib/plural.h"
#include "lib/table.h"
#include "launch/select-reason.h"
#include "record/row-time.h"
#include "report/text/words.h"

/* ---- the step, and the net */

#define SLOWER 0.98 /* steps are with the launch profile */
#define TOLD_PART 0.1 /* of what launch profiles saved: less by calls is not told */

static void say_source(struct nt_maker *maker)
{
	const struct nt_says_gain *gain = &maker->figures.gain;
	const struct nt_step *step;

	if (!gain->profile[0])
		return;
	step = &maker->summary->steps[maker->figures.main];
	if (!(gain->speed > 0) && step->calibration_gain > 0)
		nt_maker_say(maker, NT_SENTENCE_LAUNCH, "",
			     "Calls were %.2f x as fast with %s when it was calibrated.",
			     step->calibration_gain, gain->profile);
	else if (!(gain->speed > 0))
		return;
	else if (gain->by_job)
		nt_maker_say(maker, NT_SENTENCE_LAUNCH, "",
			     "\"Was\" is without launch profile %s, in this job's other steps.",
			     gain->profile);
	else
		nt_maker_say(maker, NT_SENTENCE_LAUNCH, "",
			     "\"Was\" is without launch profile %s, as remembered of %.24s here.",
			     gain->profile, step->program[0] ? step->program : "earlier steps");
}

/* ", 2.7 % of 29 s": of the job's time. */
static void add_of_job(const struct nt_summary *summary, double net_ms, char *out, size_t out_bytes)
{
	const double elapsed_s = (double)summary->job.elapsed_s;
	const double percent = net_ms / elapsed_s / 10;
	char text[32];

	if (elapsed_s < 120)
		snprintf(text, sizeof(text), "%.0f s", elapsed_s);
	else
		nt_duration_text(elapsed_s * 1e3, text, sizeof(text));
	if (elapsed_s > 0)
		/* No -0.0. */
		nt_append(out, out_bytes, ", %.1f %% of %s", fabs(percent) < 0.05 ? 0.0 : percent,
			  text);
}

static void add_pays(const struct nt_job_figures *figures, char *out, size_t out_bytes)
{
	char text[32];

	if (isnan(figures->pays_s))
		return;
	nt_duration_text(figures->pays_s * 1e3, text, sizeof(text));
	if (isnan(figures->pays_steps))
		nt_append(out, out_bytes, "; pays from %s on", text);
	else
		nt_append(out, out_bytes, "; pays from %.0f step%s (%s) on", figures->pays_steps,
			  figures->pays_steps == 1 ? "" : "s", text);
}

/* " (saved 10.0 s, spent 50.0 s on calibrating)": what is more than the net time itself */
static void add_parts(const struct nt_says_gain *gain, char *out, size_t out_bytes)
{
	const double saved_ms = gain->launch_ms + gain->calls_ms;
	const double spent_ms = gain->exploring_ms + gain->calibration_ms;
	const bool both = fabs(gain->launch_ms) >= NT_NOTHING_MS &&
			  fabs(gain->calls_ms) >= TOLD_PART * fabs(gain->launch_ms);
	const bool spends = spent_ms >= NT_NOTHING_MS;
	const bool saves = both || (spends && fabs(saved_ms) >= NT_NOTHING_MS);
	char text[32];

	if (saves)
		nt_append(out, out_bytes, " (saved %s",
			  nt_duration_text(saved_ms, text, sizeof(text)));
	if (both)
		nt_append(out, out_bytes, ", of it %s by choices for calls",
			  nt_duration_text(gain->calls_ms, text, sizeof(text)));
	if (spends)
		nt_append(out, out_bytes, "%sspent %s", saves ? ", " : " (",
			  nt_duration_text(spent_ms, text, sizeof(text)));
	if (spends && gain->calibration_ms >= 0.99 * spent_ms)
		nt_append(out, out_bytes, " on calibrating");
	else if (spends && gain->calibration_ms > 0)
		nt_append(out, out_bytes, ", of it %s on calibrating",
			  nt_duration_text(gain->calibration_ms, text, sizeof(text)));
	if (saves || spends)
		nt_append(out, out_bytes, ")");
}

static void say_net(struct nt_maker *maker)
{
	const struct nt_says_gain *gain = &maker->figures.gain;
	const bool known = !gain->profile[0] || gain->speed > 0;
	char text[320] = "", number[32];

	if (known)
		nt_append(text, sizeof(text), "Net time saved: %s",
			  nt_duration_text(gain->net_ms, number, sizeof(number)));
	else
		nt_append(text, sizeof(text), "Net time saved: not known");
	add_parts(gain, text, sizeof(text));
	if (known) {
		add_of_job(maker->summary, gain->net_ms, text, sizeof(text));
		add_pays(&maker->figures, text, sizeof(text));
	}
	nt_maker_say(maker, NT_SENTENCE_NET, "", "%s.", text);
}

/* ---- the largest gain of a collective */

/* As its times are printed. The time saved follows from other times, such as those to the next
 * call. */
static bool is_faster(const struct nt_key *row)
{
	char of_arm[32], of_auto[32];
	const double arm_us = nt_row_call_us(row, NT_OF_ARM);
	const double auto_us = nt_row_call_us(row, NT_OF_AUTO);

	return arm_us < auto_us && strcmp(nt_time_text(arm_us, of_arm, sizeof(of_arm)),
					  nt_time_text(auto_us, of_auto, sizeof(of_auto))) != 0;
}

static const struct nt_key *find_gain(const struct nt_summary *summary)
{
	const struct nt_key *best = NULL;
	double most = 0;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];
		const double part = nt_row_saved_part(summary, row);
		const double us = part * nt_step_all_us(summary, row->step);

		if (nt_row_is_tuned(row) && is_faster(row) && part >= NT_SHARE_LEAST && us > most) {
			most = us;
			best = row;
		}
	}
	return best;
}

static void say_gain(struct nt_maker *maker)
{
	const struct nt_summary *summary = maker->summary;
	const struct nt_key *row = find_gain(summary);
	char step[NT_STEP_PREFIX], size[24], shape[160], arm[96], now[32], before[32];
	char saved[48] = "", text[32];

	if (!row)
		return;
	if (row->saved_ms >= NT_NOTHING_MS)
		snprintf(saved, sizeof(saved), "; saved %s",
			 nt_duration_text(row->saved_ms, text, sizeof(text)));
	nt_maker_say(maker, NT_SENTENCE_GAIN, "",
		     "%s%s %s on %s: %s takes %s%s instead of NCCL's %s%s.",
		     nt_maker_prefix(summary, row->step, step), nt_coll_name(row->coll),
		     nt_size_text(row->bytes, size, sizeof(size)),
		     nt_family_words(&summary->families[row->family], shape, sizeof(shape)),
		     nt_arm_words(row->arm, arm, sizeof(arm)),
		     nt_time_text(nt_row_call_us(row, NT_OF_ARM), now, sizeof(now)),
		     nt_row_duration_known(row) ? "" : " to the next call",
		     nt_time_text(nt_row_call_us(row, NT_OF_AUTO), before, sizeof(before)), saved);
}

void nt_maker_job(struct nt_maker *maker)
{
	const struct nt_job_figures *figures = &maker->figures;
	const struct nt_says_gain *gain = &figures->gain;

	if (figures->says[0])
		nt_maker_say(maker, NT_SENTENCE_JOB, "", "%s", figures->says);
	else if (maker->summary->row_count == 0 && maker->summary->remark_count == 0)
		nt_maker_say(maker, NT_SENTENCE_JOB, "",
			     "NCCL ran no collective often enough to measure it.");
	say_source(maker);
	if (fabs(gain->net_ms) >= NT_NOTHING_MS || gain->exploring_ms >= NT_NOTHING_MS)
		say_net(maker);
	say_gain(maker);
}

/* ---- what to do */

/* Advice of the first sentence of this kind that has any; NULL: there is none. */
static const char *advice_of(const struct nt_maker *maker, enum nt_sentence_kind kind)
{
	for (size_t i = 0; i < maker->verdict->count; i++) {
		const struct nt_sentence *sentence = &maker->verdict->items[i];

		if (sentence->kind == kind && sentence->type[0] &&
		    strncmp(sentence->type, "Nothing needs", 13) != 0)
			return sentence->type;
	}
	return NULL;
}

static bool is_observed(const struct nt_step *step)
{
	return strcmp(step->mode, "observe") == 0;
}

/* Start-up settings are tried by the program's next step, or could be. */
static bool say_launch(struct nt_maker *maker, const struct nt_step *step)
{
	/* There they gain most, and exploring often costs more than it gains. */
	const bool over_sockets = strcmp(step->fabric, "socket") == 0;

	if (step->next_calibration_s > 0)
		nt_maker_say(maker, NT_SENTENCE_NEXT, "",
			     "The next step of %s here calibrates for about %.0f s first; "
			     "calibrate=off forbids it.",
			     step->program[0] ? step->program : "this program",
			     step->next_calibration_s);
	else if ((!step->launch[0] || is_observed(step)) && step->nodes > 1)
		nt_maker_say(maker, NT_SENTENCE_NEXT, "",
			     "Use --nccl-tune=%s,launch=auto: it%s measures start-up settings of "
			     "NCCL, once, for about a minute before the program%s.",
			     over_sockets ? "policy" : "bandit", over_sockets ? "" : " also",
			     over_sockets ? ", and explores nothing" : "");
	else
		return false;
	return true;
}

/* Were NCCL's own settings found to be the fastest? */
static bool knows_default(const struct nt_maker *maker, const struct nt_step *step)
{
	return strcmp(step->launch, "default") == 0 &&
	       (maker->figures.gain.calibration_ms > 0 ||
		strcmp(step->from, nt_why_name(NT_WHY_NONE_BETTER)) == 0);
}

static void say_remembered(struct nt_maker *maker, const struct nt_step *step)
{
	if (maker->figures.gain.speed > 0 && maker->figures.gain.speed < SLOWER)
		nt_maker_say(
			maker, NT_SENTENCE_NEXT, "",
			"Nothing to type: this job's next steps run without %s; once it was slower twice, all steps here do.",
			maker->figures.gain.profile);
	else if (maker->figures.gain.profile[0])
		nt_maker_say(maker, NT_SENTENCE_NEXT, "",
			     "Nothing to type: later steps of %s start with %s at once.",
			     step->program[0] ? step->program : "this program",
			     maker->figures.gain.profile);
	else if (knows_default(maker, step) && step->calibration_s > 0)
		nt_maker_say(maker, NT_SENTENCE_NEXT, "",
			     "Nothing to type: the next step chooses again, knowing the calls of "
			     "%s.",
			     step->program[0] ? step->program : "this program");
	else if (knows_default(maker, step))
		nt_maker_say(maker, NT_SENTENCE_NEXT, "",
			     "Nothing to type: NCCL's own settings are the fastest known here.");
}

void nt_maker_next(struct nt_maker *maker)
{
	const struct nt_summary *summary = maker->summary;
	const struct nt_step *step = maker->figures.main < summary->step_count
					     ? &summary->steps[maker->figures.main]
					     : NULL;
	const char *advice = advice_of(maker, NT_SENTENCE_STALLED);

	if (!advice && step && !step->running && is_observed(step) && say_launch(maker, step))
		return;
	if (!advice)
		advice = advice_of(maker, NT_SENTENCE_UNTUNED);
	if (!advice && !step && maker->figures.gain.calibration_ms > 0)
		advice = "Nothing to type: steps of programs choose by what was measured.";
	if (!advice && (!step || (summary->row_count == 0 && summary->remark_count == 0)))
		advice = "Check that the program uses NCCL on more than one GPU and runs long "
			 "enough.";
	if (!advice && step->running)
		return;
	if (!advice && say_launch(maker, step))
		return;
	if (!advice && !maker->figures.gain.profile[0] && !knows_default(maker, step))
		advice = advice_of(maker, NT_SENTENCE_UNFINISHED);
	if (!advice && is_observed(step))
		advice = "To explore: --nccl-tune=bandit,launch=auto.";
	if (advice)
		nt_maker_say(maker, NT_SENTENCE_NEXT, "", "%s", advice);
	else
		say_remembered(maker, step);
}
