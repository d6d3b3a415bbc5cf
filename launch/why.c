/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A choice in words. */
#include "launch/why.h"

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

static const char *source_text(const struct nt_weighed *chosen)
{
	if (chosen->weight.calibrated)
		return "calibrated";
	if (chosen->level == NT_LEVEL_JOB)
		return "measured in this job";
	return chosen->level == NT_LEVEL_USER ? "remembered" : "the site's, measured";
}

/* Evidence on the mix is why it is used. */
static bool by_mix(const struct nt_launch_choice *choice)
{
	return choice->chosen != NULL && !choice->candidate && choice->why != NT_WHY_FELT &&
	       choice->why != NT_WHY_ASKED;
}

const char *nt_choice_from(const struct nt_launch_choice *choice,
			   const struct nt_launch_case *launch, char *out, size_t out_bytes)
{
	char day[16];

	if (by_mix(choice))
		snprintf(out, out_bytes, "%s %s on %" PRIu32 " x %" PRIu32,
			 source_text(choice->chosen),
			 day_of(choice->chosen->weight.newest_s, day, sizeof(day)),
			 launch->where.nodes, launch->where.per_node);
	else if (choice->chosen != NULL && choice->why == NT_WHY_TRY)
		snprintf(out, out_bytes, "a candidate: %s", nt_why_text(choice->why));
	else
		snprintf(out, out_bytes, "%s", nt_why_text(choice->why));
	return out;
}

/* What is expected of it, to be put behind where it comes from. */
static void expectation(const struct nt_launch_choice *choice, char *out, size_t out_bytes)
{
	const struct nt_weighed *chosen = choice->chosen;

	out[0] = '\0';
	if (chosen == NULL)
		return;
	if (choice->why == NT_WHY_FELT)
		snprintf(out, out_bytes, ": %.2f x",
			 1 / (chosen->felt.felt == NT_FELT_FASTER ? chosen->felt.ratio
								  : chosen->standing.last.ratio));
	else if (choice->why == NT_WHY_TRY)
		snprintf(out, out_bytes, "; %u more to try", choice->next_count - 1);
	else if (chosen->weight.known)
		snprintf(out, out_bytes, ": %s %.2f x%s",
			 choice->mix_known ? "this job's mix" : "all sizes alike",
			 1 / chosen->weight.ratio,
			 chosen->weight.estimated > 0.005 ? ", partly estimated" : "");
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

static void print_weighed(const struct nt_weighed *weighed, FILE *out)
{
	const struct nt_weight *weight = &weighed->weight;

	fprintf(out, "%-32s ", weighed->profile->name);
	if (weight->known)
		fprintf(out, "%6.2f x  p %.4f  measured %3.0f %%  estimated %3.0f %%",
			1 / weight->ratio, weight->p, 100 * weight->measured,
			100 * weight->estimated);
	else
		fprintf(out, "%6s    p %6s  measured %3s    estimated %3s  ", "-", "-", "-", "-");
	fprintf(out, "  %-11s  %s\n", nt_trust_name((int)weighed->standing.trust),
		nt_why_text((int)weighed->why));
}

void nt_choice_print(const struct nt_launch_choice *choice, FILE *out)
{
	for (unsigned i = 0; i < choice->count; i++)
		print_weighed(&choice->weighed[i], out);
}
