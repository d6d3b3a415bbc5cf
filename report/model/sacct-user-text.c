/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sacct-user-text.c - see sacct-user-text.h */
#include "report/model/sacct-user-text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "lib/append.h"
#include "lib/sacct.h"
#include "report/model/accounting.h"
#include "spank/slurm_compat.h"

/* Behind the job. */
static const enum nt_sink sinks[] = {
	NT_SINK_COMMENT,
#if NT_SLURM_HAS_EXTRA
	NT_SINK_EXTRA,
#endif
};
#define SINKS (sizeof(sinks) / sizeof(sinks[0]))

static int keep(void *argument, const struct nt_text *columns, struct nt_error *err)
{
	const uint32_t job = (uint32_t)nt_sacct_number(columns[0]);
	struct nt_jobtexts *texts = argument;

	for (size_t i = 0; i < texts->count; i++) {
		struct nt_jobtext *item = &texts->items[i];

		for (size_t s = 0; s < SINKS && item->job == job; s++) {
			char **text = &item->text[sinks[s]];

			if (!*text)
				*text = strndup(columns[s + 1].at, columns[s + 1].bytes);
			if (!*text)
				return nt_error_set(err, "no memory for the jobs' texts");
		}
	}
	return 0;
}

int nt_sacct_user_text_load(struct nt_jobtexts *texts, const char *cluster, int timeout_ms,
			    struct nt_error *err)
{
	char list[NT_ACCOUNTING_JOBS * 11 + 1];
	const struct nt_sacct question = {
		.jobs = list,
		.cluster = cluster,
		.columns = "JobIDRaw,Comment" NT_SLURM_EXTRA_COLUMN ",JobIDRaw",
		.count = 2 + SINKS,
		.timeout_ms = timeout_ms,
	};
	size_t next = 0;
	int rc = 0;

	while (rc == 0 && next < texts->count) {
		list[0] = '\0';
		for (size_t i = 0; i < NT_ACCOUNTING_JOBS && next < texts->count; next++) {
			if (texts->items[next].text[NT_SINK_COMMENT])
				continue;
			nt_append(list, sizeof(list), "%s%" PRIu32, i ? "," : "",
				  texts->items[next].job);
			i++;
		}
		if (list[0])
			rc = nt_sacct_ask(&question, keep, texts, err);
	}
	return rc;
}
