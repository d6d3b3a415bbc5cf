/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/verdict-maker.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/array.h"

void nt_maker_say(struct nt_maker *maker, enum nt_sentence_kind kind, const char *type,
		  const char *format, ...)
{
	struct nt_verdict_text *verdict = maker->verdict;
	struct nt_sentence sentence = { .kind = kind }, *item;
	va_list args;

	/* Before the array grows: what is said may be another sentence's. */
	va_start(args, format);
	vsnprintf(sentence.text, sizeof(sentence.text), format, args);
	va_end(args);
	snprintf(sentence.type, sizeof(sentence.type), "%s", type);
	item = nt_array_add(&verdict->items, &verdict->count, SIZE_MAX, sizeof(*item));
	if (item)
		*item = sentence;
	else
		maker->no_memory = true;
}

const char *nt_maker_prefix(const struct nt_summary *summary, size_t step, char out[NT_STEP_PREFIX])
{
	out[0] = '\0';
	if (summary->step_count > 1)
		snprintf(out, NT_STEP_PREFIX, "Step %s: ", summary->steps[step].name);
	return out;
}
