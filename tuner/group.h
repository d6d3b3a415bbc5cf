/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - which decisions of a communicator are one group's, and what the events of a group that
 *           is over have told
 *
 * Within a group calls come before decisions, and decisions before Coll events: the first decision
 * after a call or a Coll event begins one. Where a group has no events, neither of its calls nor of
 * its tasks, the next loss of events tells (tuner/mask.h).
 *
 * Threads:  the decision thread.
 * Memory:   no allocation, no system call; no lock but the mask's, where somebody else has set it.
 */
#ifndef NT_GROUP_H
#define NT_GROUP_H

#include "tuner/comm.h"

/* A decision comes: if it is the first of its group, the one before is over. Only where some key is
 * open. */
void nt_group_begin(struct nt_comm *comm);

#endif
