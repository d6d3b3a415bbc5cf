/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* option.h - the site's arguments in plugstack.conf, the user's option, and the settings that
 * follow
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
#include "spank/ask-launch.h"

/* The arguments of the plugin's line in plugstack.conf. */
struct nt_site {
	char plugin[NT_PATH_MAX]; /* libnccl-tune.so */
	char recordd[NT_PATH_MAX]; /* nt-recordd */
	char rundir[NT_PATH_MAX];
	char spooldir[NT_PATH_MAX];
	struct nt_sinks sinks;
	char config[NT_PATH_MAX]; /* nccl-tune.conf */
	bool config_given; /* by an argument: the file must exist */
	struct nt_site_default defaults; /* mode off if the site gives none */
	bool pmix; /* PMIx is the default of every step */
	char profiles[NT_PATH_MAX]; /* launch profiles that come with the package */
	char site_memory[NT_PATH_MAX]; /* what the site has measured; may be missing */
	char command[NT_PATH_MAX]; /* nccl-tune, which calibrates */
	/* of the file system of a step's directory; dir_bytes 0: no file system of its own */
	int64_t dir_bytes, dir_files;
};

/* key=value each; the last one of a key counts. */
int nt_site_parse(struct nt_site *site, int argc, char *const argv[], struct nt_error *err);

/* The file overrides some of these arguments. */
void nt_site_overrule(struct nt_site *site, const struct nt_conf *conf);

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
