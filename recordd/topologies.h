/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* topologies.h - lines of the long form from NCCL's topology dumps (topology.h)
 *
 * Runs in a process with the user's rights only, as collect.h does.
 *
 * Threads:  one process of its own.
 * Memory:   nt_topologies_fini frees the texts.
 * Errors:   none; the text has the reason if a dump cannot be used.
 */
#ifndef NT_TOPOLOGIES_H
#define NT_TOPOLOGIES_H

#include <stddef.h>
#include "recordd/collect.h"

#define NT_TOPOLOGIES_MAX 16 /* communicators; those with most ranks */

struct nt_topologies {
	char *text[NT_TOPOLOGIES_MAX]; /* of "topology" lines (record/topology.h) */
	size_t count;
};

/* Of the items that are dumps. */
void nt_topologies_read(struct nt_topologies *topologies, const struct nt_collected *items,
			size_t count);
void nt_topologies_fini(struct nt_topologies *topologies);

#endif
