/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* stats-cell.h - cells of a summary's tables (table.h)
 *
 * Threads:  as table.h.
 */
#ifndef NT_SITE_STATS_CELL_H
#define NT_SITE_STATS_CELL_H

#include <stddef.h>
#include <stdint.h>
#include "lib/table.h"

/* The name, cut to width, behind its cluster unless that is "". */
void nt_site_stats_name_cell(struct nt_table *table, const char *cluster, const char *name,
			     size_t width);
/* Three cells: saved, spent and net time. */
void nt_site_stats_time_cells(struct nt_table *table, int64_t saved_us, int64_t spent_us);
const char *nt_site_stats_time_text(int64_t us, char *out, size_t out_bytes);

#endif
