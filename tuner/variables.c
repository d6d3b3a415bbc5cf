/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/variables.h"

#include <string.h>
#include "lib/list.h"
#include "lib/printable.h"

#define NAME_BYTES 48
#define VALUE_BYTES 65 /* with its NUL */

static bool begins(const char *word, const char *prefix)
{
	return strncmp(word, prefix, strlen(prefix)) == 0;
}

static bool is_wanted(const char *word)
{
	return begins(word, "NCCL_") && !begins(word, "NCCL_TUNE") && !begins(word, "NCCL_DEBUG") &&
	       !begins(word, "NCCL_PROFILER_PLUGIN=");
}

/* False: no room, and nothing was added. */
static bool append(char text[NT_VARIABLES_MAX], const char *word, size_t bytes)
{
	size_t used = strlen(text), gap = used > 0;

	if (used + gap + bytes >= NT_VARIABLES_MAX)
		return false;
	if (gap)
		text[used] = ' ';
	memcpy(text + used + gap, word, bytes);
	text[used + gap + bytes] = '\0';
	return true;
}

void nt_variables_add(struct nt_variables *variables, const char *word)
{
	const char *equals = strchr(word, '=');
	char plain[NAME_BYTES + VALUE_BYTES];
	size_t name;

	if (!is_wanted(word) || !equals || equals[1] == '\0')
		return;
	name = (size_t)(equals + 1 - word);
	if (name >= NAME_BYTES) {
		variables->cut = true;
		return;
	}
	memcpy(plain, word, name);
	(void)nt_printable_copy(plain + name, VALUE_BYTES, equals + 1, strlen(equals + 1));
	for (char *c = plain; *c; c++)
		*c = *c == ' ' ? '?' : *c;
	if (!append(variables->text, plain, strlen(plain)))
		variables->cut = true;
}

void nt_variables_split(const struct nt_variables *now, const struct nt_variables *started,
			char outside[NT_VARIABLES_MAX], char inside[NT_VARIABLES_MAX])
{
	outside[0] = inside[0] = '\0';
	for (const char *at = now->text; *at; at += *at == ' ') {
		size_t length = strcspn(at, " ");
		bool known = started->cut || nt_list_has(started->text, ' ', at, length);

		(void)append(known ? outside : inside, at, length);
		at += length;
	}
}
