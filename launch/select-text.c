/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/select-text.h"

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

const char *nt_choice_from(const struct nt_launch_choice *choice,
			   const struct nt_launch_case *launch, char *out, size_t out_bytes)
{
	char day[16];

	if (choice->why == NT_WHY_GAIN)
		snprintf(out, out_bytes, "calibrated %s on %" PRIu32 " x %" PRIu32,
			 day_of(choice->chosen->when_s, day, sizeof(day)), launch->where.nodes,
			 launch->where.per_node);
	else
		snprintf(out, out_bytes, "%s", nt_why_text(choice->why));
	return out;
}

double nt_choice_expected(const struct nt_launch_choice *choice)
{
	const struct nt_candidate *chosen = choice->chosen;

	return chosen && chosen->known ? 1 / chosen->ratio : 0;
}

const char *nt_choice_text(const struct nt_launch_choice *choice,
			   const struct nt_launch_case *launch, char *out, size_t out_bytes)
{
	const double expected = nt_choice_expected(choice);
	char from[128], gain[64] = "";

	if (expected > 0)
		snprintf(gain, sizeof(gain), ": %s %.2f x%s",
			 choice->mix_known ? "this program's calls" : "all sizes alike", expected,
			 choice->chosen->measured < 0.995 ? ", partly estimated" : "");
	snprintf(out, out_bytes, "launch profile %s (%s%s)", choice->profile,
		 nt_choice_from(choice, launch, from, sizeof(from)), gain);
	return out;
}
