/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - what the subcommands of nccl-tune share
 *
 * Threads:  the main thread.
 * Memory:   none is handed over.
 * Errors:   a subcommand prints its own, one line each to stderr, and returns the exit status.
 */
#ifndef NT_COMMAND_H
#define NT_COMMAND_H

#include <argp.h>
#include <stdint.h>
#include "lib/error.h"

enum nt_exit {
	NT_EXIT_OK = 0,
	NT_EXIT_FAILED = 1, /* the reason is on stderr; what was printed is partial */
	NT_EXIT_USAGE = 2, /* with a hint on stderr; nothing was done */
};

struct nt_command {
	const char *name;
	int (*run)(int argc, char *argv[]); /* argv[0] is the subcommand */
	const char *summary; /* half a line for --help */
	/* Options, arguments and what "help NAME" says; -h and --help are added. Its parser leaves
	 * arguments alone, and returns what nt_command_misuse() does where an option is wrong. */
	const struct argp *argp;
	unsigned flags; /* ARGP_NO_ARGS: options end at the first argument */
};

/* The key of an option that has no short form; the letter is for the command's own use. */
#define NT_LONG(letter) (0x100 | (letter))

extern const struct nt_command nt_command_report;
extern const struct nt_command nt_command_show;
extern const struct nt_command nt_command_backfill;
extern const struct nt_command nt_command_calibrate;
extern const struct nt_command nt_command_check_config;
extern const struct nt_command nt_command_compare;
extern const struct nt_command nt_command_config;
extern const struct nt_command nt_command_fingerprint;
extern const struct nt_command nt_command_explain;
extern const struct nt_command nt_command_learn;
extern const struct nt_command nt_command_memory;
extern const struct nt_command nt_command_replay;
extern const struct nt_command nt_command_watch;
extern const struct nt_command nt_command_summary;

#define NT_COMMAND_GO (-1)

/* Parse the options of argv by the command's table; input is the state->input of its parser.
 * Arguments are moved behind options; *first is the index of the first one. Returns NT_COMMAND_GO,
 * or the exit status: help was printed, or what is wrong was told. From here on the functions
 * below speak for this command. */
int nt_command_parse(const struct nt_command *command, int argc, char *argv[], void *input,
		     int *first);

/* "nccl-tune NAME: ..." */
void nt_command_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same with the hint; returns NT_EXIT_USAGE. */
int nt_command_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Complains of the error; returns NT_EXIT_FAILED. */
int nt_command_fail(const struct nt_error *err);

/* A whole number from least to most in *number: 0; else what is wrong is told. what: "--top". */
int nt_command_number(const char *what, const char *text, uint64_t least, uint64_t most,
		      uint64_t *number);

/* The same for a count from 1 to most; *count is what was read either way. */
int nt_command_count(const char *what, const char *text, uint64_t most, uint32_t *count);

/* Print the help to stdout; returns the exit status. */
int nt_command_help(const struct nt_command *command);

/* Flush stdout: NT_EXIT_FAILED if what was printed could not be written, else status. */
int nt_command_finish(int status);

#endif
