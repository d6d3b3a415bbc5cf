/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "contract/coll.h"
#include "lib/append.h"
#include "lib/plural.h"
#include "launch/select-reason.h"

/* "COLLNET_DIRECT" as "CollNet Direct"; "LL128" stays. */
static const char *word_of(const char *name)
{
	static const struct {
		const char *name, *word;
	} words[] = {
		{ "TREE", "Tree" },
		{ "RING", "Ring" },
		{ "COLLNET_DIRECT", "CollNet Direct" },
		{ "NVLS_TREE", "NVLS Tree" },
		{ "SIMPLE", "Simple" },
		{ "COLLNET_CHAIN", "CollNet Chain" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].name, name) == 0)
			return words[i].word;
	}
	return name;
}

const char *nt_arm_words(int arm, char *out, size_t out_bytes)
{
	const int pair = nt_arm_pair(arm);

	out[0] = '\0';
	if (arm == NT_ARM_BASELINE) {
		nt_append(out, out_bytes, "NCCL's choice");
		return out;
	}
	if (!nt_arm_valid(arm))
		return out;
	nt_append(out, out_bytes, "%s/%s", word_of(nt_algo_name(pair / NT_PROTOS)),
		  word_of(nt_proto_name(pair % NT_PROTOS)));
	if (nt_arm_channels(arm) > 0)
		nt_append(out, out_bytes, " with %u channel%s", nt_arm_channels(arm),
			  nt_plural(nt_arm_channels(arm)));
	return out;
}

const char *nt_family_words(const struct nt_family *family, char *out, size_t out_bytes)
{
	char name[NT_COMM_NAME + 4] = "";

	if (family->name[0])
		snprintf(name, sizeof(name), " (%s)", family->name);
	if (family->nodes == 1)
		snprintf(out, out_bytes, "the %" PRIu32 " ranks of one node%s", family->ranks,
			 name);
	else if (family->nodes == family->ranks)
		snprintf(out, out_bytes,
			 "the %" PRIu32 " ranks, one on each of %" PRIu32 " nodes%s", family->ranks,
			 family->nodes, name);
	else
		snprintf(out, out_bytes, "the %" PRIu32 " ranks across %" PRIu32 " nodes%s",
			 family->ranks, family->nodes, name);
	return out;
}

const char *nt_family_looks(const struct nt_family *family, char *out, size_t out_bytes)
{
	const char *like = nt_parallel_name((int)family->parallel);

	out[0] = '\0';
	/* The shape shows that it has all ranks. */
	if (like[0] && family->parallel != NT_PARALLEL_WORLD)
		snprintf(out, out_bytes, ", probably %s parallel", like);
	return out;
}

const char *nt_speed_text(double ratio, char *out, size_t out_bytes)
{
	const double percent = 100 * (ratio - 1);

	if (ratio >= 1.5)
		snprintf(out, out_bytes, "%.2f times as fast", ratio);
	else if (fabs(percent) < 0.5)
		snprintf(out, out_bytes, "as fast");
	else
		snprintf(out, out_bytes, "%.0f %% %s", fabs(percent),
			 percent > 0 ? "faster" : "slower");
	return out;
}

const char *nt_clock_words(double at_s, char out[NT_CLOCK_MAX])
{
	const time_t at = (time_t)at_s;
	struct tm local;

	out[0] = '\0';
	if (at_s > 0 && localtime_r(&at, &local))
		(void)strftime(out, NT_CLOCK_MAX, "%H:%M:%S", &local);
	return out;
}

const char *nt_launch_from(const char *from, char *out, size_t out_bytes)
{
	const int why = nt_why_parse(from);

	snprintf(out, out_bytes, "%s", why < 0 ? from : nt_why_text(why));
	return out;
}
