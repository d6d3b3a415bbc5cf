/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* findings-net.h - findings on ports, sockets and links of nodes: ports, sockets, interface, gdr
 *
 * seen is sorted by node.
 *
 * Threads:  pure functions, any thread.
 */
#ifndef NT_FINDINGS_NET_H
#define NT_FINDINGS_NET_H

#include <stdbool.h>
#include "record/findings-list.h"

/* Have all nodes an active RDMA port that is faster than what they use? out: the first one's. */
bool nt_findings_better_port(const struct nt_facts_seen *seen, size_t count, int64_t nodes,
			     char out[64]);

void nt_findings_judge_net(struct nt_findings *findings, const struct nt_facts_seen *seen,
			   size_t count, int64_t nodes);

#endif
