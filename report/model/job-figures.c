/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/job-figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "record/row-time.h"

/* ---- of a step */

bool nt_step_is_calibration(const struct nt_step *step)
{
	return nt_says_is_calibration(step->program);
}

static bool has_remark(const struct nt_summary *summary, const struct nt_step *step)
{
	for (size_t i = 0; i < summary->remark_count; i++) {
		if (strcmp(summary->remarks[i].step, step->name) == 0)
			return true;
	}
	return false;
}

static bool has_row(const struct nt_summary *summary, size_t at)
{
	for (size_t i = 0; i < summary->row_count; i++) {
		if (summary->rows[i].step == at)
			return true;
	}
	return false;
}

static bool has_rest(const struct nt_step *step)
{
	for (int reason = 0; reason < NT_REASON_COUNT; reason++) {
		if (step->rest[reason] > 0)
			return true;
	}
	return false;
}

bool nt_step_is_empty(const struct nt_summary *summary, size_t at)
{
	const struct nt_step *step = &summary->steps[at];

	return !(step->step_us[1] > 0) && !(step->calibration_s > 0) && step->more <= 0 &&
	       !step->running && !has_rest(step) && !has_row(summary, at) &&
	       !has_remark(summary, step);
}

static double or_zero(double value)
{
	return isnan(value) || value < 0 ? 0 : value;
}

static struct nt_says_key key_of(const struct nt_key *row, enum nt_which which)
{
	return (struct nt_says_key){ .calls = or_zero((double)row->calls),
				     .comms = or_zero((double)row->comms),
				     .own_us = or_zero(row->own_us[which]),
				     .us = or_zero(row->us[which]),
				     .predicted_us = or_zero(row->predicted_us[which]),
				     .reason = row->reason };
}

static double row_us(const struct nt_summary *summary, const struct nt_key *row)
{
	const struct nt_says_key key = key_of(row, nt_row_in_force(row));

	return nt_says_key_us(&key, or_zero((double)summary->steps[row->step].steps));
}

double nt_step_all_us(const struct nt_summary *summary, size_t at)
{
	const struct nt_step *step = &summary->steps[at];
	double all_us = 0;

	for (size_t i = 0; i < summary->row_count; i++) {
		if (summary->rows[i].step == at)
			all_us += row_us(summary, &summary->rows[i]);
	}
	if (step->steps > 0 && step->step_us[1] > 0)
		return (double)step->steps * step->step_us[1];
	return all_us;
}

double nt_row_part(const struct nt_summary *summary, const struct nt_key *row)
{
	const double all_us = nt_step_all_us(summary, row->step);

	return all_us > 0 ? fmin(1, row_us(summary, row) / all_us) : NAN;
}

double nt_row_saved_part(const struct nt_summary *summary, const struct nt_key *row)
{
	const double gain = nt_row_gain(row) / 100;

	return nt_row_is_tuned(row) && gain < 1 ? nt_row_part(summary, row) * gain / (1 - gain)
						: NAN;
}

struct times {
	double saved_ms, spent_ms;
};

/* Sums over the step's rows. */
static struct times of_rows(const struct nt_summary *summary, size_t step)
{
	struct times sum = { 0, 0 };

	for (size_t i = 0; i < summary->row_count; i++) {
		if (summary->rows[i].step != step)
			continue;
		sum.saved_ms += nt_or_zero(summary->rows[i].saved_ms);
		sum.spent_ms += nt_or_zero(summary->rows[i].spent_ms);
	}
	return sum;
}

double nt_step_saved_ms(const struct nt_summary *summary, size_t step)
{
	const double own_ms = summary->steps[step].saved_ms;

	return isnan(own_ms) ? of_rows(summary, step).saved_ms : own_ms;
}

double nt_step_spent_ms(const struct nt_summary *summary, size_t step)
{
	const double own_ms = summary->steps[step].spent_ms;

	return isnan(own_ms) ? of_rows(summary, step).spent_ms : own_ms;
}

/* ---- of the job */

static void take_behind(struct nt_says_step *to, const struct nt_reason *why)
{
	const char *from = strchr(why->text, ':');

	if (from)
		nt_says_behind(to, from + 1, why->text + strlen(why->text));
}

static void take_reasons(struct nt_says_step *to, const struct nt_summary *summary, size_t at)
{
	const struct nt_step *step = &summary->steps[at];

	for (size_t i = 0; i < summary->remark_count; i++) {
		const struct nt_remark *remark = &summary->remarks[i];

		if (remark->kind != NT_REMARK_WHY || strcmp(remark->step, step->name) != 0)
			continue;
		nt_says_why_add(to, remark->why.id);
		if (remark->why.id == NT_REASON_BEHIND)
			take_behind(to, &remark->why);
	}
	for (int reason = 0; reason < NT_REASON_COUNT; reason++) {
		if (step->rest[reason] > 0)
			nt_says_why_add(to, reason);
	}
}

static void take_step(struct nt_says *says, const struct nt_summary *summary, size_t at)
{
	const struct nt_step *step = &summary->steps[at];
	struct nt_says_step to = { .ranks = or_zero((double)step->ranks),
				   .nodes = or_zero((double)step->nodes),
				   .step_us = or_zero(step->step_us[1]),
				   .steps = or_zero((double)step->steps),
				   .speed = or_zero(step->measured),
				   .saved_ms = nt_step_saved_ms(summary, at),
				   .spent_ms = nt_step_spent_ms(summary, at),
				   .estimated_ms = nt_or_zero(step->estimated_ms),
				   .calibration_s = or_zero(step->calibration_s),
				   .saves = !isnan(step->saved_ms),
				   .observed = strcmp(step->mode, "observe") == 0,
				   .early = step->early > 0,
				   .cut = step->as_of_s > 0 };

	snprintf(to.program, sizeof(to.program), "%.47s", step->program);
	snprintf(to.launch, sizeof(to.launch), "%.47s", step->launch);
	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_says_key key = key_of(&summary->rows[i], NT_OF_AUTO);

		if (summary->rows[i].step == at)
			nt_says_key_add(&to, &key);
	}
	take_reasons(&to, summary, at);
	nt_says_take(says, &to);
}

/* ---- when it pays */

/* Seconds that such a step has saved after so many seconds of running. */
static double saved_after(const struct nt_summary *summary, const struct nt_job_figures *figures,
			  double seconds)
{
	const struct nt_step *step = &summary->steps[figures->main];
	double saved_s = figures->gain.speed > 0 ? (figures->gain.speed - 1) * seconds : 0;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];
		const double rate = nt_row_saving_rate(row, step);
		const double from_s = nt_row_decided_s(row, step);

		if (row->step == figures->main && !isnan(rate) && !isnan(from_s) &&
		    seconds > from_s)
			saved_s += rate * (seconds - from_s);
	}
	return saved_s;
}

#define LONGEST_S (30 * 86400.0)

static double pays_after_s(const struct nt_summary *summary, const struct nt_job_figures *figures)
{
	const double spent_s = (figures->gain.exploring_ms + figures->gain.calibration_ms) / 1e3;
	double low = 0, high = LONGEST_S;

	if (figures->main == summary->step_count || spent_s <= 0 ||
	    saved_after(summary, figures, high) < spent_s)
		return NAN;
	for (int i = 0; i < 60; i++) {
		const double middle = (low + high) / 2;

		if (saved_after(summary, figures, middle) < spent_s)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static bool is_of_program(const struct nt_says_gain *gain, const struct nt_step *step)
{
	return step->step_us[1] > 0 && strcmp(step->program, gain->program) == 0 &&
	       or_zero((double)step->ranks) == gain->ranks &&
	       or_zero((double)step->nodes) == gain->nodes;
}

double nt_step_launched_ms(const struct nt_says_gain *gain, const struct nt_step *step)
{
	if (!gain->by_job || !is_of_program(gain, step) || !step->launch[0] ||
	    strcmp(step->launch, "default") == 0)
		return nt_step_launch_ms(step);
	return or_zero((double)step->steps) * (gain->without_us - step->step_us[1]) / 1e3;
}

/* The newest of its program's, or else of any that tells something. */
static size_t main_step(const struct nt_summary *summary, const struct nt_says_gain *gain)
{
	size_t any = summary->step_count;

	for (size_t i = summary->step_count; i-- > 0;) {
		const struct nt_step *step = &summary->steps[i];

		if (nt_step_is_calibration(step) || nt_step_is_empty(summary, i))
			continue;
		if (gain->step_us <= 0 || is_of_program(gain, step))
			return i;
		any = any == summary->step_count ? i : any;
	}
	return any;
}

void nt_job_figures_make(struct nt_job_figures *figures, const struct nt_summary *summary)
{
	struct nt_says says = { .any = false };

	*figures = (struct nt_job_figures){ .nodes = -1, .main = summary->step_count };
	for (size_t i = 0; i < summary->step_count; i++) {
		const struct nt_step *step = &summary->steps[i];

		take_step(&says, summary, i);
		if (step->nodes > figures->nodes)
			figures->nodes = step->nodes;
	}
	nt_says_text(&says, figures->says);
	figures->gain = nt_says_gain(&says);
	figures->main = main_step(summary, &figures->gain);
	figures->pays_s = pays_after_s(summary, figures);
	figures->pays_steps = figures->gain.step_us > 0
				      ? ceil(figures->pays_s * 1e6 / figures->gain.step_us - 1e-6)
				      : NAN;
}
