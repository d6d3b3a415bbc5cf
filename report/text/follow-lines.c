/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/follow-lines.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "contract/coll.h"
#include "report/text/verdict.h"
#include "report/text/words.h"

#define EXPLORED_MAX 8 /* lines */

__attribute__((format(printf, 2, 3))) static void add(struct nt_follow_lines *lines,
						      const char *format, ...)
{
	va_list args;

	if (lines->count == NT_FOLLOW_LINES)
		return;
	va_start(args, format);
	vsnprintf(lines->text[lines->count++], NT_FOLLOW_TEXT, format, args);
	va_end(args);
}

static int add_sentences(struct nt_follow_lines *lines, const struct nt_summary *summary,
			 struct nt_error *err)
{
	struct nt_verdict_text verdict;

	if (nt_verdict_make(&verdict, summary, err) < 0)
		return -1;
	for (size_t i = 0; i < verdict.count; i++) {
		const struct nt_sentence *sentence = &verdict.items[i];

		if (sentence->kind > NT_SENTENCE_MORE && sentence->kind != NT_SENTENCE_STATE)
			continue;
		add(lines, "%s%s%s", sentence->text, sentence->type[0] ? " -> " : "",
		    sentence->type);
	}
	nt_verdict_fini(&verdict);
	return 0;
}

static const char *round_words(const struct nt_key *row)
{
	return strcmp(row->round, NT_KEYROUND_CONFIRM) == 0   ? "second round"
	       : strcmp(row->round, NT_KEYROUND_RECHECK) == 0 ? "another look"
							      : "first round";
}

static void add_explored(struct nt_follow_lines *lines, const struct nt_summary *summary)
{
	char family[160], size[24];
	size_t shown = 0, more = 0;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		if (!row->round[0] || row->round_calls <= 0 || row->round_done < 0)
			continue;
		if (shown++ >= EXPLORED_MAX) {
			more++;
			continue;
		}
		add(lines,
		    "Being explored: %s %s on %s: %s, %" PRId64 " choices, %" PRId64 " of %" PRId64
		    " calls.",
		    nt_coll_name(row->coll), nt_size_text((size_t)row->bytes, size, sizeof(size)),
		    nt_family_words(&summary->families[row->family], family, sizeof(family)),
		    round_words(row), row->round_arms, row->round_done, row->round_calls);
	}
	if (more > 0)
		add(lines, "Being explored: %zu more.", more);
}

int nt_follow_lines_make(struct nt_follow_lines *lines, const char *job, const char *state,
			 bool over, const struct nt_summary *summary, struct nt_error *err)
{
	memset(lines, 0, sizeof(*lines));
	add(lines, "Job %s: %s.", job, state ? state : over ? "ended" : "its state is unknown");
	if (summary->step_count == 0 && summary->remark_count == 0)
		add(lines, over ? "It has no record."
				: "It has no record yet: that appears when exploring starts.");
	else if (add_sentences(lines, summary, err) < 0)
		return -1;
	if (!over)
		add_explored(lines, summary);
	return 0;
}

bool nt_follow_lines_have(const struct nt_follow_lines *lines, const char *text)
{
	for (size_t i = 0; i < lines->count; i++) {
		if (strcmp(lines->text[i], text) == 0)
			return true;
	}
	return false;
}
