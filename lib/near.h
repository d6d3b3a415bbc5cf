/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* near.h - "did you mean": the known word nearest to a misspelt one
 *
 * Threads:  pure functions, any thread.
 */
#ifndef NT_NEAR_H
#define NT_NEAR_H

#include <stddef.h>

/* The number of letters by which two words differ (at most 99). */
unsigned nt_word_distance(const char *a, const char *b);

/* The word of count words that is nearest to word; NULL if none is near enough. */
const char *nt_near(const char *word, const char *const *words, size_t count);

/* "; did you mean WORD?" for the end of a message, or "". Returns hint->text. */
struct nt_hint {
	char text[96];
};
const char *nt_hint(struct nt_hint *hint, const char *word, const char *const *words, size_t count);

#endif
