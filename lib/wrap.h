/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* wrap.h - wrap text into lines of at most NT_WRAP_COLUMNS
 *
 * Threads:  no state of its own.
 * Errors:   write errors stay on the stream (ferror).
 */
#ifndef NT_WRAP_H
#define NT_WRAP_H

#include <stdio.h>

#define NT_WRAP_COLUMNS 80

/* Prints the words of text and a newline; the first line begins with first, others with rest
 * spaces. A longer word gets its own line. */
void nt_wrap(FILE *out, const char *first, int rest, const char *text);

#endif
