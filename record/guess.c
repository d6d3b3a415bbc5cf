/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* guess.c - see guess.h */
#include "record/guess.h"

#include <string.h>

static const char *const names[] = {
#define NAME(id, name) name,
	NT_PARALLELS(NAME)
#undef NAME
};

const char *nt_parallel_name(int parallel)
{
	return parallel >= 0 && parallel < NT_PARALLEL_COUNT ? names[parallel] : "";
}

enum nt_parallel nt_parallel_parse(const char *name)
{
	for (int i = 0; i < NT_PARALLEL_COUNT; i++) {
		if (strcmp(names[i], name) == 0)
			return (enum nt_parallel)i;
	}
	return NT_PARALLEL_UNKNOWN;
}

enum nt_parallel nt_guess_parallel(const struct nt_guess *known)
{
	(void)known;
	return NT_PARALLEL_UNKNOWN;
}
