/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h - which communicator of a node is explored first
 *
 * A program that uses several communicators in turn, as a group across nodes and one inside, has
 * the time of the one in that of the other: from start to start of a communicator all that the
 * program does in between goes by. Arms that come and go there are noise of tens of percent. So
 * they are explored one after the other, the largest first, which is seen on the boards of all
 * nodes that it is on. Nobody waits for ever: one that is called no more keeps its keys open.
 *
 * Threads:  pure functions.
 * Errors:   none.
 */
#ifndef NT_QUEUE_H
#define NT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include "contract/policy.h"

/* A communicator in the queue. */
struct nt_queued {
	uint64_t id;
	uint32_t ranks;
	bool open; /* a key of it is being explored */
	bool ready; /* a key of it will be, at the next look */
};

bool nt_queue_before(const struct nt_queued *a, const struct nt_queued *b);

/* Must `self` wait for `other`? other->ready counts only where `other` comes before. */
bool nt_queue_waits(const struct nt_queued *self, const struct nt_queued *other);

/* Has a key that was called so often waited long enough? */
bool nt_queue_waited(const struct nt_policy *policy, uint64_t calls);

#endif
