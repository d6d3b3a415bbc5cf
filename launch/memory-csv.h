/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* memory-csv.h - remembered arms in the form that NVIDIA's example tuner reads
 *
 *   collective,minBytes,maxBytes,algorithm,protocol,channels,nNodes,nRanks[,numPipeOps[,regBuff]]
 *
 * nNodes and nRanks are a communicator's. Names are in lower case, -1 means any, '#' begins a
 * comment, the first line that fits wins.
 *
 * Threads:  pure except for the stream.
 * Memory:   as launch/memory.h.
 * Errors:   -1 and *err with the line and what is accepted.
 */
#ifndef NT_MEMORY_CSV_H
#define NT_MEMORY_CSV_H

#include "launch/memory.h"

#define NT_CSV_BYTES (256 * 1024)
#define NT_CSV_LINES 4096

/* Write the newest arm of each key at this place with a profile, without AUTO: a line for
 * neighbouring size bands with the same arm. */
int nt_csv_print(const struct nt_memory *memory, const struct nt_where *where, const char *profile,
		 FILE *out, struct nt_error *err);

/* Add an entry of origin "import" without times: arms to be confirmed, a key for each line. A
 * communicator that fits into where belongs to where; for a larger one, an entry is added for the
 * place that it fills. A column of -1 stands for all of where's ranks.
 * Conditions of numPipeOps and regBuff are not known here: the memory's skipped_lines count the
 * lines that have one, and are used without. */
int nt_csv_read(struct nt_memory *memory, const char *text, size_t bytes,
		const struct nt_where *where, const char *profile, int64_t now_us,
		struct nt_error *err);

#endif
