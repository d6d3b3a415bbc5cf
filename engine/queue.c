/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c - see queue.h */
#include "engine/queue.h"

#define PATIENCE 40 /* times min_calls */

bool nt_queue_before(const struct nt_queued *a, const struct nt_queued *b)
{
	return a->ranks != b->ranks ? a->ranks > b->ranks : a->id < b->id;
}

bool nt_queue_waits(const struct nt_queued *self, const struct nt_queued *other)
{
	return other->open || (other->ready && nt_queue_before(other, self));
}

bool nt_queue_waited(const struct nt_policy *policy, uint64_t calls)
{
	return calls >= PATIENCE * (uint64_t)policy->min_calls;
}
