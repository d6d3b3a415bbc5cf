/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "site/sinks.h"

#include <stdio.h>
#include <string.h>
#include "lib/append.h"
#include "lib/near.h"
#include "site/path.h"

#define BETWEEN " \t,+"
#define BEHIND_FILE " \t,"
#define FILE_WORD "file:"

static const char *const names[NT_SINK_KINDS] = { "admincomment", "extra", "comment", FILE_WORD };

void nt_sinks_init(struct nt_sinks *sinks)
{
	*sinks = (struct nt_sinks){ .count = 1, .at = { NT_SINK_ADMINCOMMENT } };
}

bool nt_sinks_have(const struct nt_sinks *sinks, enum nt_sink sink)
{
	for (unsigned i = 0; i < sinks->count; i++) {
		if (sinks->at[i] == sink)
			return true;
	}
	return false;
}

static bool is_file(const char *word)
{
	return strncmp(word, FILE_WORD, strlen(FILE_WORD)) == 0;
}

static int add(struct nt_sinks *sinks, const char *word, struct nt_error *err)
{
	struct nt_hint hint;
	unsigned sink = 0;

	if (is_file(word))
		sink = NT_SINK_FILE;
	else
		while (sink < NT_SINK_FILE && strcmp(names[sink], word) != 0)
			sink++;
	if (sink == NT_SINK_FILE && !is_file(word))
		return nt_error_set(err,
				    "'%.60s' (want admincomment, extra, comment and "
				    "file:DIRECTORY, or none)%s",
				    word, nt_hint(&hint, word, names, NT_SINK_KINDS));
	if (nt_sinks_have(sinks, (enum nt_sink)sink))
		return nt_error_set(err, "'%.60s' (want each at most once)", word);
	sinks->at[sinks->count++] = (enum nt_sink)sink;
	return sink == NT_SINK_FILE
		       ? nt_conf_directory(sinks->directory, word + strlen(FILE_WORD), err)
		       : 0;
}

int nt_sinks_parse(struct nt_sinks *sinks, const char *value, struct nt_error *err)
{
	char word[2 * NT_PATH_MAX];

	*sinks = (struct nt_sinks){ .count = 0 };
	if (strcmp(value, "none") == 0)
		return 0;
	for (value += strspn(value, BETWEEN); *value; value += strspn(value, BETWEEN)) {
		size_t bytes = strcspn(value, is_file(value) ? BEHIND_FILE : BETWEEN);

		snprintf(word, sizeof(word), "%.*s", (int)bytes, value);
		if (add(sinks, word, err) < 0)
			return -1;
		value += bytes;
	}
	return sinks->count > 0 ? 0
				: nt_error_set(err, "'' (want admincomment, extra, comment and "
						    "file:DIRECTORY, or none)");
}

const char *nt_sinks_text(const struct nt_sinks *sinks, char out[NT_SINKS_TEXT])
{
	snprintf(out, NT_SINKS_TEXT, "%s", sinks->count ? "" : "none");
	for (unsigned i = 0; i < sinks->count; i++)
		nt_append(out, NT_SINKS_TEXT, "%s%s%s", i ? "," : "", names[sinks->at[i]],
			  sinks->at[i] == NT_SINK_FILE ? sinks->directory : "");
	return out;
}
