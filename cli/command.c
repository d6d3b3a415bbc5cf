/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* How subcommands speak to their user. */
#include "cli/command.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include "lib/number.h"
#include "lib/printable.h"

#define NAME_BYTES 64 /* "nccl-tune NAME" */
#define TRY "Try 'nccl-tune help %s'.\n"

static const struct nt_command *running; /* a process runs one */

static void complain(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

static void complain(const char *format, va_list args)
{
	char text[1024];

	fflush(stdout);
	vsnprintf(text, sizeof(text), format, args);
	fprintf(stderr, "nccl-tune %s: %s\n", running->name, nt_printable(text));
}

void nt_command_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
}

int nt_command_misuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	fprintf(stderr, TRY, running->name);
	return NT_EXIT_USAGE;
}

int nt_command_fail(const struct nt_error *err)
{
	nt_command_complain("%s", err->text);
	return NT_EXIT_FAILED;
}

struct parsing {
	void *input;
	bool helped;
};

/* That a short option takes what its long form takes. */
static char *leave_out_note(int key, const char *text, void *input)
{
	(void)input;
	return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : (char *)text;
}

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	struct parsing *parsing = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = parsing->input;
		state->err_stream = NULL; /* the hint is ours; getopt's line is told */
		return 0;
	case 'h':
		parsing->helped = true;
		argp_state_help(state, stdout,
				ARGP_HELP_SHORT_USAGE | ARGP_HELP_PRE_DOC | ARGP_HELP_LONG |
					ARGP_HELP_POST_DOC);
		state->next = state->argc;
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option common_options[] = {
	{ "help", 'h', NULL, 0, "Print this help", -1 },
	{ 0 },
};

int nt_command_help(const struct nt_command *command)
{
	char name[] = "", option[] = "--help";
	char *argv[] = { name, option, NULL };
	int first;

	return nt_command_parse(command, 2, argv, NULL, &first);
}

/* The first word that getopt, which repeats a wrong option as it is, could not print; or NULL. */
static const char *find_unprintable(int argc, char *argv[])
{
	for (int i = 1; i < argc; i++) {
		for (const char *c = argv[i]; *c; c++) {
			if (*c < ' ' || *c > '~')
				return argv[i];
		}
	}
	return NULL;
}

int nt_command_parse(const struct nt_command *command, int argc, char *argv[], void *input,
		     int *first)
{
	const struct argp_child own[] = { { command->argp, 0, NULL, 0 }, { 0 } };
	const struct argp whole = { .options = common_options,
				    .parser = parse_common,
				    .children = own,
				    .help_filter = leave_out_note };
	struct parsing parsing = { input, false };
	char name[NAME_BYTES], *own_name = argv[0];
	const char *unprintable = find_unprintable(argc, argv);
	unsigned flags = ARGP_NO_EXIT | ARGP_NO_HELP | command->flags;
	int rc;

	running = command;
	snprintf(name, sizeof(name), "nccl-tune %s", command->name);
	argv[0] = name;
	*first = argc;
	rc = argp_parse(&whole, (unsigned)argc, argv, flags | (unprintable ? ARGP_NO_ERRS : 0),
			first, &parsing);
	argv[0] = own_name;
	if (rc != 0 && rc != NT_EXIT_USAGE && unprintable)
		return nt_command_misuse("wrong option in '%s'", unprintable);
	if (rc != 0 && rc != NT_EXIT_USAGE)
		fprintf(stderr, TRY, command->name);
	if (rc != 0)
		return NT_EXIT_USAGE;
	return parsing.helped ? nt_command_finish(NT_EXIT_OK) : NT_COMMAND_GO;
}

int nt_command_number(const char *what, const char *text, uint64_t least, uint64_t most,
		      uint64_t *number)
{
	if (nt_number_parse(text, least, most, number) == 0)
		return 0;
	return nt_command_misuse("%s '%.40s' (want %" PRIu64 " to %" PRIu64 ")", what, text, least,
				 most);
}

int nt_command_count(const char *what, const char *text, uint64_t most, uint32_t *count)
{
	uint64_t number = 0;
	int status = nt_command_number(what, text, 1, most, &number);

	*count = (uint32_t)number;
	return status;
}

int nt_command_finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	nt_command_complain("cannot write the answer: %m");
	return NT_EXIT_FAILED;
}
