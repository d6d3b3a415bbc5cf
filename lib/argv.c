/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/argv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void nt_argv_add(struct nt_argv *argv, const char *format, ...)
{
	char **word = &argv->word[argv->count];
	va_list args;

	argv->failed = argv->failed || argv->count == NT_ARGV_MAX;
	if (argv->failed)
		return;
	va_start(args, format);
	argv->failed = vasprintf(word, format, args) < 0;
	va_end(args);
	if (argv->failed)
		*word = NULL;
	else
		argv->count++;
}

void nt_argv_fini(struct nt_argv *argv)
{
	for (unsigned i = 0; i < argv->count; i++)
		free(argv->word[i]);
	*argv = (struct nt_argv){ .count = 0 };
}
