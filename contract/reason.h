/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* reason.h - why something runs as it does: a code with arguments
 *
 * reasons.def lists all. In shared memory, between nodes and in records a reason is
 * "code:argument:argument", printable ASCII without quotes, backslashes, braces and '|', which
 * separates columns of sacct -P. Reading trusts nobody: an unknown code becomes the argument of
 * NT_REASON_OTHER, other bytes are replaced, long texts are cut. Older releases wrote '|' for ':'.
 *
 * Threads:  pure functions, any thread; libc only.
 * Memory:   values.
 */
#ifndef NT_REASON_H
#define NT_REASON_H

#include <stddef.h>

/* What a reason is about. */
enum nt_reason_of {
	NT_ABOUT_NOTHING,
	NT_ABOUT_KEY, /* decided */
	NT_ABOUT_OPEN_KEY, /* nothing was decided */
	NT_ABOUT_COMM,
	NT_ABOUT_STEP,
	NT_ABOUT_CALLS, /* how far a communicator got: prevents nothing */
};

/* NT_REASON_NONE is 0. Numbers are of this build alone; codes are written. */
enum nt_reason_id {
#define REASON(id, code, about, fields, sentence, advice) NT_REASON_##id,
#include "contract/reasons.def"
#undef REASON
	NT_REASON_COUNT
};

#define NT_REASON_CODE_MAX 12 /* with its NUL */
#define NT_REASON_ARGS 4
#define NT_REASON_BYTES 176 /* as text, with its NUL */
#define NT_REASON_SENTENCE_MAX 480
#define NT_REASON_ADVICE_MAX 240

/* All zero is no reason. */
struct nt_reason {
	int id; /* enum nt_reason_id */
	char text[NT_REASON_BYTES]; /* "code:argument:..."; "" for none */
};

/* Return -1, for `return nt_reason_set(why, ...)`; keep errno; why may be NULL. setf: arguments,
 * separated by ':'. */
int nt_reason_set(struct nt_reason *why, int id);
int nt_reason_setf(struct nt_reason *why, int id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* From untrusted text. */
void nt_reason_read(struct nt_reason *why, const char *text, size_t bytes);

/* What a report knows besides arguments: {auto}, {arm}, {gain} and {p}. */
struct nt_reason_fact {
	const char *name, *value;
};

/* Writes the sentence, cut if it is too long; "" for none. facts may be NULL. Unknown: {auto} is
 * "NCCL's choice", {arm} "another choice", an argument "?". Returns out. */
const char *nt_reason_say(const struct nt_reason *why, const struct nt_reason_fact *facts,
			  size_t count, char *out, size_t out_bytes);

/* The same of a sentence with {fields}, and of a text "code:argument:..." (finding.h). */
const char *nt_reason_fill(const char *fields, const char *text, const char *says,
			   const struct nt_reason_fact *facts, size_t count, char *out,
			   size_t out_bytes);

/* "" if there is no such reason. */
const char *nt_reason_code(int id);
const char *nt_reason_fields(int id);
const char *nt_reason_sentence(int id); /* with its {fields} */
const char *nt_reason_advice(int id);
enum nt_reason_of nt_reason_about(int id);
/* NT_REASON_OTHER for an unknown code: a later release's. */
int nt_reason_parse(const char *code);

#endif
