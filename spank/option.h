/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* option.h - the argument in plugstack.conf, and the user's option
 *
 * Threads:  pure functions, any thread.
 * Memory:   value types.
 * Errors:   -1 and *err names the value and what is accepted.
 */
#ifndef NT_OPTION_H
#define NT_OPTION_H

#include <stdbool.h>
#include "lib/error.h"
#include "contract/policy.h"
#include "site/rules.h"
#include "spank/submit/ask-launch.h"

/* The plugin's line in plugstack.conf, which has at most conf=PATH: *conf is that file, which must
 * exist then (*given), or NT_CONF_FILE. -1: another argument. */
int nt_line_parse(int argc, char *const argv[], const char **conf, bool *given,
		  struct nt_error *err);

/* The path of nt-launch, which lies beside nt-recordd. */
void nt_site_launch_program(const struct nt_site *site, char out[NT_LAUNCH_PATH]);

/* Is there a launch profile of this name in the files of this host? -1 and *err with the names if
 * not. If the files cannot be read, there is no error. */
int nt_option_check_launch(const struct nt_site *site, const char *launch, struct nt_error *err);

/* The environment variable for the option of program; NULL: none. */
const char *nt_option_variable(const char *program);

/* One line for the user: which value was given where, and why it is refused. rank: JOB, VARIABLE or
 * OPTION. */
void nt_option_complain(char *out, size_t out_bytes, enum nt_precedence rank, const char *variable,
			const char *text, const struct nt_error *reason);

#endif
