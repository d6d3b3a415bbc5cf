/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* printable.h - make untrusted text safe for a terminal and a record
 *
 * Records and file names contain users' text: a control character in it would move a reader's
 * cursor.
 *
 * Threads:  pure functions, any thread.
 * Memory:   the caller's buffer.
 */
#ifndef NT_PRINTABLE_H
#define NT_PRINTABLE_H

#include <stddef.h>

/* Everything that goes to a log or a terminal is cleaned here. Only ASCII passes, not even valid
 * UTF-8: it has its own control characters (U+0080 to U+009F, marks for the direction of text), and
 * programs that read a log know no encoding. */

/* Copy text, with '?' for every byte that is not printable ASCII; -1 if it did not fit and was
 * cut. */
int nt_printable_copy(char *out, size_t out_bytes, const char *text, size_t text_bytes);

/* The same in place. Returns text. */
char *nt_printable(char *text);
/* The same, and JSON's own characters become others, so that the text needs no escapes in JSON. */
char *nt_printable_json(char *text);

/* A copy to show, of a path or a word; cut if it is too long. */
struct nt_shown {
	char text[1024];
};

const char *nt_shown(struct nt_shown *shown, const char *text);

#endif
