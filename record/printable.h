/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* printable.h - text that somebody else wrote, made fit for a terminal and for a record
 *
 * A record holds texts of users, and so do the names of their files: a control character in one
 * would move the cursor of whoever looks at it.
 *
 * Threads:  pure functions, any thread.
 * Memory:   the caller's buffer.
 */
#ifndef NT_PRINTABLE_H
#define NT_PRINTABLE_H

#include <stddef.h>

/* Everything that goes to a log or a terminal is cleaned here. Beyond ASCII nothing passes, valid
 * UTF-8 neither: it has control characters of its own (U+0080 to U+009F, marks that turn the
 * direction of the text), and a log is read by programs that know no encoding. */

/* Copy text, with '?' for every byte that is not printable ASCII; -1 if it did not fit (then it
 * is cut). */
int nt_printable_copy(char *out, size_t out_bytes, const char *text, size_t text_bytes);

/* The same in place, for a string. Returns it. */
char *nt_printable(char *text);

/* A copy to be shown, of a path or of a word; cut where it is too long. */
struct nt_shown {
	char text[1024];
};

const char *nt_shown(struct nt_shown *shown, const char *text);

#endif
