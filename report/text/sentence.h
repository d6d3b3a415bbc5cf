/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sentence.h - the sentences of a verdict (verdict.h)
 *
 * Memory:   nt_verdict_fini frees the list.
 * Units:    texts say theirs; ASCII, microseconds as "us".
 */
#ifndef NT_SENTENCE_H
#define NT_SENTENCE_H

#include <stddef.h>

/* What a sentence is about; they come in this order. */
enum nt_sentence_kind {
	NT_SENTENCE_STALLED, /* all others of a communicator wait for a rank */
	NT_SENTENCE_LAUNCH, /* what a launch profile saved */
	NT_SENTENCE_GAIN, /* something is faster */
	NT_SENTENCE_NET, /* what was saved and spent */
	NT_SENTENCE_NEXT, /* what the program's next step does first */
	NT_SENTENCE_LATE, /* a rank or a node that others wait for */
	NT_SENTENCE_STATE, /* a step runs, was killed, or its record is damaged */
	NT_SENTENCE_UNTUNED, /* communicators and steps that were not tuned */
	NT_SENTENCE_MEASURED, /* nothing was tried: as asked for, or not worth it */
	NT_SENTENCE_UNFINISHED, /* there is no decision: none yet, or exploring cost too much */
	NT_SENTENCE_PARTIAL, /* the record is incomplete */
	NT_SENTENCE_TOPOLOGY, /* a node has less than others */
	NT_SENTENCE_STAYS, /* others were tried, and NCCL's choice stays */
	NT_SENTENCE_NOTHING, /* nothing was saved or spent */
};

/* The report has so many before its table; one more if the first is about a launch profile. */
#define NT_SENTENCES_FIRST 5

struct nt_sentence {
	enum nt_sentence_kind kind;
	char text[640];
	char type[240]; /* advice; "": none */
};

struct nt_verdict_text {
	struct nt_sentence *items;
	size_t count;
};

#endif
