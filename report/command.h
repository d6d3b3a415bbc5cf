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

enum nt_exit {
	NT_EXIT_OK = 0,
	NT_EXIT_FAILED = 1, /* the reason is on stderr; what was printed is partial */
	NT_EXIT_USAGE = 2, /* with a hint on stderr; nothing was done */
};

struct nt_command {
	const char *name;
	int (*run)(int argc, char *argv[]); /* argv[0] is the subcommand */
	const char *summary; /* half a line for --help */
	const char *help; /* the whole text of "help NAME" */
};

extern const struct nt_command nt_command_report;
extern const struct nt_command nt_command_show;
extern const struct nt_command nt_command_backfill;
extern const struct nt_command nt_command_calibrate;
extern const struct nt_command nt_command_check_config;
extern const struct nt_command nt_command_config;
extern const struct nt_command nt_command_fingerprint;
extern const struct nt_command nt_command_explain;
extern const struct nt_command nt_command_learn;
extern const struct nt_command nt_command_memory;
extern const struct nt_command nt_command_replay;
extern const struct nt_command nt_command_watch;
extern const struct nt_command nt_command_summary;

/* "nccl-tune NAME: ..." */
void nt_command_complain(const struct nt_command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same with the hint; returns NT_EXIT_USAGE. */
int nt_command_misuse(const struct nt_command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* After getopt_long (with opterr = 0) answered '?' or ':'. */
int nt_command_misuse_option(const struct nt_command *command, int answer, char *argv[]);

/* Print the help to stdout; returns the exit status. */
int nt_command_help(const struct nt_command *command);

/* Flush stdout: NT_EXIT_FAILED if what was printed could not be written, else status. */
int nt_command_finish(const struct nt_command *command, int status);

#endif
