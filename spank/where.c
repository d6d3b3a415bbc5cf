/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Look for two options on a command line. */
#include "spank/where.h"

#include <stdio.h>
#include <string.h>

#define LEAST_LETTERS 4 /* of an abbreviated long option; shorter ones are ambiguous */

struct words {
	const char *at, *end;
};

static const char *next(struct words *words)
{
	const char *word = words->at;
	const char *nul = word < words->end ? memchr(word, '\0', (size_t)(words->end - word))
					    : NULL;

	if (!nul)
		return NULL;
	words->at = nul + 1;
	return word;
}

/* May the next word be the value of this option? */
static bool may_have_value(const char *word)
{
	return word[1] == '-' ? !strchr(word, '=') : word[2] == '\0';
}

/* The next option before the program's name. */
static const char *next_option(struct words *words, bool value_may_follow)
{
	const char *word;

	while ((word = next(words)) != NULL && strcmp(word, "--") != 0) {
		if (word[0] == '-' && word[1] != '\0')
			return word;
		if (!value_may_follow)
			break;
		value_may_follow = false;
	}
	return NULL;
}

bool nt_where_is_async(const char *args, size_t bytes)
{
	static const char async[] = "--async";
	struct words words = { args, args + bytes };
	const char *word = next(&words);

	while (word && (word = next_option(&words, may_have_value(word))) != NULL) {
		if (strlen(word) >= LEAST_LETTERS && strncmp(async, word, strlen(word)) == 0)
			return true;
	}
	return false;
}

/* srun takes ":" for the end of a component wherever it stands. */
bool nt_where_is_het(const char *args, size_t bytes)
{
	static const char group[] = "--het-group";
	struct words words = { args, args + bytes };
	const char *word;
	bool value_may_follow = false;

	while ((word = next(&words)) != NULL) {
		if (strcmp(word, ":") == 0)
			return true;
	}
	words.at = args;
	next(&words);
	while ((word = next_option(&words, value_may_follow)) != NULL) {
		const size_t length = strcspn(word, "=");

		value_may_follow = may_have_value(word);
		if (length < LEAST_LETTERS || length >= sizeof(group) ||
		    strncmp(group, word, length) != 0)
			continue;
		value_may_follow = false;
		word = word[length] ? word + length : next(&words);
		if (word && strpbrk(word, ",-"))
			return true;
	}
	return false;
}

size_t nt_where_command_line(char *out, size_t out_bytes)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	size_t bytes = file ? fread(out, 1, out_bytes - 1, file) : 0;

	if (file)
		fclose(file);
	out[bytes] = '\0';
	return bytes;
}
