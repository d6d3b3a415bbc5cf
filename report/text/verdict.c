/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* All sentences in order. */
#include "report/text/verdict.h"

#include <stdlib.h>
#include "report/text/verdict-maker.h"

/* By kind; a stable sort. */
static void put_in_order(struct nt_verdict_text *verdict)
{
	for (size_t i = 1; i < verdict->count; i++) {
		const struct nt_sentence sentence = verdict->items[i];
		size_t at = i;

		for (; at > 0 && verdict->items[at - 1].kind > sentence.kind; at--)
			verdict->items[at] = verdict->items[at - 1];
		verdict->items[at] = sentence;
	}
}

int nt_verdict_make(struct nt_verdict_text *verdict, const struct nt_summary *summary,
		    struct nt_error *err)
{
	struct nt_maker maker = { .verdict = verdict, .summary = summary };

	*verdict = (struct nt_verdict_text){ NULL, 0 };
	nt_job_figures_make(&maker.figures, summary);
	nt_maker_job(&maker);
	nt_maker_untuned(&maker);
	nt_maker_open(&maker);
	nt_maker_late(&maker);
	put_in_order(verdict);
	nt_maker_next(&maker);
	nt_maker_topology(&maker);
	nt_maker_links(&maker);
	nt_maker_partial(&maker);
	put_in_order(verdict);
	if (!maker.no_memory)
		return 0;
	nt_verdict_fini(verdict);
	return nt_error_set(err, "no memory for a verdict");
}

void nt_verdict_fini(struct nt_verdict_text *verdict)
{
	free(verdict->items);
	*verdict = (struct nt_verdict_text){ NULL, 0 };
}
