/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/findings.h"

#include <stdbool.h>
#include <string.h>
#include "lib/append.h"
#include "lib/plural.h"
#include "lib/wrap.h"

/* Is this finding the first of those that say the same? *steps: how many do. */
static bool is_first(const struct nt_summary *summary, size_t at, size_t *steps)
{
	const char *text = summary->findings[at].finding.text;

	*steps = 0;
	for (size_t i = 0; i < summary->finding_count; i++) {
		if (strcmp(summary->findings[i].finding.text, text) != 0)
			continue;
		if (i < at)
			return false;
		++*steps;
	}
	return true;
}

static void print_one(FILE *out, const struct nt_summary *summary, size_t at, size_t steps)
{
	const struct nt_finding *finding = &summary->findings[at].finding;
	char says[NT_FINDING_SENTENCE_MAX + 64], advice[NT_FINDING_ADVICE_MAX];

	nt_finding_say(finding, says, NT_FINDING_SENTENCE_MAX);
	if (summary->step_count > 1 && steps == 1)
		(void)nt_append(says, sizeof(says), " (step %s)",
				summary->steps[summary->findings[at].step].name);
	nt_wrap(out, nt_finding_certain(finding->id) ? "Set-up: " : "Set-up, probably: ", 2, says);
	nt_wrap(out, "  -> ", 5, nt_finding_advise(finding, advice, sizeof(advice)));
}

size_t nt_findings_print(FILE *out, const struct nt_summary *summary, size_t most)
{
	size_t count = 0, steps;

	for (int id = 0; id < NT_FINDING_COUNT; id++) {
		for (size_t i = 0; i < summary->finding_count; i++) {
			if (summary->findings[i].finding.id != id || !is_first(summary, i, &steps))
				continue;
			if (count++ < most)
				print_one(out, summary, i, steps);
		}
	}
	if (count > most && most > 0)
		fprintf(out, "%zu more finding%s: nccl-tune report --findings\n", count - most,
			nt_plural(count - most));
	return count;
}
