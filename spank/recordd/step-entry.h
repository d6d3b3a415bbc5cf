/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* step-entry.h - what a step showed, as an entry for the user's memory
 *
 * The rank records of the step's first node are summed up already (sum.h): a communicator that
 * several ranks tell of counts once. Here communicators of one shape become one: their calls are
 * those of an average rank of the node; the times are those of the communicator with the firmest
 * decision and the most calls. Keys without times say how often they are called, no more.
 *
 * Evidence must be what it says it is, so none is made where
 *   the tasks are not spread evenly over the nodes: its place would be another's;
 *   the hardware of all nodes was not seen to be the same: the largest communicators' cards tell;
 *   the launch profile was set in part or not in all ranks, or NCCL_ALGO or NCCL_PROTO is the
 *   user's: the times are of something else.
 * How the step was ended does not matter: what was measured until then is as true, its samples are
 * counted, and a marker of a few periods decides nothing. But a step whose tasks failed is no
 * evidence for a profile, nor is any part of a calibration that did; and wrong results that a
 * calibration has found are remembered for good.
 *
 * A profile leaves an entry without keys if NCCL has started and not a single call was told of: the
 * step may have failed for it.
 *
 * Threads:  pure.
 * Memory:   the entry owns its keys: nt_entry_fini().
 * Errors:   -1 and *err set if memory runs out.
 * Units:    microseconds since 1970.
 */
#ifndef NT_STEP_ENTRY_H
#define NT_STEP_ENTRY_H

#include "profiles/entry.h"
#include "profiles/ticket.h"
#include "spank/arguments.h"
#include "record/sum.h"

#define NT_LEARN_WHY 96

/* 1: entry is to be remembered, but for its id; 0: it is not. why says in words what spoke against
 * evidence, "" if nothing did. */
int nt_learn(const struct nt_sum *sum, const struct nt_arguments *arguments,
	     const struct nt_ticket *ticket, int64_t now_us, struct nt_memory_entry *entry,
	     char why[NT_LEARN_WHY], struct nt_error *err);

/* Where the step was, if what it shows is evidence. */
bool nt_learn_where(const struct nt_sum *sum, const struct nt_arguments *arguments,
		    const struct nt_ticket *ticket, struct nt_where *where);

#endif
