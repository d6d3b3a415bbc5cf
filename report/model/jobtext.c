/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A growing list of texts. */
#include "report/model/jobtext.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

struct nt_jobtext *nt_jobtexts_add(struct nt_jobtexts *texts, const char *label,
				   const char *comment, size_t comment_bytes)
{
	struct nt_jobtext *item = nt_array_add(&texts->items, &texts->count, SIZE_MAX,
					       sizeof(*item));

	if (!item)
		return NULL;
	item->comment = strndup(comment, comment_bytes);
	if (!item->comment) {
		texts->count--;
		return NULL;
	}
	snprintf(item->label, sizeof(item->label), "%s", label);
	return item;
}

struct nt_jobtext *nt_jobtexts_find(const struct nt_jobtexts *texts, const char *label)
{
	for (size_t i = 0; i < texts->count; i++) {
		if (strcmp(texts->items[i].label, label) == 0)
			return &texts->items[i];
	}
	return NULL;
}

void nt_jobtexts_fini(struct nt_jobtexts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		free(texts->items[i].comment);
		free(texts->items[i].filed);
	}
	free(texts->items);
	memset(texts, 0, sizeof(*texts));
}

static int parse(const struct nt_jobtext *text, const char *only_step, uint64_t runs,
		 struct nt_summary *summary, struct nt_error *err)
{
	if (nt_summary_parse_runs(summary, text->comment, strlen(text->comment), only_step, runs,
				  err) < 0)
		return -1;
	return text->filed ? nt_summary_parse_runs(summary, text->filed, strlen(text->filed),
						   only_step, runs, err)
			   : 0;
}

int nt_jobtext_parse(const struct nt_jobtexts *texts, const struct nt_jobtext *text,
		     const char *only_step, struct nt_summary *summary, struct nt_error *err)
{
	const uint64_t own = NT_RUN_BIT(text->run);
	uint64_t others = text->newest ? own - 1 : 0;
	int rc;

	for (size_t i = 0; i < texts->count; i++) {
		if (&texts->items[i] != text && texts->items[i].job == text->job)
			others |= NT_RUN_BIT(texts->items[i].run);
	}
	rc = parse(text, only_step, ~(others & ~own), summary, err);
	for (size_t i = 0; rc == 0 && i < texts->count; i++) {
		if (&texts->items[i] != text && texts->items[i].job == text->job)
			rc = parse(&texts->items[i], only_step, own, summary, err);
	}
	return rc;
}
