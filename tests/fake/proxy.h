/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* proxy.h - the part of NCCL's proxy progress thread that reports kernel times
 *
 * Threads:  nt_proxy_tell on the GPU thread; the rest on the host thread.
 * Memory:   arguments are copied; the plugin's handle of the Coll event is used later.
 * Host:     src/transport/profiler.cc:21@v2.28.9-1
 */
#ifndef NT_FAKE_PROXY_H
#define NT_FAKE_PROXY_H

#include "tests/fake/fake.h"

struct nt_proxy;

struct nt_proxy *nt_proxy_create(struct nt_rank *r);
void nt_proxy_destroy(struct nt_proxy *p);

/* The task's kernel ran from start_ns to end_ns of this GPU's clock. */
void nt_proxy_tell(struct nt_proxy *p, struct nt_comm *c, const struct nt_task *t,
		   uint64_t start_ns, uint64_t end_ns);
/* The same of a work item with that event's handle. */
void nt_proxy_tell_event(struct nt_proxy *p, struct nt_comm *c, void *event, int channels,
			 uint64_t start_ns, uint64_t end_ns);
void nt_proxy_drain(struct nt_proxy *p);
void nt_proxy_hold(struct nt_proxy *p, bool held);
void nt_proxy_abandon(struct nt_proxy *p); /* drops everything that is not yet reported */

#endif
