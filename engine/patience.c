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

/* From now on. */
static double left_us(const struct nt_case *seen)
{
	const double whole_us = fmax(NT_PATIENCE_US, NT_PATIENCE_STEPS * seen->known.step_us);
	const double until_us = fmax(whole_us, seen->opened_us + whole_us / LATE_PART);

	return until_us - seen->known.age_us;
}

/* What a round took beside its calls so far: until all nodes had agreed, and had told its times.
 * The key's opening counts as one more. */
static double between_us(const struct nt_case *seen, double period_us)
{
	const double passed_us = seen->known.age_us - seen->opened_us;
	unsigned rounds = 1;

	for (unsigned kind = 0; kind < NT_SCHEDULE_KINDS; kind++)
		rounds += seen->rounds[kind];
	return fmax(0, passed_us - seen->spent.calls * period_us) / rounds;
}

unsigned nt_patience_blocks(const struct nt_case *seen, unsigned arms)
{
	double period_us, blocks;

	if (seen->rechecks || seen->policy->mode == NT_MODE_PROFILE || seen->known.age_us <= 0 ||
	    seen->known.calls == 0 || seen->spent.calls == 0)
		return UINT_MAX;
	period_us = seen->known.age_us / (double)seen->known.calls;
	blocks = (left_us(seen) - LONGER * between_us(seen, period_us)) / (period_us * arms);
	return blocks <= 0 ? 0 : blocks < UINT8_MAX ? (unsigned)blocks : UINT_MAX;
}
