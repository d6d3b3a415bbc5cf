/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Check what nt-recordd is told. */
#include "spank/arguments.h"

#include <stdbool.h>
#include <string.h>

static bool is_text(const char *text, size_t size)
{
	return text[0] != '\0' && memchr(text, '\0', size) != NULL;
}

int nt_arguments_check(const struct nt_arguments *arguments, size_t bytes, struct nt_error *err)
{
#define GOOD(member) is_text(arguments->member, sizeof(arguments->member))
	if (bytes != sizeof(*arguments) || !GOOD(version) ||
	    strcmp(arguments->version, NT_ARGUMENTS_VERSION) != 0)
		return nt_error_set(err, "the step's plugin is of another version");
	if (!GOOD(mode) || !GOOD(rundir) || !GOOD(spool) || !GOOD(record) || !GOOD(cluster) ||
	    !GOOD(node) || !GOOD(long_dir) || !GOOD(fingerprint) || !GOOD(ticket) ||
	    !GOOD(cgroups) || !GOOD(hosts))
		return nt_error_set(err, "a text is empty or too long");
#undef GOOD
	return 0;
}
