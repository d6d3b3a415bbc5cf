/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* facts-net.h - facts on the node's network, and which of it this process uses (facts.h)
 *
 * Threads:  the helper thread.
 * Memory:   the caller's.
 */
#ifndef NT_TUNER_FACTS_NET_H
#define NT_TUNER_FACTS_NET_H

#include <stdbool.h>
#include <stddef.h>
#include "record/rank.h"

/* Ports, links and how the driver reaches ports. root, nodes: as facts.h has them */
void nt_facts_look_at_net(struct nt_facts *facts, const char *root, unsigned nodes);

/* The first line of a file below root, without its end. False: there is none. */
bool nt_facts_line(const char *root, const char *path, char *line, size_t line_bytes);

#endif
