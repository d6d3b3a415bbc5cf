/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* step-entry.h - a step's measurements as an entry for the user's memory
 *
 * The rank records of the step's first node are already summed up (sum.h): a communicator in
 * several ranks' records counts once. Here communicators of one shape are combined: their calls are
 * those of an average rank of the node; the times are those of the communicator with the firmest
 * decision and the most calls. Keys without times only have numbers of calls.
 *
 * The place is that of the largest communicator. No evidence is made if it could be misleading: the
 * tasks or ranks are not spread evenly over the nodes; neither the largest communicators'
 * capabilities nor, if its ranks have not compared these, the memory shows that the hardware of all
 * nodes is the same; the launch profile was set in part or not in all ranks, or the user has set
 * NCCL_ALGO or NCCL_PROTO, so the times are of something else. It does not matter how the step
 * ended: measurements until then are valid, their samples are counted, and a marker with few
 * periods decides nothing. But a step whose tasks failed is no evidence for a profile.
 *
 * For a profile, an entry without keys is made if NCCL has started and no call was recorded: the
 * step may have failed because of it.
 *
 * Threads:  pure.
 * Memory:   the entry owns its keys: nt_entry_fini().
 * Errors:   -1 and *err set if memory runs out.
 * Units:    microseconds since 1970.
 */
#ifndef NT_STEP_ENTRY_H
#define NT_STEP_ENTRY_H

#include "launch/entry.h"
#include "launch/ticket.h"
#include "spank/arguments.h"
#include "record/sum.h"

#define NT_LEARN_WHY 96

/* 1: store entry, which has no id yet; 0: there is nothing to store. why: the reason why it is no
 * evidence, or "". remembered: the memory has the step's hardware for each of its hosts. */
int nt_step_entry_make(const struct nt_sum *sum, const struct nt_arguments *arguments,
		       const struct nt_ticket *ticket, bool remembered, int64_t now_us,
		       struct nt_memory_entry *entry, char why[NT_LEARN_WHY], struct nt_error *err);

/* Have its ranks compared the hardware of all its nodes, and is it the same? */
bool nt_ranks_alike(const struct nt_sum *sum, uint32_t nodes);

/* The step's place. NULL; or why its measurements are no evidence. */
const char *nt_step_entry_where(const struct nt_sum *sum, const struct nt_arguments *arguments,
				const struct nt_ticket *ticket, bool remembered,
				struct nt_where *where);

#endif
