/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* headline.c - see headline.h */
#include "report/watch/headline.h"

#include <stdio.h>
#include <stdlib.h>
#include "report/text/verdict.h"

/* That it runs is known, and what is being explored is shown beside it. */
static bool is_wanted(const struct nt_sentence *sentence, bool over)
{
	return over ||
	       (sentence->kind != NT_SENTENCE_UNFINISHED && sentence->kind != NT_SENTENCE_NET &&
		sentence->kind != NT_SENTENCE_NOTHING &&
		((sentence->kind != NT_SENTENCE_STATE && sentence->kind != NT_SENTENCE_PARTIAL) ||
		 sentence->type[0]));
}

char *nt_watch_verdict(const struct nt_summary *summary, bool over)
{
	struct nt_verdict_text verdict;
	struct nt_error err;
	char *text = NULL;
	size_t bytes;
	FILE *out;

	if (nt_verdict_make(&verdict, summary, &err) < 0)
		return NULL;
	out = open_memstream(&text, &bytes);
	for (size_t i = 0; out && i < verdict.count; i++) {
		const struct nt_sentence *sentence = &verdict.items[i];

		if (is_wanted(sentence, over))
			fprintf(out, "%s%s%s\n", sentence->text, sentence->type[0] ? " " : "",
				sentence->type);
	}
	if (out)
		fclose(out);
	nt_verdict_fini(&verdict);
	return text;
}
