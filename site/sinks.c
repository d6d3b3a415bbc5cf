/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "site/sinks.h"

#include <stdio.h>
#include <string.h>
#include "site/path.h"

#define BETWEEN " \t,+"
#define BEHIND_FILE " \t,"
#define ADMINCOMMENT "admincomment"
#define FILE_WORD "file:"

void nt_sinks_init(struct nt_sinks *sinks)
{
	*sinks = (struct nt_sinks){ .admincomment = true };
}

bool nt_sinks_none(const struct nt_sinks *sinks)
{
	return !sinks->admincomment && !sinks->directory[0];
}

static bool is_file(const char *word)
{
	return strncmp(word, FILE_WORD, strlen(FILE_WORD)) == 0;
}

static int add(struct nt_sinks *sinks, const char *word, struct nt_error *err)
{
	if (strcmp(word, ADMINCOMMENT) == 0 && !sinks->admincomment) {
		sinks->admincomment = true;
		return 0;
	}
	if (is_file(word) && !sinks->directory[0])
		return nt_conf_directory(sinks->directory, word + strlen(FILE_WORD), err);
	return nt_error_set(err, "'%.60s' (want admincomment, file:DIRECTORY or both, or none)",
			    word);
}

int nt_sinks_parse(struct nt_sinks *sinks, const char *value, struct nt_error *err)
{
	char word[2 * NT_PATH_MAX];

	*sinks = (struct nt_sinks){ .admincomment = false };
	if (strcmp(value, "none") == 0)
		return 0;
	for (value += strspn(value, BETWEEN); *value; value += strspn(value, BETWEEN)) {
		size_t bytes = strcspn(value, is_file(value) ? BEHIND_FILE : BETWEEN);

		snprintf(word, sizeof(word), "%.*s", (int)bytes, value);
		if (add(sinks, word, err) < 0)
			return -1;
		value += bytes;
	}
	return nt_sinks_none(sinks) ? add(sinks, "", err) : 0;
}

const char *nt_sinks_text(const struct nt_sinks *sinks, char out[NT_SINKS_TEXT])
{
	const char *file = sinks->directory[0] ? FILE_WORD : "";

	snprintf(out, NT_SINKS_TEXT, "%s%s%s%s", sinks->admincomment ? ADMINCOMMENT : "",
		 sinks->admincomment && file[0] ? "," : "", file, sinks->directory);
	return nt_sinks_none(sinks) ? "none" : out;
}
