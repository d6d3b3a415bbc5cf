/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Reasons over many jobs, in the words of a job's report. */
#include "report/summary/stats-print.h"

#include <inttypes.h>
#include <stdlib.h>
#include "lib/compare.h"
#include "report/text/reasons.h"
#include "lib/wrap.h"

struct reason {
	int reason;
	int64_t keys; /* of all clusters */
};

static int by_keys(const void *left, const void *right)
{
	const struct reason *a = left, *b = right;

	NT_COMPARE(b->keys, a->keys);
	return a->reason - b->reason;
}

void nt_site_stats_reasons_text(FILE *out, const struct nt_site_stats *tally)
{
	const struct nt_site_stats_groups *groups = &tally->by[NT_BY_REASON];
	const int64_t all = nt_site_stats_total(tally).keys;
	struct reason reasons[NT_REASON_COUNT] = { { .keys = 0 } };
	struct nt_said said;
	char first[32];

	if (groups->names.count == 0 || all == 0)
		return;
	for (int i = 0; i < NT_REASON_COUNT; i++)
		reasons[i].reason = i;
	for (size_t i = 0; i < groups->names.count; i++) {
		const struct nt_site_stats_group *group = &groups->group[i];

		reasons[nt_reason_parse(group->name)].keys += group->sum.keys;
	}
	qsort(reasons, NT_REASON_COUNT, sizeof(reasons[0]), by_keys);
	fprintf(out, "\nReasons why collectives and sizes kept NCCL's choice:\n");
	for (int i = 0; i < NT_REASON_COUNT && reasons[i].keys > 0; i++) {
		nt_said_key(&said, reasons[i].reason, NULL);
		snprintf(first, sizeof(first), "  %8" PRId64 "  %5.1f %%  ", reasons[i].keys,
			 100.0 * (double)reasons[i].keys / (double)all);
		nt_wrap(out, first, 21, said.says[0] ? said.says : "Another reason.");
	}
}
