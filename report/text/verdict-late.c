/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences on ranks that others wait for. */
#include "report/text/verdict-maker.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "lib/table.h"
#include "record/lateness.h"
#include "report/text/words.h"

#define ONE "Look at its GPU or its data loading; NCCL cannot help there."
#define NODE "Look at its GPUs, its processors and what else runs there; NCCL cannot help there."
#define SEVERAL                                                                                  \
	"Look at what ranks do besides computing: data loading, checkpoints, other programs on " \
	"their nodes. NCCL cannot help there."
#define ALL "Their computing takes unequal time; NCCL cannot help there."

static bool is(const struct nt_step *step, enum nt_late kind)
{
	return strcmp(step->late, nt_late_name(kind)) == 0;
}

/* "rank 5 on n2", "the ranks on n2" */
static const char *who(const struct nt_step *step, char *out, size_t out_bytes)
{
	if (step->late_rank >= 0)
		snprintf(out, out_bytes, "rank %" PRId64 " on %s", step->late_rank,
			 step->late_node);
	else
		snprintf(out, out_bytes, "the ranks on %s", step->late_node);
	return out;
}

/* " of the 8 ranks of one node (tp)"; "" if the step has no other communicator. */
static const char *of_whom(const struct nt_summary *summary, size_t step, char *out,
			   size_t out_bytes)
{
	const struct nt_comm_seen *comm = nt_summary_latest(summary, step);
	char words[160];

	out[0] = '\0';
	for (size_t i = 0; comm && i < summary->comm_count; i++) {
		if (&summary->comms[i] == comm || summary->comms[i].step != step)
			continue;
		snprintf(out, out_bytes, " of %s",
			 nt_family_words(&summary->families[comm->family], words, sizeof(words)));
		break;
	}
	return out;
}

static void say_one(struct nt_maker *maker, size_t at, const char *prefix)
{
	const struct nt_step *step = &maker->summary->steps[at];
	char name[120], comm[176], us[32], share[80] = "";

	if (!isnan(step->late_cost))
		snprintf(share, sizeof(share), "; that costs %.0f %% of the program's step",
			 100 * step->late_cost);
	else if (!isnan(step->waiting))
		snprintf(share, sizeof(share), "; waiting is %.0f %% of the time in these",
			 100 * step->waiting);
	nt_maker_say(maker, NT_SENTENCE_LATE, step->late_rank >= 0 ? ONE : NODE,
		     "%sOthers %swait for %s%s in %.0f %% of the measured calls, %s each%s.",
		     prefix, is(step, NT_LATE_STEADY) ? "" : "sometimes ",
		     who(step, name, sizeof(name)), of_whom(maker->summary, at, comm, sizeof(comm)),
		     100 * step->late_calls, nt_time_text(step->late_us, us, sizeof(us)), share);
}

static void say_step(struct nt_maker *maker, size_t at)
{
	const struct nt_step *step = &maker->summary->steps[at];
	char prefix[NT_STEP_PREFIX];

	nt_maker_prefix(maker->summary, at, prefix);
	if (step->late_node[0] && !isnan(step->late_calls) && !isnan(step->late_us))
		say_one(maker, at, prefix);
	else if (isnan(step->waiting))
		return;
	else if (is(step, NT_LATE_WANDERS))
		nt_maker_say(
			maker, NT_SENTENCE_LATE, SEVERAL,
			"%sRanks wait %.0f %% of the time in measured calls: for one rank over "
			"many calls, then for another.",
			prefix, 100 * step->waiting);
	else if (is(step, NT_LATE_VARIES))
		nt_maker_say(maker, NT_SENTENCE_LATE, ALL,
			     "%sRanks wait %.0f %% of the time in measured calls, each time for "
			     "another rank.",
			     prefix, 100 * step->waiting);
}

void nt_maker_late(struct nt_maker *maker)
{
	for (size_t i = 0; i < maker->summary->step_count; i++) {
		if (!nt_step_is_calibration(&maker->summary->steps[i]))
			say_step(maker, i);
	}
}
