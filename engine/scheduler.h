/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.h - which key of a node is explored next
 *
 * The one that takes the most time: calls times time. Keys of two communicators that would disturb
 * each other's measurements are explored one after the other: the time from start to start of one
 * includes all that the program does in between, so changing arms there add noise of tens of
 * percent. They do if they have a GPU in common, or both span nodes and share the network, and if
 * the waiting key is called about as often as the other or less. A key that is called once a step
 * affects one time in hundreds of the keys in between, and would delay them for minutes.
 *
 * Communicators of one shape without a common GPU, such as data-parallel groups, do not wait for
 * each other: they are explored together (pmix-sync/coordinator.c).
 *
 * All nodes see about the same calls, so coordinators mostly find the same order. Nobody waits
 * forever: a key that is no longer called may stay open.
 *
 * Threads:  pure functions.
 * Errors:   none.
 */
#ifndef NT_SCHEDULER_H
#define NT_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>
#include "contract/policy.h"

/* A key that may be explored. */
struct nt_scheduled {
	uint64_t comm, key; /* ids */
	uint32_t ranks, nodes; /* of the communicator */
	uint64_t calls;
	double us; /* of one rank; 0: not known */
	bool open; /* being explored */
	bool ready; /* it may be opened at the next check */
};

/* Does a come first? By time in powers of four, then more ranks, then smaller ids. */
bool nt_scheduler_before(const struct nt_scheduled *a, const struct nt_scheduled *b);

/* Must `self` wait for `other`, of another communicator? shared: they have a GPU in common.
 * other->ready matters only if `other` comes first. */
bool nt_scheduler_waits(const struct nt_scheduled *self, const struct nt_scheduled *other,
			bool shared);

/* Has a key with so many calls waited long enough? age_us: of the program; 0: not known. */
bool nt_scheduler_waited(const struct nt_policy *policy, uint64_t calls, double age_us);

#endif
