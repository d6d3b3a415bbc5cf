/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Names and times, in so many columns. */
#include "report/tally-cell.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "report/table.h"

/* As much of a name as there is room for. */
void nt_tally_name_cell(char *cell, const char *cluster, const char *name, size_t width)
{
	char all[2 * NT_CELL_MAX + 64];
	bool both = cluster[0] && name[0];

	snprintf(all, sizeof(all), "%s%s%s", cluster, both ? "/" : "", name);
	if (strlen(all) > width)
		memcpy(all + width - 2, "..", 3);
	snprintf(cell, NT_CELL_MAX, "%s", all[0] ? all : "-");
}

void nt_tally_time_cell(char *cell, int64_t us)
{
	if (llabs(us) >= INT64_C(3600000000000))
		snprintf(cell, NT_CELL_MAX, "%.0f h", (double)us / 3.6e9);
	else
		nt_duration_text((double)us / 1000, cell, NT_CELL_MAX);
}
