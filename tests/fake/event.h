/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - the profiler events of a group, in NCCL's order
 *
 * Threads:  append, end and done on the calling thread; the rest on the thread of the launch or of
 *           its callback; kernel_ch on the proxy thread.
 * Host:     src/plugin/profiler.cc@v2.28.9-1; until 2.27 no Api or KernelLaunch events, and Coll
 *           and P2p events only if the plugin gave a handle for Group (:242, :275@v2.27.7-1).
 */
#ifndef NT_FAKE_EVENT_H
#define NT_FAKE_EVENT_H

#include "tests/fake/fake.h"

/* A task joins the group: reads the mask, GroupApi start at the first one, CollApi start and
 * stop. */
void nt_event_append(struct nt_comm *c, struct nt_task *t, bool captured);
/* The same with a send or receive, and P2pApi. */
void nt_event_append_p2p(struct nt_comm *c, struct nt_p2p_task *t);
void nt_event_group_end(void); /* just before the decisions */
void nt_event_group_done(void);

void nt_event_launch_start(struct nt_plan *p);
void nt_event_launch_stop(struct nt_plan *p);

/* Group and Coll events; counts seq, mask or not. */
void nt_event_tasks_start(struct nt_plan *p);
void nt_event_tasks_stop(struct nt_plan *p);

/* NULL if no event is wanted or the plugin gave no handle. */
void *nt_event_kernel_start(struct nt_comm *c, void *coll_event, int channel, uint64_t start_ns);
void nt_event_kernel_stop(void *event, uint64_t stop_ns);

#endif
