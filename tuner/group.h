/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - which decisions of a communicator form a group, and what a finished group's events tell
 *
 * Within a group calls come before decisions, and decisions before Coll events: the first decision
 * after a call or a Coll event begins a group. A group without any event, of calls or of tasks,
 * shows as the next loss of events (tuner/mask.h).
 *
 * Threads:  the decision thread.
 * Memory:   no allocation, no system call, no lock except the mask's where another party has set
 *           it.
 */
#ifndef NT_GROUP_H
#define NT_GROUP_H

#include "tuner/comm.h"

/* At each decision while some key is open. The first of its group ends the group before. */
void nt_group_begin(struct nt_comm *comm);

#endif
