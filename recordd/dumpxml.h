/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* dumpxml.h - read NCCL's topology files (NCCL_GRAPH_DUMP_FILE, NCCL_TOPO_DUMP_FILE)
 *
 * Runs in a process with the user's rights only. The files are in a directory of the user, and
 * nothing in them is trusted: no document type is accepted, and so no entity; elements, depth and
 * every number are bounded. Unknown elements and attributes are skipped (src/graph/xml.cc,
 * src/graph/search.cc:896 @v2.28.9-1; 2.30.7 adds ranks to graphs).
 *
 * Threads:  pure functions, any thread.
 * Memory:   values.
 * Errors:   -1 and *err; what was read before it is kept.
 */
#ifndef NT_DUMPXML_H
#define NT_DUMPXML_H

#include <stddef.h>
#include "lib/error.h"
#include "record/topology.h"

#define NT_DUMP_BYTES ((size_t)1 << 20) /* of a file; one of 8 GPUs and 64 channels has 150 KiB */
#define NT_DUMP_ELEMENTS 32768
#define NT_DUMP_DEPTH 32

/* Add its graphs, or the node's GPUs and NICs. */
int nt_dump_read_graphs(struct nt_topology *topology, const char *text, size_t bytes,
			struct nt_error *err);
int nt_dump_read_system(struct nt_topology *topology, const char *text, size_t bytes,
			struct nt_error *err);

#endif
