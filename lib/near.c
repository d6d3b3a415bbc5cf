/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/near.h"

#include <stdio.h>
#include <string.h>

static unsigned least_of(unsigned a, unsigned b, unsigned c)
{
	unsigned least = a < b ? a : b;

	return least < c ? least : c;
}

/* Levenshtein's distance, one row at a time. */
unsigned nt_word_distance(const char *a, const char *b)
{
	unsigned row[64];
	size_t a_length = strlen(a), b_length = strlen(b);

	if (a_length >= 64 || b_length >= 64)
		return 99;
	for (unsigned j = 0; j <= b_length; j++)
		row[j] = j;
	for (unsigned i = 1; i <= a_length; i++) {
		unsigned corner = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= b_length; j++) {
			unsigned above = row[j];

			row[j] = least_of(above + 1, row[j - 1] + 1,
					  corner + (a[i - 1] != b[j - 1]));
			corner = above;
		}
	}
	return row[b_length];
}

const char *nt_near(const char *word, const char *const *words, size_t count)
{
	/* A third of the letters; two in a short word, one in a very short one. */
	const size_t length = strlen(word), least = length < 4 ? 1 : 2;
	size_t limit = length / 3 > least ? length / 3 : least;
	const char *best = NULL;

	for (size_t i = 0; i < count; i++) {
		unsigned distance = nt_word_distance(word, words[i]);

		if (distance > limit || distance >= strlen(words[i]))
			continue;
		best = words[i];
		limit = distance > 0 ? distance - 1 : 0;
	}
	return best;
}

const char *nt_hint(struct nt_hint *hint, const char *word, const char *const *words, size_t count)
{
	const char *near = nt_near(word, words, count);

	hint->text[0] = '\0';
	if (near)
		snprintf(hint->text, sizeof(hint->text), "; did you mean %s?", near);
	return hint->text;
}
