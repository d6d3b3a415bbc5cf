/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/scheduler.h"

#include <math.h>

#define PATIENCE 40 /* times min_calls */
/* at least this long: nodes take seconds to agree, however often a key is called */
#define PATIENCE_US 10e6
#define RARE 4 /* a key with so many times fewer calls delays no other */

/* Powers of four: nodes that read counts at different times get the same. */
static int time_level(double us)
{
	return us > 0 && isfinite(us) ? ilogb(us) >> 1 : INT32_MIN;
}

bool nt_scheduler_before(const struct nt_scheduled *a, const struct nt_scheduled *b)
{
	const int a_level = time_level(a->us), b_level = time_level(b->us);

	if (a_level != b_level)
		return a_level > b_level;
	if (a->ranks != b->ranks)
		return a->ranks > b->ranks;
	return a->comm != b->comm ? a->comm < b->comm : a->key < b->key;
}

/* Would the arms of one affect the times of the other? */
static bool disturbs(const struct nt_scheduled *a, const struct nt_scheduled *b, bool shared)
{
	const bool same_shape = a->ranks == b->ranks && a->nodes == b->nodes;

	return shared || (!same_shape && a->nodes > 1 && b->nodes > 1);
}

bool nt_scheduler_waits(const struct nt_scheduled *self, const struct nt_scheduled *other,
			bool shared)
{
	return disturbs(self, other, shared) && other->calls * RARE >= self->calls &&
	       (other->open || (other->ready && nt_scheduler_before(other, self)));
}

bool nt_scheduler_waited(const struct nt_policy *policy, uint64_t calls, double age_us)
{
	return calls >= PATIENCE * (uint64_t)policy->min_calls &&
	       (age_us <= 0 || age_us >= PATIENCE_US);
}
