/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - what came of tuning a job, in sentences: what a reader sees first
 *
 * Every sentence follows from the rows, steps and remarks of a summary; what cannot be known from
 * them is not said. Text, page, live view and demo show the same sentences.
 *
 * Threads:  pure functions, any thread.
 * Memory:   nt_verdict_fini frees the sentences; they are copies.
 * Errors:   -1 when memory runs out.
 * Units:    texts say theirs; ASCII, microseconds as "us".
 */
#ifndef NT_REPORT_VERDICT_H
#define NT_REPORT_VERDICT_H

#include "contract/error.h"
#include "record/summary.h"

/* What a sentence is about; they come in this order. */
enum nt_sentence_kind {
	NT_SENTENCE_GAIN, /* something is faster */
	NT_SENTENCE_STAYS, /* NCCL's own choice stays, where others were tried */
	NT_SENTENCE_MEASURED, /* nothing was tried, as asked for, or for lack of worth */
	NT_SENTENCE_UNFINISHED, /* there was no decision: the step ended, or it cost too much */
	NT_SENTENCE_NET, /* what was saved and spent */
	NT_SENTENCE_UNTUNED, /* communicators and steps of which nothing was tried */
	NT_SENTENCE_LAUNCH, /* what a launch profile was worth */
	NT_SENTENCE_PARTIAL, /* the record is damaged, or had no room for all */
};

struct nt_sentence {
	enum nt_sentence_kind kind;
	char text[640];
	char type[240]; /* what to do about it; "" where there is nothing */
};

struct nt_verdict_text {
	struct nt_sentence *items;
	size_t count;
};

int nt_verdict_make(struct nt_verdict_text *verdict, const struct nt_summary *summary,
		    struct nt_error *err);
void nt_verdict_fini(struct nt_verdict_text *verdict);

/* Seconds that the summary's step would have to run until what it saves is what exploring has cost;
 * NAN where that cannot be known, or never happens. */
double nt_verdict_pays_after_s(const struct nt_summary *summary, size_t step);

#endif
