/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rowtext.c - see rowtext.h */
#include "report/rowtext.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "contract/coll.h"
#include "record/rank.h"
#include "report/rowtime.h"
#include "report/table.h"

static void add(char *out, size_t out_bytes, const char *text)
{
	size_t used = strlen(out);

	snprintf(out + used, out_bytes - used, "%s", text);
}

/* What became of a choice since. */
static void add_rechecks(struct nt_said *said, const struct nt_row *row)
{
	char text[120];

	if (row->rechecks <= 0)
		return;
	if (row->rollbacks > 0)
		snprintf(text, sizeof(text),
			 " Looked at again %" PRId64 " time%s, and given up %" PRId64 " time%s.",
			 row->rechecks, row->rechecks == 1 ? "" : "s", row->rollbacks,
			 row->rollbacks == 1 ? "" : "s");
	else
		snprintf(text, sizeof(text), " Looked at again %" PRId64 " time%s: it holds.",
			 row->rechecks, row->rechecks == 1 ? "" : "s");
	add(said->says, sizeof(said->says), text);
}

static void say_chosen(struct nt_said *said, const struct nt_row *row)
{
	char evidence[112] = "", faster[48] = "", p[NT_CELL_MAX], auto_arm[NT_ARM_TEXT];
	double gain = nt_row_gain(row);

	nt_cell_share(p, row->p);
	if (!isnan(row->p) && row->samples >= 0)
		snprintf(evidence, sizeof(evidence), " (p %s, %" PRId64 " samples)", p,
			 row->samples);
	else if (!isnan(row->p))
		snprintf(evidence, sizeof(evidence), " (p %s)", p);
	if (!isnan(gain))
		snprintf(faster, sizeof(faster), ": %.1f %% %s", fabs(gain),
			 gain < 0 ? "slower by now" : "faster");
	snprintf(auto_arm, sizeof(auto_arm), "%s", nt_arm_name(row->auto_arm));
	snprintf(said->says, sizeof(said->says), "%s in place of NCCL's %s%s%s.",
		 nt_arm_name(row->arm), auto_arm, faster, evidence);
}

/* Before a reason for it. */
static void add_chosen(struct nt_said *said, const struct nt_row *row)
{
	char rest[sizeof(said->says)];

	memcpy(rest, said->says, sizeof(rest));
	say_chosen(said, row);
	add(said->says, sizeof(said->says), " ");
	add(said->says, sizeof(said->says), rest);
}

int nt_row_reason(const struct nt_row *row)
{
	if (row->reason != NT_REASON_NONE || nt_row_is_tuned(row))
		return row->reason;
	if (nt_row_is(row, NT_KEYSTATE_EXPLORING))
		return NT_REASON_UNFINISHED;
	return nt_row_is(row, NT_KEYSTATE_OBSERVED) ? NT_REASON_OBSERVED : NT_REASON_NONE;
}

static void say_open(struct nt_said *said, const struct nt_row *row)
{
	char auto_arm[NT_ARM_TEXT], other[NT_ARM_TEXT] = "";
	struct nt_reason_facts facts = { auto_arm, other, nt_row_gain(row), row->p };
	int reason = nt_row_reason(row);

	snprintf(auto_arm, sizeof(auto_arm), "%s", nt_arm_name(row->auto_arm));
	if (row->auto_arm == NT_ARM_AUTO)
		auto_arm[0] = '\0'; /* not known */
	if (nt_arm_valid(row->best_arm) && row->best_arm != NT_ARM_AUTO)
		snprintf(other, sizeof(other), "%s", nt_arm_name(row->best_arm));
	nt_reason_say(said, reason, reason == NT_REASON_NONE ? "no reason" : NULL, &facts);
	if (auto_arm[0] && !strstr(said->says, auto_arm)) {
		char rest[sizeof(said->says)];

		memcpy(rest, said->says, sizeof(rest));
		snprintf(said->says, sizeof(said->says), "NCCL's choice is %s.%s%.400s", auto_arm,
			 rest[0] ? " " : "", rest);
	}
}

void nt_row_say(struct nt_said *said, const struct nt_row *row)
{
	if (!nt_row_is_tuned(row)) {
		say_open(said, row);
	} else if (row->reason == NT_REASON_NONE) {
		*said = (struct nt_said){ .reason = NT_REASON_NONE };
		say_chosen(said, row);
	} else {
		nt_reason_say(said, row->reason, NULL, NULL);
		add_chosen(said, row);
	}
	/* Any other reason says it, or has nothing to do with it. */
	if (nt_reason_about(nt_row_reason(row)) == NT_ABOUT_NOTHING && isnan(row->auto_us) &&
	    isnan(row->auto_own_us))
		add(said->says, sizeof(said->says),
		    " None of its calls could be timed: they were in CUDA graphs, or too few.");
	add_rechecks(said, row);
}
