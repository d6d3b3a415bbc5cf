/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - determine which decisions of a communicator form a group, and evaluate the events of a
 * finished group
 *
 * Within a group calls precede decisions, and decisions precede Coll events: the first decision
 * after a call or a Coll event begins a group. A group without any events, of calls or of tasks,
 * shows as the next loss of events (tuner/mask.h).
 *
 * Threads:  the decision thread.
 * Memory:   no allocation, no system call, no lock except the mask's where another party has set
 *           it.
 */
#ifndef NT_GROUP_H
#define NT_GROUP_H

#include "tuner/comm.h"

/* Call at each decision while some key is open. If it is the first of its group, the previous group
 * is over. */
void nt_group_begin(struct nt_comm *comm);

#endif
