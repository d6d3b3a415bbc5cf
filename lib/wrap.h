/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* wrap.h - wrap text into lines of at most NT_WRAP_COLUMNS
 *
 * Threads:  no state of its own.
 * Errors:   write errors stay on the stream for the caller (ferror).
 */
#ifndef NT_WRAP_H
#define NT_WRAP_H

#include <stdio.h>

#define NT_WRAP_COLUMNS 80

/* Print the words of text; the first line begins with first (perhaps spaces), the others with rest
 * spaces. A word longer than a line gets its own line. Ends with a newline. */
void nt_wrap(FILE *out, const char *first, int rest, const char *text);

#endif
