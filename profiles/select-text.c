/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiles/select-text.h"

#include <inttypes.h>
#include <time.h>

static const char *day_of(int64_t when_s, char *out, size_t out_bytes)
{
	time_t when = (time_t)when_s;
	struct tm day;

	if (gmtime_r(&when, &day) == NULL || strftime(out, out_bytes, "%Y-%m-%d", &day) == 0)
		snprintf(out, out_bytes, "?");
	return out;
}

static const char *source_text(const struct nt_candidate *chosen)
{
	if (chosen->cost.calibrated)
		return "calibrated";
	if (chosen->level == NT_LEVEL_JOB)
		return "measured in this job";
	return chosen->level == NT_LEVEL_USER ? "remembered" : "measured at this site";
}

/* It is used because of evidence on the mix. */
static bool by_mix(const struct nt_launch_choice *choice)
{
	return choice->chosen != NULL && choice->why != NT_WHY_STEPS_FASTER &&
	       choice->why != NT_WHY_ASKED;
}

const char *nt_choice_from(const struct nt_launch_choice *choice,
			   const struct nt_launch_case *launch, char *out, size_t out_bytes)
{
	char day[16];

	if (by_mix(choice))
		snprintf(out, out_bytes, "%s %s on %" PRIu32 " x %" PRIu32,
			 source_text(choice->chosen),
			 day_of(choice->chosen->cost.newest_s, day, sizeof(day)),
			 launch->where.nodes, launch->where.per_node);
	else
		snprintf(out, out_bytes, "%s", nt_why_text(choice->why));
	return out;
}

double nt_choice_expected(const struct nt_launch_choice *choice)
{
	const struct nt_candidate *chosen = choice->chosen;

	if (chosen == NULL)
		return 0;
	if (choice->why == NT_WHY_STEPS_FASTER)
		return 1 / (chosen->step_test.verdict == NT_STEPS_FASTER
				    ? chosen->step_test.ratio
				    : chosen->trust.test.ratio);
	return chosen->cost.known ? 1 / chosen->cost.ratio : 0;
}

/* The expected gain, to follow the source. */
static void expectation(const struct nt_launch_choice *choice, char *out, size_t out_bytes)
{
	const double expected = nt_choice_expected(choice);

	out[0] = '\0';
	if (expected > 0 && choice->why == NT_WHY_STEPS_FASTER)
		snprintf(out, out_bytes, ": %.2f x", expected);
	else if (expected > 0)
		snprintf(out, out_bytes, ": %s %.2f x%s",
			 choice->mix_known ? "this job's mix" : "all sizes alike", expected,
			 choice->chosen->cost.estimated > 0.005 ? ", partly estimated" : "");
}

const char *nt_choice_text(const struct nt_launch_choice *choice,
			   const struct nt_launch_case *launch, char *out, size_t out_bytes)
{
	char from[128], expected[96];

	expectation(choice, expected, sizeof(expected));
	snprintf(out, out_bytes, "launch profile %s (%s%s)", choice->profile,
		 nt_choice_from(choice, launch, from, sizeof(from)), expected);
	return out;
}
