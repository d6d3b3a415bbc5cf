/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* csv.h - remembered arms in the form that NVIDIA's example tuner reads
 *
 *   collective,minBytes,maxBytes,algorithm,protocol,channels,nNodes,nRanks[,numPipeOps[,regBuff]]
 *
 * Of these, nNodes and nRanks are a communicator's.
 * in lower case, -1 for any, '#' before comments, the first line that fits wins, lines of at most
 * 255 characters. Chunk sizes have no column there and are left out.
 *
 * Threads:  pure but for the stream.
 * Memory:   as launch/memory.h.
 * Errors:   -1 and *err with the line and what is accepted.
 */
#ifndef NT_LAUNCH_CSV_H
#define NT_LAUNCH_CSV_H

#include "launch/memory.h"

#define NT_CSV_BYTES (256 * 1024)
#define NT_CSV_LINES 4096

/* The newest arm of each key at this place under a profile; AUTO is left out, since a file says
 * nothing of it. Each line spans its size band. */
int nt_csv_print(const struct nt_memory *memory, const struct nt_where *where, const char *profile,
		 FILE *out, struct nt_error *err);

/* Adds an entry of origin "import", without times: arms to be confirmed. A communicator that fits
 * into where is one of where's; for a larger one, an entry is added for the place that it fills.
 * -1 columns: all of where's ranks; numPipeOps and regBuff must be -1 or are ignored. */
int nt_csv_read(struct nt_memory *memory, const char *text, size_t bytes,
		const struct nt_where *where, const char *profile, int64_t now_s,
		struct nt_error *err);

#endif
