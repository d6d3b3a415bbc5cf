/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiles/program.h"

#include <stdio.h>
#include <string.h>

static bool ends_with(const char *word, const char *suffix)
{
	const size_t length = strlen(word), tail = strlen(suffix);

	return length > tail && strcmp(word + length - tail, suffix) == 0;
}

static const char *find(int count, char *const words[])
{
	for (int i = 0; i < count; i++)
		if (ends_with(words[i], ".py") || ends_with(words[i], ".sh"))
			return words[i];
	for (int i = 1; i + 1 < count; i++)
		if (strcmp(words[i], "-m") == 0)
			return words[i + 1];
	return count > 0 ? words[0] : "";
}

char *nt_program_name(int count, char *const words[], char *out, size_t out_bytes)
{
	const char *word = find(count, words), *slash = strrchr(word, '/');

	snprintf(out, out_bytes, "%s", slash ? slash + 1 : word);
	for (char *c = out; *c; c++)
		if (!strchr(NT_PLAIN_WORD, *c))
			*c = '_';
	return out;
}

bool nt_program_valid(const char *name, size_t room)
{
	const size_t length = strlen(name);

	return length > 0 && length < room && strspn(name, NT_PLAIN_WORD) == length;
}
