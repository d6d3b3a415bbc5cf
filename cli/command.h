/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - what the subcommands of nccl-tune share
 *
 * A subcommand is a table: its options say where their values go in a request, which is a struct of
 * the subcommand.
 *
 * Threads:  the main thread.
 * Memory:   a request lives while its subcommand runs; its texts are words of argv.
 * Errors:   a subcommand prints its own, one line each to stderr, and returns the exit status.
 */
#ifndef NT_COMMAND_H
#define NT_COMMAND_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

enum nt_exit {
	NT_EXIT_OK = 0,
	NT_EXIT_FAILED = 1, /* the reason is on stderr; what was printed is partial */
	NT_EXIT_USAGE = 2, /* with a hint on stderr; nothing was done */
};

enum nt_option_kind {
	NT_OPTION_TAKE = 0, /* calls take */
	NT_OPTION_TEXT, /* const char * */
	NT_OPTION_FLAG, /* bool */
	NT_OPTION_CHOICE, /* int or enum: becomes most */
	NT_OPTION_U32, /* uint32_t from least to most */
	NT_OPTION_U64, /* 64 bits, likewise */
};

struct nt_option {
	const char *name; /* without "--"; NULL ends a table */
	int letter; /* of the short form; 0: none */
	const char *help;
	enum nt_option_kind kind;
	const char *argument; /* what the help calls it; NULL: the option has none */
	size_t at; /* where the value is in the request */
	uint64_t least, most;
	/* 0, or an exit status of nt_command_misuse(). text is NULL where it is optional and
	 * missing. */
	int (*take)(void *request, const char *text);
	bool optional; /* the argument */
};

#define NT_TEXT(type, member, word) \
	.kind = NT_OPTION_TEXT, .at = offsetof(type, member), .argument = (word)
#define NT_FLAG(type, member) .kind = NT_OPTION_FLAG, .at = offsetof(type, member)
#define NT_CHOICE(type, member, value) \
	.kind = NT_OPTION_CHOICE, .at = offsetof(type, member), .most = (value)
#define NT_U32(type, member, word, from, to)                                                      \
	.kind = NT_OPTION_U32, .at = offsetof(type, member), .argument = (word), .least = (from), \
	.most = (to)
#define NT_U64(type, member, word, from, to)                                                      \
	.kind = NT_OPTION_U64, .at = offsetof(type, member), .argument = (word), .least = (from), \
	.most = (to)
#define NT_TAKE(function, word) .take = (function), .argument = (word)

struct nt_command {
	const char *name;
	const char *summary; /* half a line for --help */
	const struct nt_option *options; /* --help is added */
	const char *usage; /* of the arguments */
	const char
		*doc; /* what "help NAME" says: before the options and, after a \v, behind them */
	size_t request_bytes;
	void (*init)(void *request); /* sets what is not 0 without options; may be NULL */
	int (*run)(void *request, char *argv[]); /* the arguments, and a NULL */
	int arguments; /* the most there may be */
};

#define NT_ANY_NUMBER INT_MAX /* of arguments */

extern const struct nt_command nt_command_report;
extern const struct nt_command nt_command_backfill;
extern const struct nt_command nt_command_calibrate;
extern const struct nt_command nt_command_check_config;
extern const struct nt_command nt_command_memory;
extern const struct nt_command nt_command_summary;

/* Parse the options and run the subcommand; argv[0] is its name. Returns the exit status. From here
 * on the functions below speak for this subcommand. */
int nt_command_run(const struct nt_command *command, int argc, char *argv[]);

/* Was this one of the subcommand's options given? */
bool nt_command_given(const struct nt_option *option);

/* "nccl-tune NAME: ..." */
void nt_command_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same with the hint; returns NT_EXIT_USAGE. */
int nt_command_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Complains of the error; returns NT_EXIT_FAILED. */
int nt_command_fail(const struct nt_error *err);

/* The same if rc is below 0; else returns NT_EXIT_OK. */
int nt_command_status(int rc, const struct nt_error *err);

/* Print the help to stdout; returns the exit status. */
int nt_command_help(const struct nt_command *command);

#endif
