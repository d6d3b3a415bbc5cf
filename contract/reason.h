/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* reason.h - why something runs as it does: a code and its arguments
 *
 * reasons.def has all reasons. One form serves in shared memory, in what nodes send each other and
 * in records: "code|argument|argument", printable ASCII without quotes, backslashes and braces.
 * Reading it trusts nobody: an unknown code becomes NT_REASON_OTHER with that code as its argument,
 * bytes that do not belong in a text become '?', what is too long is cut.
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
	NT_ABOUT_KEY, /* decided: NCCL's choice stays, or a remembered arm is used */
	NT_ABOUT_OPEN_KEY, /* nothing was decided */
	NT_ABOUT_COMM,
	NT_ABOUT_STEP,
	NT_ABOUT_CALLS, /* how far a communicator got: it keeps nothing from being tuned */
};

/* NT_REASON_NONE, 0, is no reason. Numbers are of this build alone: codes are what is written. */
enum nt_reason_id {
#define REASON(id, code, about, fields, sentence, advice) NT_REASON_##id,
#include "contract/reasons.def"
#undef REASON
	NT_REASON_COUNT
};

#define NT_REASON_CODE_MAX 12 /* with its NUL */
#define NT_REASON_ARGS 4
#define NT_REASON_BYTES 176 /* of the form in text, with its NUL */
#define NT_REASON_SENTENCE_MAX 480
#define NT_REASON_ADVICE_MAX 240

/* All zero is no reason. */
struct nt_reason {
	int id; /* enum nt_reason_id */
	char text[NT_REASON_BYTES]; /* "code|argument|..."; "" for none */
};

/* Always return -1, so that `return nt_reason_set(why, ...)` reads well; keep errno; why may be
 * NULL. setf: the arguments, with '|' between them. */
int nt_reason_set(struct nt_reason *why, int id);
int nt_reason_setf(struct nt_reason *why, int id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The form in text, as anybody may have written it. */
void nt_reason_read(struct nt_reason *why, const char *text, size_t bytes);

/* What a sentence names besides arguments: a report's {auto}, {arm}, {gain} and {p}. */
struct nt_reason_fact {
	const char *name, *value;
};

/* The sentence into out, cut where it is too long; "" for none. facts: count of them, or NULL. What
 * is not known of {auto} is "NCCL's choice", of {arm} "another choice", of an argument "?". Returns
 * out. */
const char *nt_reason_say(const struct nt_reason *why, const struct nt_reason_fact *facts,
			  size_t count, char *out, size_t out_bytes);

/* All of a reason whatever its arguments; "" for what is no reason. */
const char *nt_reason_code(int id);
const char *nt_reason_fields(int id);
const char *nt_reason_sentence(int id); /* with its {fields} */
const char *nt_reason_advice(int id);
enum nt_reason_of nt_reason_about(int id);
/* NT_REASON_OTHER for a code that is not known here: a later release's. */
int nt_reason_parse(const char *code);

#endif
