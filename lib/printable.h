/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* printable.h - make untrusted text safe for a terminal, a log and a record
 *
 * Only printable ASCII passes. UTF-8 does not: it has control characters of its own (U+0080 to
 * U+009F, marks of direction), and readers of a log know no encoding.
 *
 * Threads:  pure functions, any thread.
 * Memory:   the caller's buffer.
 */
#ifndef NT_PRINTABLE_H
#define NT_PRINTABLE_H

#include <stddef.h>

/* Copies text, with '?' for other bytes; -1: it was cut. */
int nt_printable_copy(char *out, size_t out_bytes, const char *text, size_t text_bytes);

/* In place. Returns text. */
char *nt_printable(char *text);
/* In place, and JSON's special characters are replaced, so that no escapes are needed; so is '|',
 * which separates columns of accounting. */
char *nt_printable_json(char *text);

/* A copy to show, cut if it is too long. */
struct nt_shown {
	char text[1024];
};

const char *nt_shown(struct nt_shown *shown, const char *text);

#endif
