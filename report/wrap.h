/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* wrap.h - sentences in lines of at most NT_WRAP_COLUMNS
 *
 * Threads:  no state of its own.
 * Errors:   write errors stay on the stream for the caller (ferror).
 */
#ifndef NT_WRAP_H
#define NT_WRAP_H

#include <stdio.h>

#define NT_WRAP_COLUMNS 80

/* Words of text, the first line behind first (which may be spaces), the others behind rest spaces.
 * A word that is longer than a line has one of its own. Ends with a newline. */
void nt_wrap(FILE *out, const char *first, int rest, const char *text);

#endif
