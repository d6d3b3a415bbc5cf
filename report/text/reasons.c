/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/reasons.h"

#include <math.h>
#include <stdio.h>

static void say_reason(struct nt_said *said, const struct nt_reason *why,
		       const struct nt_reason_fact *facts, size_t count)
{
	said->reason = why->id;
	nt_reason_say(why, facts, count, said->says, sizeof(said->says));
	snprintf(said->type, sizeof(said->type), "%s", nt_reason_advice(why->id));
}

void nt_said_why(struct nt_said *said, const struct nt_reason *why)
{
	say_reason(said, why, NULL, 0);
}

void nt_said_key(struct nt_said *said, int reason, const struct nt_reason_facts *facts)
{
	char auto_arm[64] = "", gain[32] = "", p[32] = "";
	const struct nt_reason_fact named[] = {
		{ "auto", auto_arm },
		{ "arm", facts && facts->arm ? facts->arm : "" },
		{ "gain", gain },
		{ "p", p },
	};
	struct nt_reason why;

	nt_reason_set(&why, nt_reason_about(reason) == NT_ABOUT_NOTHING ? NT_REASON_NONE : reason);
	if (facts && facts->auto_arm && facts->auto_arm[0])
		snprintf(auto_arm, sizeof(auto_arm), "NCCL's choice (%.40s)", facts->auto_arm);
	if (facts && facts->gain_percent > 0)
		snprintf(gain, sizeof(gain), ", by %.1f %%", facts->gain_percent);
	if (facts && !isnan(facts->p))
		snprintf(p, sizeof(p), " (p %.2g)", facts->p);
	say_reason(said, &why, named, sizeof(named) / sizeof(named[0]));
	said->reason = reason;
}
