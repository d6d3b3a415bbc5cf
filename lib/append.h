/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* append.h - append to a string in a buffer
 *
 * Threads:  pure functions, any thread.
 * Errors:   -1: it did not fit, and was cut.
 */
#ifndef NT_APPEND_H
#define NT_APPEND_H

#include <stddef.h>

int nt_append(char *out, size_t out_bytes, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
