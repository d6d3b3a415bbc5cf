/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* patience.c - see patience.h */
#include "engine/patience.h"

#include <limits.h>
#include <math.h>

#define LATE_PART 3
/* The next round takes longer beside its calls than those before: nodes look at each other the more
 * rarely the longer they have. */
#define LONGER 2

static double whole_us(const struct nt_known *known)
{
	return fmax(NT_PATIENCE_US, NT_PATIENCE_STEPS * known->step_us);
}

/* From now on. */
static double left_us(const struct nt_case *seen)
{
	const double until_us = fmax(whole_us(&seen->known),
				     seen->opened_us + whole_us(&seen->known) / LATE_PART);

	return until_us - seen->known.age_us;
}

/* What a round took beside its calls so far: until all nodes had agreed, and had told its times.
 * The key's opening counts as one more. */
static double between_us(const struct nt_case *seen, double call_us)
{
	const double passed_us = seen->known.age_us - seen->opened_us;
	unsigned rounds = 1;

	for (unsigned kind = 0; kind < NT_SCHEDULE_KINDS; kind++)
		rounds += seen->rounds[kind];
	return fmax(0, passed_us - seen->spent.calls * call_us) / rounds;
}

static bool limited(const struct nt_policy *policy, const struct nt_known *known)
{
	return policy->mode != NT_MODE_PROFILE && known->age_us > 0 && known->calls > 0;
}

static double period_us(const struct nt_known *known)
{
	return known->age_us / (double)known->calls;
}

bool nt_patience_presses(const struct nt_policy *policy, const struct nt_known *known)
{
	return limited(policy, known) &&
	       whole_us(known) - known->age_us < NT_PATIENCE_CALLS * period_us(known);
}

unsigned nt_patience_blocks(const struct nt_case *seen, unsigned arms)
{
	const double call_us = period_us(&seen->known);
	double blocks;

	if (seen->rechecks || !limited(seen->policy, &seen->known) || seen->spent.calls == 0)
		return UINT_MAX;
	blocks = (left_us(seen) - LONGER * between_us(seen, call_us)) / (call_us * arms);
	return blocks <= 0 ? 0 : blocks < UINT8_MAX ? (unsigned)blocks : UINT_MAX;
}
