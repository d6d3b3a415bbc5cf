/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* dumps.h - NCCL's topology files, written in a communicator's init
 *
 * To NCCL_GRAPH_DUMP_FILE and NCCL_TOPO_DUMP_FILE, by the rank of NCCL_..._DUMP_FILE_RANK, in the
 * form of src/graph/xml.cc and search.cc@v2.28.9-1: a node with a GPU for each of the
 * communicator's ranks there, 18 NVLinks each through switches, and a NIC of 400 Gbit/s each; a
 * poor node has half the NICs, half as fast, and 16 NVLinks.
 *
 * Threads:  the rank's own.
 * Errors:   none: a file that cannot be opened is reported in NCCL's log.
 */
#ifndef NT_FAKE_DUMPS_H
#define NT_FAKE_DUMPS_H

#include "tests/fake/fake.h"

/* members, ranks: of the communicator, ranks of the job. */
void nt_fake_dump(const struct nt_comm *c, const unsigned *members, unsigned ranks);

#endif
