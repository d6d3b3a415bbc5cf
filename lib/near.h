/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* near.h - "did you mean": the known word nearest to a misspelt one
 *
 * Threads:  pure functions, any thread.
 */
#ifndef NT_NEAR_H
#define NT_NEAR_H

#include <stddef.h>

/* The edit distance of two words, at most 99. */
unsigned nt_word_distance(const char *a, const char *b);

/* The nearest of count words; NULL if none is near. */
const char *nt_near(const char *word, const char *const *words, size_t count);

/* "; did you mean WORD?", or "". Returns hint->text. */
struct nt_hint {
	char text[96];
};
const char *nt_hint(struct nt_hint *hint, const char *word, const char *const *words, size_t count);

#endif
