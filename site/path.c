/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "site/path.h"

#include <string.h>

int nt_conf_path(char out[NT_PATH_MAX], const char *value, struct nt_error *err)
{
	if (value[0] != '/' || strlen(value) >= NT_PATH_MAX || strpbrk(value, ", \t\n"))
		return nt_error_set(
			err, "'%.60s' (want an absolute path of less than %d bytes without commas)",
			value, NT_PATH_MAX);
	memcpy(out, value, strlen(value) + 1);
	return 0;
}

int nt_conf_directory(char out[NT_PATH_MAX], const char *value, struct nt_error *err)
{
	size_t end;

	if (strlen(value) >= NT_PATH_MAX / 2)
		return nt_error_set(err, "'%.60s' (want a path of less than %d bytes)", value,
				    NT_PATH_MAX / 2);
	if (nt_conf_path(out, value, err) < 0)
		return -1;
	for (end = strlen(out); end > 1 && out[end - 1] == '/'; end--)
		out[end - 1] = '\0';
	return 0;
}
