/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences on what launch profiles saved. */
#include "report/text/verdict-maker.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "lib/append.h"
#include "lib/table.h"
#include "report/model/row-time.h"
#include "report/text/words.h"

#define TIMES_FROM 1.5 /* below it, percent is easier to read */

/* "23.5 ms instead of 44.7"; the second unit only if it is another one. */
static void step_words(const struct nt_step *step, char *out, size_t out_bytes)
{
	char now[32], before[32], *unit;

	nt_time_text(step->step_us[1], now, sizeof(now));
	nt_time_text(step->step_us[1] * step->measured, before, sizeof(before));
	unit = strchr(before, ' ');
	if (unit && strchr(now, ' ') && strcmp(unit, strchr(now, ' ')) == 0)
		*unit = '\0';
	snprintf(out, out_bytes, "%s instead of %s", now, before);
}

static const char *gain_words(double speed, char *out, size_t out_bytes)
{
	if (speed < TIMES_FROM)
		return nt_speed_text(speed, out, out_bytes);
	snprintf(out, out_bytes, "%.1f x faster", speed);
	return out;
}

static void say_step(struct nt_maker *maker, size_t at)
{
	const struct nt_summary *summary = maker->summary;
	const struct nt_step *step = &summary->steps[at];
	const double saved_ms = nt_step_saved_ms(summary, at);
	char text[320], took[80], gain[48], saved[32];

	nt_maker_prefix(summary, at, text);
	gain_words(step->measured, gain, sizeof(gain));
	if (step->step_us[1] > 0) {
		step_words(step, took, sizeof(took));
		nt_append(text, sizeof(text), "%s step %s (%s) with launch profile %s",
			  summary->step_count > 1 ? "training" : "Training", took, gain,
			  step->launch);
	} else {
		nt_append(text, sizeof(text),
			  "with launch profile %s the program's own steps were %s", step->launch,
			  gain);
	}
	if (fabs(saved_ms) >= NT_NOTHING_MS)
		nt_append(text, sizeof(text), "; calls %s another %s",
			  saved_ms > 0 ? "saved" : "lost",
			  nt_duration_text(fabs(saved_ms), saved, sizeof(saved)));
	if (text[0] == 'w')
		text[0] = 'W';
	nt_maker_say(maker, NT_SENTENCE_LAUNCH, "", "%s.", text);
}

/* The last step's program calibrates before its next step. */
static void say_next(struct nt_maker *maker)
{
	const struct nt_summary *summary = maker->summary;
	const struct nt_step *last = summary->step_count > 0
					     ? &summary->steps[summary->step_count - 1]
					     : NULL;

	if (last && last->next_calibration_s > 0)
		nt_maker_say(maker, NT_SENTENCE_NEXT, "",
			     "The next step of %s here calibrates for about %.0f s first; "
			     "calibrate=off forbids it.",
			     last->program[0] ? last->program : "this program",
			     last->next_calibration_s);
}

void nt_maker_launch(struct nt_maker *maker)
{
	const struct nt_summary *summary = maker->summary;
	size_t told = 0;

	for (size_t i = 0; i < summary->step_count && told < NT_TOLD_MAX; i++) {
		const struct nt_step *step = &summary->steps[i];

		if (!step->launch[0] || strcmp(step->launch, "default") == 0 ||
		    !(step->measured > 0))
			continue;
		told++;
		say_step(maker, i);
	}
	say_next(maker);
}
