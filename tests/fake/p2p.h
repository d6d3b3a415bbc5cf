/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* p2p.h - sends and receives of a communicator: all its ranks take part in a call
 *
 * Threads:  as tests/fake/group.c.
 * Host:     p2pTaskAppend, addP2pToPlan, src/enqueue.cc:2370, :786@v2.28.9-1. A pair of a send and
 *           a receive is one work item, whose kernel events have the handle of the receive, if
 *           there is one (:1005).
 */
#ifndef NT_FAKE_P2P_H
#define NT_FAKE_P2P_H

#include "tests/fake/fake.h"

/* One group on each of the communicators: kind is of enum nt_p2p_kind, bytes what a rank sends. */
void nt_p2p_run(struct nt_comm *const *c, unsigned comms, int kind, uint64_t bytes);

/* The call's time. */
uint64_t nt_p2p_duration_ns(int kind, uint64_t bytes);

#endif
