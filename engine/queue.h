/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h - which key of a node is explored first
 *
 * The one that is worth most: calls times time. And where keys of two communicators would be in
 * each other's times, one after the other. From start to start of a communicator all that its
 * program does in between goes by, so that arms which come and go there are noise of tens of
 * percent. That is so where the two have a GPU in common, or nodes beside this one, whose
 * network they share; and where the one that waits is called about as often as the other, or more
 * rarely: a key that is called once a step is in one time of hundreds of the keys that are called
 * in between, and would hold them for minutes.
 *
 * Communicators of one shape without a common GPU, as the data-parallel groups of a job, do not
 * wait for each other: they are explored together (pmix-sync/alike.h).
 *
 * What is called is seen alike on all nodes, so that homes mostly come to the same order. Nobody
 * waits for ever: a key that is called no more may stay open.
 *
 * Threads:  pure functions.
 * Errors:   none.
 */
#ifndef NT_QUEUE_H
#define NT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include "contract/policy.h"

/* A key in the queue. */
struct nt_queued {
	uint64_t comm, key; /* ids */
	uint32_t ranks, nodes; /* of the communicator */
	uint64_t calls;
	double us; /* of one rank: calls times time; 0: not known */
	bool open; /* it is being explored */
	bool ready; /* it will be, at the next look */
};

/* Does a come first? By powers of four of what they are worth, the more ranks, the smaller ids. */
bool nt_queue_before(const struct nt_queued *a, const struct nt_queued *b);

/* Must `self` wait for `other`, of another communicator? shared: a GPU is in both.
 * other->ready counts only where `other` comes before. */
bool nt_queue_waits(const struct nt_queued *self, const struct nt_queued *other, bool shared);

/* Has a key that was called so often waited long enough? age_us: of the program; 0: not known. */
bool nt_queue_waited(const struct nt_policy *policy, uint64_t calls, double age_us);

#endif
