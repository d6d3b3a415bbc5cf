/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune: one command, a table of subcommands. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include "lib/printable.h"
#include "lib/write-all.h"
#include "cli/command.h"

#define PIECE_BYTES 4096

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

static ssize_t write_clean(void *cookie, const char *text, size_t bytes)
{
	char piece[PIECE_BYTES];
	size_t done = 0;

	(void)cookie;
	while (done < bytes) {
		size_t n = 0;

		for (; n < sizeof(piece) && done < bytes; n++, done++) {
			const char c = text[done];

			piece[n] = (c >= 0x20 && c <= 0x7e) || c == '\n' || c == '\t' ? c : '?';
		}
		if (nt_write_all(STDOUT_FILENO, piece, n) < 0)
			return 0;
	}
	return (ssize_t)bytes;
}

/* Only printable ASCII, line ends and tabs pass. Text from users' jobs, files and file names is
 * cleaned where it is read (record/read.h) or printed (nt_shown): this is a second check. glibc:
 * stdout can be assigned, and streams made from functions. */
static void clean_stdout(void)
{
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_clean });

	if (!stream)
		return;
	if (isatty(STDOUT_FILENO))
		setvbuf(stream, NULL, _IOLBF, 0);
	stdout = stream;
}

int main(int argc, char *argv[])
{
	const struct nt_command *command;

	if (!hold_standard_streams())
		return NT_EXIT_FAILED;
	clean_stdout();
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
