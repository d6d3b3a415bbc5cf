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

/* What a sentence is about; those before NT_SENTENCE_MORE come first, about the job as a whole. */
enum nt_sentence_kind {
	NT_SENTENCE_JOB, /* as in accounting (record/says.h) */
	NT_SENTENCE_STALLED, /* all others of a communicator wait for a rank */
	NT_SENTENCE_LAUNCH, /* whence the step's time without its launch profile is known */
	NT_SENTENCE_NET, /* what was saved and spent */
	NT_SENTENCE_GAIN, /* the collective that gains most */
	NT_SENTENCE_UNTUNED, /* communicators and steps that were not tuned */
	NT_SENTENCE_UNFINISHED, /* collectives that were not, by reason */
	NT_SENTENCE_LATE, /* a rank or a node that others wait for */
	NT_SENTENCE_NEXT, /* what to type */
	NT_SENTENCE_MORE,
	NT_SENTENCE_CALIBRATION, /* when, how long, what it found */
	NT_SENTENCE_STATE, /* a step runs, was killed, or its record is damaged */
	NT_SENTENCE_NOTE, /* what prevents little */
	NT_SENTENCE_PARTIAL, /* the record is incomplete */
	NT_SENTENCE_TOPOLOGY, /* a node has less than others */
	NT_SENTENCE_STAYS, /* how near NCCL's choice comes to the bandwidth of its rings */
};

/* The report's first lines, after wrapping. */
#define NT_HEADLINES 8

struct nt_sentence {
	enum nt_sentence_kind kind;
	char text[640];
	char type[240]; /* advice; "": none */
};

struct nt_verdict_text {
	struct nt_sentence *items; /* by kind */
	size_t count;
};

#endif
