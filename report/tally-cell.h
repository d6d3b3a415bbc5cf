/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* tally-cell.h - cells of a summary's tables (table.h), in as many columns as there are for them
 *
 * Threads:  pure functions.
 * Memory:   the caller's, NT_CELL_MAX bytes.
 */
#ifndef NT_TALLY_CELL_H
#define NT_TALLY_CELL_H

#include <stddef.h>
#include <stdint.h>

/* As much of a name as there is room for, its cluster before it unless that is "". */
void nt_tally_name_cell(char *cell, const char *cluster, const char *name, size_t width);
void nt_tally_time_cell(char *cell, int64_t us);

#endif
