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
	for (size_t i = 0; i < texts->count; i++)
		free(texts->items[i].comment);
	free(texts->items);
	memset(texts, 0, sizeof(*texts));
}
