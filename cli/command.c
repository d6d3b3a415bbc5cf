/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <argp.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/number.h"
#include "lib/printable.h"

#define NAME_BYTES 64 /* "nccl-tune NAME" */
#define OPTIONS_MAX 20
#define LONG 0x100 /* keys of options from here on have no short form */
#define TRY "Try 'nccl-tune help %s'.\n"

/* A process runs one subcommand. */
static const struct nt_command *running;
static uint32_t given; /* bits of its options */

__attribute__((format(printf, 1, 0))) static void complain(const char *format, va_list args)
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

int nt_command_status(int rc, const struct nt_error *err)
{
	return rc < 0 ? nt_command_fail(err) : NT_EXIT_OK;
}

bool nt_command_given(const struct nt_option *option)
{
	return given >> (option - running->options) & 1;
}

/* ---- options */

static int key_of(const struct nt_option *option)
{
	return option->letter ? option->letter : (int)(LONG + (option - running->options));
}

static int take_number(const struct nt_option *option, const char *text, uint64_t *number)
{
	if (nt_number_parse(text, option->least, option->most, number) == 0)
		return 0;
	return nt_command_misuse("--%s '%.40s' (want %" PRIu64 " to %" PRIu64 ")", option->name,
				 text, option->least, option->most);
}

static int take_option(const struct nt_option *option, const char *text, void *request)
{
	void *at = (char *)request + option->at;
	uint64_t number = 0;
	int status = 0;

	given |= 1u << (option - running->options);
	switch (option->kind) {
	case NT_OPTION_TEXT: *(const char **)at = text; break;
	case NT_OPTION_FLAG: *(bool *)at = true; break;
	case NT_OPTION_CHOICE: *(int *)at = (int)option->most; break;
	case NT_OPTION_U32:
		status = take_number(option, text, &number);
		*(uint32_t *)at = (uint32_t)number;
		break;
	case NT_OPTION_U64:
		status = take_number(option, text, &number);
		*(uint64_t *)at = number;
		break;
	case NT_OPTION_TAKE: status = option->take(request, text); break;
	}
	return status;
}

struct parsing {
	void *request;
	bool helped;
};

static error_t parse_key(int key, char *text, struct argp_state *state)
{
	struct parsing *parsing = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->err_stream = NULL; /* we print the hint; getopt prints what is wrong */
		return 0;
	case 'h':
		parsing->helped = true;
		argp_state_help(state, stdout,
				ARGP_HELP_SHORT_USAGE | ARGP_HELP_PRE_DOC | ARGP_HELP_LONG |
					ARGP_HELP_POST_DOC);
		state->next = state->argc;
		return 0;
	default: break;
	}
	for (const struct nt_option *option = running->options; option && option->name; option++) {
		if (key == key_of(option))
			return take_option(option, text, parsing->request);
	}
	return ARGP_ERR_UNKNOWN;
}

static void list_options(struct argp_option out[OPTIONS_MAX])
{
	for (const struct nt_option *option = running->options; option && option->name; option++)
		*out++ = (struct argp_option){
			option->name,	  key_of(option),
			option->argument, option->optional ? OPTION_ARG_OPTIONAL : 0,
			option->help,	  0
		};
	*out = (struct argp_option){ "help", 'h', NULL, 0, "Print this help", -1 };
}

/* Without the note that a short option takes what its long form takes. */
static char *leave_out_note(int key, const char *text, void *input)
{
	(void)input;
	return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : (char *)text;
}

/* The first word with unprintable characters, which getopt would print unchanged; or NULL. */
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

/* Moves arguments behind the options; *first is the index of the first one. Returns -1 to go on, or
 * the exit status after help or a complaint. */
static int parse(int argc, char *argv[], void *request, int *first)
{
	struct argp_option options[OPTIONS_MAX] = { { 0 } };
	const struct argp argp = { .options = options,
				   .parser = parse_key,
				   .args_doc = running->usage,
				   .doc = running->doc,
				   .help_filter = leave_out_note };
	struct parsing parsing = { request, false };
	char name[NAME_BYTES], *own_name = argv[0];
	const char *unprintable = find_unprintable(argc, argv);
	const unsigned flags = ARGP_NO_EXIT | ARGP_NO_HELP | (unprintable ? ARGP_NO_ERRS : 0);
	int rc;

	list_options(options);
	snprintf(name, sizeof(name), "nccl-tune %s", running->name);
	argv[0] = name;
	*first = argc;
	rc = argp_parse(&argp, (unsigned)argc, argv, flags, first, &parsing);
	argv[0] = own_name;
	if (rc != 0 && rc != NT_EXIT_USAGE && unprintable)
		return nt_command_misuse("wrong option in '%s'", unprintable);
	if (rc != 0 && rc != NT_EXIT_USAGE)
		fprintf(stderr, TRY, running->name);
	if (rc != 0)
		return NT_EXIT_USAGE;
	return parsing.helped ? NT_EXIT_OK : -1;
}

static int finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	nt_command_complain("cannot write the answer: %m");
	return NT_EXIT_FAILED;
}

int nt_command_run(const struct nt_command *command, int argc, char *argv[])
{
	void *request = calloc(1, command->request_bytes + 1);
	int first, status;

	running = command;
	given = 0;
	if (!request)
		return nt_command_fail(&(struct nt_error){ "no memory" });
	if (command->init)
		command->init(request);
	status = parse(argc, argv, request, &first);
	if (status < 0 && argc - first > command->arguments)
		status = nt_command_misuse("unexpected argument '%s'",
					   argv[first + command->arguments]);
	else if (status < 0)
		status = command->run(request, argv + first);
	free(request);
	return status == NT_EXIT_USAGE ? status : finish(status);
}

int nt_command_help(const struct nt_command *command)
{
	char name[] = "", option[] = "--help";
	char *argv[] = { name, option, NULL };

	return nt_command_run(command, 2, argv);
}
