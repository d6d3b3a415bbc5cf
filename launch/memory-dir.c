/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/memory-dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A ';' ends a ticket's member. */
bool nt_memory_path_valid(const char *path)
{
	if (path[0] != '/' || strlen(path) >= NT_PATH_MAX)
		return false;
	for (const char *c = path; *c != '\0'; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f || *c == ';')
			return false;
	return true;
}

static int below(char out[NT_PATH_MAX], const char *name, const char *parent, const char *rest,
		 struct nt_error *err)
{
	int length = snprintf(out, NT_PATH_MAX, "%s%s", parent, rest);

	if (length >= 0 && length < NT_PATH_MAX && nt_memory_path_valid(out))
		return 0;
	out[0] = '\0';
	return nt_error_set(err,
			    "%s='%.60s' (want an absolute path of less than %zu bytes without ';')",
			    name, parent, NT_PATH_MAX - strlen(rest));
}

int nt_memory_directory(char out[NT_PATH_MAX], struct nt_error *err)
{
	return nt_memory_directory_of(out, getenv(NT_ENV_MEMORY), getenv("XDG_STATE_HOME"),
				      getenv("HOME"), err);
}

int nt_memory_directory_of(char out[NT_PATH_MAX], const char *own, const char *state,
			   const char *home, struct nt_error *err)
{
	out[0] = '\0';
	if (own != NULL && own[0] != '\0')
		return below(out, NT_ENV_MEMORY, own, "", err);
	/* Its specification says to ignore a relative path. */
	if (state != NULL && state[0] == '/')
		return below(out, "XDG_STATE_HOME", state, "/nccl-tune/memory", err);
	if (home != NULL && home[0] != '\0')
		return below(out, "HOME", home, "/.local/state/nccl-tune/memory", err);
	return nt_error_set(err,
			    "no directory for the memory: neither " NT_ENV_MEMORY " nor HOME is "
			    "set");
}
