/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* append.h - a text that grows in a buffer
 *
 * Threads:  pure functions, any thread.
 * Memory:   the caller's buffer, which holds a string.
 * Errors:   -1: it did not fit, and was cut.
 */
#ifndef NT_APPEND_H
#define NT_APPEND_H

#include <stddef.h>

/* Adds to the string in out. */
int nt_append(char *out, size_t out_bytes, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
