/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/stats-cell.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/table.h"

void nt_site_stats_name_cell(struct nt_table *table, const char *cluster, const char *name,
			     size_t width)
{
	char all[2 * NT_CELL_MAX + 64];
	bool both = cluster[0] && name[0];

	snprintf(all, sizeof(all), "%s%s%s", cluster, both ? "/" : "", name);
	if (strlen(all) > width)
		memcpy(all + width - 2, "..", 3);
	nt_cell(table, "%s", all[0] ? all : "-");
}

const char *nt_site_stats_time_text(int64_t us, char *out, size_t out_bytes)
{
	if (llabs(us) >= INT64_C(3600000000000))
		snprintf(out, out_bytes, "%.0f h", (double)us / 3.6e9);
	else
		nt_duration_text((double)us / 1000, out, out_bytes);
	return out;
}

void nt_site_stats_time_cells(struct nt_table *table, int64_t saved_us, int64_t spent_us)
{
	const int64_t us[] = { saved_us, spent_us, saved_us - spent_us };
	char text[NT_CELL_MAX];

	for (size_t i = 0; i < sizeof(us) / sizeof(us[0]); i++)
		nt_cell(table, "%s", nt_site_stats_time_text(us[i], text, sizeof(text)));
}
