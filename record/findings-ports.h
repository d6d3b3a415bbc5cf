/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* findings-ports.h - findings on a node whose ports, GPUs or driver are not as the others': ports
 *
 * Threads:  pure functions, any thread.
 */
#ifndef NT_FINDINGS_PORTS_H
#define NT_FINDINGS_PORTS_H

#include <stdbool.h>
#include "record/findings-list.h"

struct nt_port_seen {
	char name[48]; /* "mlx5_0/1" */
	char state[20], kind[4];
	double gbits;
	char mtu[8], gids[8], firmware[20]; /* "" or "0": not known */
};

/* The next of nt_facts.ports; *ports moves behind it. False: there is none, or what is there is
 * malformed. */
bool nt_port_next(const char **ports, struct nt_port_seen *port);
bool nt_port_active(const struct nt_port_seen *port);

void nt_findings_judge_ports(struct nt_findings *findings, const struct nt_findings_nodes *nodes);

#endif
