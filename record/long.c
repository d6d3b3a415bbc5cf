/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/long.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LONG_ROW(...) NT_FIELD_ROW(struct nt_long_head, __VA_ARGS__)
const struct nt_fields nt_long_fields = NT_FIELDS(NT_LONG_FIELDS(LONG_ROW));

static void make_plain(char *name)
{
	for (char *c = name; *c; c++) {
		if (*c <= 0x20 || *c >= 0x7f || *c == '/' || (c == name && *c == '.'))
			*c = '_';
	}
}

void nt_long_job_name(char out[NT_LONG_NAME_MAX], const char *cluster, uint32_t job)
{
	snprintf(out, NT_LONG_NAME_MAX, "%.63s.%" PRIu32, cluster, job);
	make_plain(out);
}

void nt_long_part_name(char out[NT_LONG_NAME_MAX], const struct nt_long_head *head)
{
	char run[24] = "";

	if (head->run > 0)
		snprintf(run, sizeof(run), ".r%" PRId64, head->run);
	snprintf(out, NT_LONG_NAME_MAX, "%s.%s%s" NT_LONG_SUFFIX, head->step, head->node, run);
	make_plain(out);
}

bool nt_long_part_is(const char *name)
{
	const size_t suffix = sizeof(NT_LONG_SUFFIX) - 1;
	size_t bytes = strlen(name);

	return name[0] != '.' && bytes > suffix && bytes < NT_LONG_NAME_MAX &&
	       strcmp(name + bytes - suffix, NT_LONG_SUFFIX) == 0;
}
