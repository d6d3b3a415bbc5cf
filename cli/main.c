/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune: one command, a table of subcommands. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "lib/printable.h"
#include "cli/command.h"
#include "lib/terminal.h"

static const struct nt_command *const commands[] = {
	&nt_command_report, &nt_command_backfill,     &nt_command_calibrate,
	&nt_command_memory, &nt_command_check_config, &nt_command_summary,
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct nt_command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	}
	return NULL;
}

static void print_usage(FILE *out)
{
	fputs("Usage: nccl-tune COMMAND [ARGUMENT...]\n"
	      "       nccl-tune help COMMAND\n"
	      "       nccl-tune --version | --help\n"
	      "\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
}

static int finish(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return NT_EXIT_OK;
	fprintf(stderr, "nccl-tune: cannot write the answer: %m\n");
	return NT_EXIT_FAILED;
}

static int misuse(const char *what, const char *value)
{
	struct nt_shown shown;

	fprintf(stderr, "nccl-tune: %s '%s' (want", what, nt_shown(&shown, value));
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(stderr, "%s %s", i + 1 < COMMANDS ? (i ? "," : "") : " or",
			commands[i]->name);
	fputs(")\nTry 'nccl-tune --help'.\n", stderr);
	return NT_EXIT_USAGE;
}

static int help(int argc, char *argv[])
{
	const struct nt_command *command;

	if (argc < 2) {
		print_usage(stdout);
		return finish();
	}
	if (argc > 2)
		return misuse("too many arguments after", argv[1]);
	command = find_command(argv[1]);
	return command ? nt_command_help(command) : misuse("unknown command", argv[1]);
}

/* If the caller has closed a standard stream, no other file may get its number. */
static bool hold_standard_streams(void)
{
	int fd = open("/dev/null", O_RDWR);

	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = open("/dev/null", O_RDWR);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

int main(int argc, char *argv[])
{
	const struct nt_command *command;

	if (!hold_standard_streams())
		return NT_EXIT_FAILED;
	nt_terminal_clean();
	if (argc < 2) {
		print_usage(stderr);
		return NT_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts(PACKAGE_STRING);
		return finish();
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0)
		return help(argc - 1, argv + 1);
	command = find_command(argv[1]);
	if (!command)
		return misuse(argv[1][0] == '-' ? "unknown option" : "unknown command", argv[1]);
	return nt_command_run(command, argc - 1, argv + 1);
}
