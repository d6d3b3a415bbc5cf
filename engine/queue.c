/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c - see queue.h */
#include "engine/queue.h"

#include <math.h>

#define PATIENCE 40 /* times min_calls */
#define PATIENCE_US 10e6 /* at least: nodes take seconds to agree, however often a key is called */
#define RARE 4 /* times fewer calls: is waited for by nobody */

/* In powers of four: nodes that read counts at different times see the same. */
static int level(double us)
{
	return us > 0 && isfinite(us) ? ilogb(us) >> 1 : INT32_MIN;
}

bool nt_queue_before(const struct nt_queued *a, const struct nt_queued *b)
{
	const int a_level = level(a->us), b_level = level(b->us);

	if (a_level != b_level)
		return a_level > b_level;
	if (a->ranks != b->ranks)
		return a->ranks > b->ranks;
	return a->comm != b->comm ? a->comm < b->comm : a->key < b->key;
}

/* Would the one's arms be in the other's times? */
static bool disturbs(const struct nt_queued *a, const struct nt_queued *b, bool shared)
{
	const bool alike = a->ranks == b->ranks && a->nodes == b->nodes;

	return shared || (!alike && a->nodes > 1 && b->nodes > 1);
}

bool nt_queue_waits(const struct nt_queued *self, const struct nt_queued *other, bool shared)
{
	return disturbs(self, other, shared) && other->calls * RARE >= self->calls &&
	       (other->open || (other->ready && nt_queue_before(other, self)));
}

bool nt_queue_waited(const struct nt_policy *policy, uint64_t calls, double age_us)
{
	return calls >= PATIENCE * (uint64_t)policy->min_calls &&
	       (age_us <= 0 || age_us >= PATIENCE_US);
}
