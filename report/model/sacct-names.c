/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/sacct-names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/printable.h"
#include "lib/sacct.h"

#define TIMEOUT_MS 30000

enum column { LABEL, NAME, COLUMNS };

static int take(void *argument, const struct nt_text *column, struct nt_error *err)
{
	struct nt_sacct_names *names = argument;
	struct nt_sacct_name *item = nt_array_add(&names->items, &names->count, SIZE_MAX,
						  sizeof(*item));

	if (!item)
		return nt_error_set(err, "no memory for the jobs' names");
	nt_printable_copy(item->label, sizeof(item->label), column[LABEL].at, column[LABEL].bytes);
	nt_printable_copy(item->name, sizeof(item->name), column[NAME].at, column[NAME].bytes);
	return 0;
}

void nt_sacct_names_load(struct nt_sacct_names *names, const char *list)
{
	const struct nt_sacct question = {
		.columns = "JobID,JobName",
		.count = COLUMNS,
		.jobs = list,
		.steps = true,
		.timeout_ms = TIMEOUT_MS,
	};

	(void)nt_sacct_ask(&question, take, names, NULL);
}

void nt_sacct_names_fini(struct nt_sacct_names *names)
{
	free(names->items);
	*names = (struct nt_sacct_names){ NULL, 0 };
}

const struct nt_sacct_name *nt_sacct_names_find(const struct nt_sacct_names *names, const char *job,
						const char *step)
{
	char label[sizeof(names->items->label)];

	snprintf(label, sizeof(label), "%s%s%s", job, step ? "." : "", step ? step : "");
	for (size_t i = 0; i < names->count; i++) {
		if (strcmp(names->items[i].label, label) == 0)
			return &names->items[i];
	}
	return NULL;
}
