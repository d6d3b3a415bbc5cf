/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* near.h - "did you mean": which known word a misspelt one is nearest to
 *
 * Threads:  pure functions, any thread.
 */
#ifndef NT_NEAR_H
#define NT_NEAR_H

#include <stddef.h>

/* How many letters two words differ by (at most 99). */
unsigned nt_word_distance(const char *a, const char *b);

/* Of count words the nearest to word; NULL if none is near enough to be meant. */
const char *nt_near(const char *word, const char *const *words, size_t count);

#endif
