/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/record-dir.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "launch/memory-dir.h"

#define BESIDE "records"

/* The path appears in the job's record and in messages. */
static bool is_plain(const char *path)
{
	for (const char *c = path; *c; c++) {
		if (*c < 0x20 || *c > 0x7e || strchr("\"\\{}", *c))
			return false;
	}
	return path[0] == '/';
}

static bool there(const char *text)
{
	return text && text[0];
}

/* The first length bytes of parent, then name. */
static int set_path(struct nt_records *out, const char *what, const char *parent, size_t length,
		    const char *name, struct nt_error *err)
{
	int bytes = snprintf(out->path, sizeof(out->path), "%.*s%s%s", (int)length, parent,
			     name[0] ? "/" : "", name);

	if (bytes > 0 && (size_t)bytes < sizeof(out->path) && is_plain(out->path))
		return 0;
	out->path[0] = '\0';
	return nt_error_set(err,
			    "%s is not an absolute path of less than %d plain characters (no "
			    "quotes, "
			    "backslashes or braces)",
			    what, NT_RECORDS_PATH_MAX - 16);
}

int nt_records_choose(struct nt_records *out, const struct nt_records_asked *asked,
		      struct nt_error *err)
{
	char user[16];
	size_t length;

	memset(out, 0, sizeof(*out));
	out->parents = true;
	if (there(asked->own) && strcmp(asked->own, NT_RECORDS_NONE) == 0)
		return nt_error_set(err, NT_ENV_RECORD_DIR " is " NT_RECORDS_NONE);
	if (there(asked->own))
		return set_path(out, NT_ENV_RECORD_DIR, asked->own, strlen(asked->own), "", err);
	if (there(asked->site)) {
		out->parents = false;
		snprintf(user, sizeof(user), "%" PRIu32, asked->uid);
		return set_path(out, "record_dir", asked->site, strlen(asked->site), user, err);
	}
	if (!there(asked->memory))
		return nt_error_set(err, "there is no directory for it: " NT_ENV_RECORD_DIR
					 " is not set, and " NT_ENV_MEMORY ", or else HOME, is not "
					 "an absolute path");
	length = strlen(asked->memory);
	while (length > 1 && asked->memory[length - 1] == '/')
		length--;
	while (length > 0 && asked->memory[length - 1] != '/')
		length--;
	return set_path(out, "the directory beside the user's memory", asked->memory,
			length > 0 ? length - 1 : 0, BESIDE, err);
}
