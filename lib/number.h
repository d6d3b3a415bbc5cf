/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* number.h - decimal numbers of digits alone, without sign or blanks
 *
 * Threads:  pure functions, any thread; errno is kept.
 * Errors:   -1 or NULL: no such number; *out is then unchanged.
 */
#ifndef NT_NUMBER_H
#define NT_NUMBER_H

#include <stdint.h>

/* The number at the start of text, at most most. Returns what follows it. */
const char *nt_number_read(const char *text, uint64_t most, uint64_t *out);

/* The whole text, from least to most. */
int nt_number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *out);

#endif
