/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* list.h - texts of words between separators, "a,b,c", and of a key and its value, "a=b"
 *
 * Threads:  pure functions, any thread.
 */
#ifndef NT_LIST_H
#define NT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Is the word, of so many bytes, in the list? */
static inline bool nt_list_has(const char *list, char separator, const char *word, size_t bytes)
{
	const char separators[] = { separator, '\0' };

	while (*list != '\0') {
		const size_t length = strcspn(list, separators);

		if (length == bytes && memcmp(list, word, bytes) == 0)
			return true;
		list += length + (list[length] != '\0');
	}
	return false;
}

/* What follows "KEY=" at the start of text; NULL: it does not start so. */
static inline const char *nt_value_of(const char *text, const char *key)
{
	const size_t bytes = strlen(key);

	return strncmp(text, key, bytes) == 0 && text[bytes] == '=' ? text + bytes + 1 : NULL;
}

#endif
