/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* How subcommands speak to their user. */
#include "report/command.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include "record/printable.h"

static void complain(const struct nt_command *command, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

static void complain(const struct nt_command *command, const char *format, va_list args)
{
	char text[1024];

	fflush(stdout);
	vsnprintf(text, sizeof(text), format, args);
	fprintf(stderr, "nccl-tune %s: %s\n", command->name, nt_printable(text));
}

void nt_command_complain(const struct nt_command *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(command, format, args);
	va_end(args);
}

int nt_command_misuse(const struct nt_command *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(command, format, args);
	va_end(args);
	fprintf(stderr, "Try 'nccl-tune help %s'.\n", command->name);
	return NT_EXIT_USAGE;
}

int nt_command_misuse_option(const struct nt_command *command, int answer, char *argv[])
{
	const char *option = argv[optind - 1];

	if (answer == ':')
		return nt_command_misuse(command, "option '%s' wants a value", option);
	/* A long option that takes no value was given one: optopt is its letter. */
	if (optopt && option[0] == '-' && option[1] == '-')
		return nt_command_misuse(command, "option '%s' takes no value", option);
	if (optopt)
		return nt_command_misuse(command, "unknown option '-%c'", optopt);
	return nt_command_misuse(command, "unknown option '%s'", option);
}

int nt_command_help(const struct nt_command *command)
{
	fputs(command->help, stdout);
	return nt_command_finish(command, NT_EXIT_OK);
}

int nt_command_finish(const struct nt_command *command, int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	nt_command_complain(command, "cannot write the answer: %m");
	return NT_EXIT_FAILED;
}
