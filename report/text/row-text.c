/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/row-text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "contract/coll.h"
#include "lib/plural.h"
#include "record/rank.h"
#include "record/row-time.h"
#include "lib/append.h"
#include "lib/table.h"
#include "report/text/words.h"

static void add_rechecks(struct nt_said *said, const struct nt_key *row)
{
	if (row->rechecks <= 0)
		return;
	if (row->rollbacks > 0)
		nt_append(said->says, sizeof(said->says),
			  " Rechecked %" PRId64 " time%s, rolled back %" PRId64 " time%s.",
			  row->rechecks, nt_plural(row->rechecks), row->rollbacks,
			  nt_plural(row->rollbacks));
	else
		nt_append(said->says, sizeof(said->says), " Rechecked %" PRId64 " time%s%s.",
			  row->rechecks, nt_plural(row->rechecks),
			  nt_row_gain(row) <= 0 ? "" : ": still faster");
}

static void say_chosen(struct nt_said *said, const struct nt_key *row)
{
	const size_t size = sizeof(said->says);
	double gain = nt_row_gain(row);
	char p[24];

	said->says[0] = '\0';
	nt_append(said->says, size, "%s instead of NCCL's ", nt_arm_name(row->arm));
	nt_append(said->says, size, "%s", nt_arm_name(row->auto_arm));
	if (!isnan(gain))
		nt_append(said->says, size, ": %.1f %% %s%s", fabs(gain),
			  gain < 0 ? "slower now" : "faster",
			  nt_row_duration_known(row) ? "" : " to the next call");
	if (!isnan(row->p))
		nt_append(said->says, size, " (p %s", nt_share_text(row->p, p, sizeof(p)));
	if (!isnan(row->p) && row->samples >= 0)
		nt_append(said->says, size, ", %" PRId64 " samples", row->samples);
	nt_append(said->says, size, isnan(row->p) ? "." : ").");
}

/* Before the reason. */
static void add_chosen(struct nt_said *said, const struct nt_key *row)
{
	char rest[sizeof(said->says)];

	memcpy(rest, said->says, sizeof(rest));
	say_chosen(said, row);
	nt_append(said->says, sizeof(said->says), " %s", rest);
}

int nt_row_reason(const struct nt_key *row)
{
	if (row->reason != NT_REASON_NONE || nt_row_is_tuned(row))
		return row->reason;
	if (nt_row_is(row, NT_KEYSTATE_EXPLORING))
		return NT_REASON_UNFINISHED;
	return nt_row_is(row, NT_KEYSTATE_OBSERVED) ? NT_REASON_OBSERVED : NT_REASON_NONE;
}

struct nt_exploring nt_row_exploring(const struct nt_key *row, const struct nt_step *step)
{
	struct nt_exploring left = { -1, NAN };

	if (row->round_calls <= 0 || row->round_done < 0)
		return left;
	left.calls = row->round_done < row->round_calls ? row->round_calls - row->round_done : 0;
	left.seconds = (double)left.calls * nt_row_period_us(row, step) / 1e6;
	return left;
}

const char *nt_exploring_words(const struct nt_step *step, const struct nt_exploring *left,
			       char *out, size_t out_bytes)
{
	char text[32];

	out[0] = '\0';
	if (step->as_of_s > 0)
		nt_append(out, out_bytes, "as of %s, ",
			  nt_clock_words((double)step->as_of_s, text));
	nt_append(out, out_bytes, "still exploring");
	if (left->calls > 0)
		nt_append(out, out_bytes, ", %" PRId64 " more call%s", left->calls,
			  nt_plural(left->calls));
	if (left->calls > 0 && !isnan(left->seconds))
		nt_append(out, out_bytes, " (about %s)",
			  nt_duration_text(left->seconds * 1e3, text, sizeof(text)));
	return out;
}

/* Of a running step; without advice. */
static void say_running(struct nt_said *said, const struct nt_step *step, const struct nt_key *row)
{
	const struct nt_exploring left = nt_row_exploring(row, step);
	char words[128];

	if (said->reason == NT_REASON_UNFINISHED) {
		nt_exploring_words(step, &left, words, sizeof(words));
		words[0] = (char)toupper((unsigned char)words[0]);
		snprintf(said->says, sizeof(said->says), "%s.", words);
	} else if (said->reason == NT_REASON_COUNTED) {
		snprintf(said->says, sizeof(said->says),
			 "Not explored yet: its turn has not come, or it is called too rarely.");
	} else {
		return;
	}
	said->type[0] = '\0';
}

static void say_open(struct nt_said *said, const struct nt_step *step, const struct nt_key *row)
{
	char auto_arm[NT_ARM_TEXT], other[NT_ARM_TEXT] = "";
	struct nt_reason_facts facts = { auto_arm, other, nt_row_gain(row), row->p };
	int reason = nt_row_reason(row);

	snprintf(auto_arm, sizeof(auto_arm), "%s", nt_arm_name(row->auto_arm));
	if (row->auto_arm == NT_ARM_BASELINE)
		auto_arm[0] = '\0'; /* not known */
	if (nt_arm_valid(row->best_arm) && row->best_arm != NT_ARM_BASELINE)
		snprintf(other, sizeof(other), "%s", nt_arm_name(row->best_arm));
	nt_said_key(said, reason, &facts);
	if (step->running)
		say_running(said, step, row);
	/* They advise launch=auto, which the step has. */
	if ((reason == NT_REASON_SCREENED || reason == NT_REASON_P2P) && step->launch[0])
		said->type[0] = '\0';
	if (auto_arm[0] && !strstr(said->says, auto_arm)) {
		char rest[sizeof(said->says)];

		memcpy(rest, said->says, sizeof(rest));
		snprintf(said->says, sizeof(said->says), "NCCL's choice is %s.%s%.400s", auto_arm,
			 rest[0] ? " " : "", rest);
	}
}

void nt_row_say(struct nt_said *said, const struct nt_summary *summary, const struct nt_key *row)
{
	const struct nt_step *step = &summary->steps[row->step];

	if (!nt_row_is_tuned(row)) {
		say_open(said, step, row);
	} else if (row->reason == NT_REASON_NONE) {
		*said = (struct nt_said){ .reason = NT_REASON_NONE };
		say_chosen(said, row);
	} else {
		nt_said_key(said, row->reason, NULL);
		add_chosen(said, row);
	}
	/* Other reasons say so themselves. */
	if (nt_reason_about(nt_row_reason(row)) == NT_ABOUT_NOTHING && isnan(row->auto_us) &&
	    isnan(row->auto_own_us))
		nt_append(
			said->says, sizeof(said->says),
			" None of its calls could be timed: they were in CUDA graphs, or too few.");
	add_rechecks(said, row);
}
