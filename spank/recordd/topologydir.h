/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* topologydir.h - what NCCL has written of its topology into a step's directory (topology.h)
 *
 * Runs in a process that has the user's rights and no others, as collect.h does.
 *
 * Threads:  one process of its own.
 * Memory:   nt_topologies_fini frees the texts.
 * Errors:   none; what cannot be used says so in its text.
 */
#ifndef NT_TOPOLOGYDIR_H
#define NT_TOPOLOGYDIR_H

#include <stddef.h>

#define NT_TOPOLOGIES_MAX 16 /* communicators; those with most ranks */

struct nt_topologies {
	char *text[NT_TOPOLOGIES_MAX]; /* values of lines "topology" (record/topology.h) */
	size_t count;
};

void nt_topologies_read(struct nt_topologies *topologies, const char *directory);
void nt_topologies_fini(struct nt_topologies *topologies);

#endif
