/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune check-config: would Slurm find what it is to load, and is the site's file good? */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "launch/file.h"
#include "record/filesink.h"
#include "report/command.h"
#include "report/config.h"
#include "spank/sink.h"
#include "spank/slurm_compat.h"

struct check {
	struct nt_config config;
	unsigned problems;
};

static void say(struct check *check, bool problem, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void say(struct check *check, bool problem, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	nt_command_complain(&nt_command_check_config, "%s%s", problem ? "" : "note: ", text);
	check->problems += problem;
}

/* ---- what Slurm loads */

/* Slurm's own symbols come from the program that loads a plugin, so they are not looked for. */
static void check_plugin(struct check *check, const struct nt_plugstack_line *line)
{
	void *handle;

	if (access(line->plugin, R_OK) != 0) {
		say(check, true, "%s:%u: %s: %s%s", line->file, line->line, line->plugin,
		    strerror(errno),
		    line->required ? ""
				   : " (optional: jobs run without it, and newer releases of Slurm "
				     "say nothing)");
		return;
	}
	handle = dlopen(line->plugin, RTLD_LAZY | RTLD_LOCAL);
	if (handle)
		dlclose(handle);
	else
		say(check, true, "%s:%u: it cannot be loaded: %s", line->file, line->line,
		    dlerror());
}

static void check_file(struct check *check, const char *what, const char *path, int mode)
{
	if (access(path, mode) != 0)
		say(check, true, "%s %s: %s", what, path, strerror(errno));
}

static void check_plugstack(struct check *check, const char *path)
{
	struct nt_config *config = &check->config;
	struct nt_error err;

	if (nt_config_open(config, path, &err) < 0) {
		say(check, true, "%s%s", err.text,
		    config->stack.files && !config->stack.tune.found
			    ? ": no step is tuned on this host"
			    : "");
		snprintf(config->site.config, sizeof(config->site.config), "%s", NT_CONF_FILE);
		if (config->stack.tune.found)
			check_plugin(check, &config->stack.tune);
		return;
	}
	check_plugin(check, &config->stack.tune);
	if (config->stack.tune.required)
		say(check, false, "%s:%u: required: where the plugin is missing, jobs fail",
		    config->stack.tune.file, config->stack.tune.line);
	check_file(check, "plugin", config->site.plugin, R_OK);
	check_file(check, "recordd", config->site.recordd, X_OK);
	check_file(check, "profiles", config->site.profiles, R_OK);
}

/* ---- the file */

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return strcmp(a, b) == 0 || (stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
				     x.st_ino == y.st_ino);
}

/* One that is not in force may be anybody's: a draft. */
static void check_owner(struct check *check, const char *path, bool in_force)
{
	struct nt_error err;
	char *text;
	size_t bytes;

	if (nt_launch_file_read(AT_FDCWD, path, NT_LAUNCH_ROOT_ONLY | NT_LAUNCH_NO_LINK,
				NT_INI_FILE_MAX, &text, &bytes, &err) == 0)
		free(text);
	else if (errno == ELOOP)
		say(check, in_force, "%s is a symbolic link", path);
	else
		say(check, in_force, "%s", err.text);
}

static int check_text(struct check *check, const char *path, bool must)
{
	struct nt_error err;
	char *text;
	size_t bytes;
	int rc;

	errno = 0;
	if (nt_launch_file_read(AT_FDCWD, path, 0, NT_INI_FILE_MAX, &text, &bytes, &err) < 0) {
		if (errno != ENOENT || must)
			say(check, true, "%s", err.text);
		return -1;
	}
	rc = nt_conf_parse(&check->config.conf, path, text, bytes, &err);
	free(text);
	if (rc < 0)
		say(check, true, "%s", err.text);
	return rc;
}

static bool has_kind(const struct nt_conf *conf, enum nt_conf_kind kind)
{
	for (unsigned i = 1; i < conf->count; i++) {
		if (conf->section[i].kind == kind)
			return true;
	}
	return false;
}

/* Sections for partitions and so on count for nothing where a step's are not known. */
static void check_job_line(struct check *check)
{
	const struct nt_plugstack *stack = &check->config.stack;
	const struct nt_conf *conf = &check->config.conf;
	const char *rundir = NT_RUN_DIR;

	if (!nt_conf_has_sections(conf))
		return;
	if (!stack->job.found) {
		say(check, true,
		    "%s has sections, and %s no line for " NT_PLUGSTACK_JOB_PLUGIN
		    ": the strictest of them hold for every step",
		    conf->path, stack->path);
	} else {
		check_plugin(check, &stack->job);
		for (int i = 0; i < stack->job.argc; i++) {
			if (strncmp(stack->job.argv[i], "rundir=", 7) == 0)
				rundir = stack->job.argv[i] + 7;
		}
		if (strcmp(rundir, check->config.site.rundir) != 0)
			say(check, true, "%s:%u: rundir is %s here, and %s in the other line",
			    stack->job.file, stack->job.line, rundir, check->config.site.rundir);
	}
	if (has_kind(conf, NT_CONF_QOS) && !NT_SLURM_TELLS_QOS)
		say(check, false,
		    "%s has sections for QOSs, which this release of Slurm does not tell nodes: the "
		    "strictest of them hold for every step",
		    conf->path);
}

/* The directory of records, if it is there yet: as nt-recordd wants it, and for users to read. */
static void check_record_directory(struct check *check, const char *directory)
{
	struct stat status;

	if (lstat(directory, &status) < 0)
		return;
	if (!S_ISDIR(status.st_mode) || status.st_uid != 0 ||
	    (status.st_mode & (S_IWGRP | S_IWOTH)))
		say(check, true,
		    "record: %s must be a directory of root's, and writable to nobody else",
		    directory);
	else if (!nt_filesink_has_lists(directory))
		say(check, false,
		    "record: %s is on a file system without access lists: root alone can read the "
		    "records there",
		    directory);
}

static void check_sinks(struct check *check)
{
	const struct nt_config *config = &check->config;
	const struct nt_sinks *sinks = config->conf.record_line ? &config->conf.sinks
								: &config->site.sinks;

	if (nt_sinks_have(sinks, NT_SINK_EXTRA) && !nt_sink_place(NT_SINK_EXTRA))
		say(check, false,
		    "record: this release of Slurm keeps no Extra of a job: it is passed over");
	if (nt_sinks_have(sinks, NT_SINK_FILE))
		check_record_directory(check, sinks->directory);
}

static int check_all(const char *plugstack, const char *file)
{
	static struct check check;
	struct nt_site *site = &check.config.site;
	const char *path;
	bool in_force;

	nt_conf_init(&check.config.conf);
	check_plugstack(&check, plugstack);
	path = file ? file : site->config;
	in_force = same_file(path, site->config);
	if (check_text(&check, path, file || site->config_given) == 0) {
		check_owner(&check, path, in_force);
		check_job_line(&check);
		check_sinks(&check);
		if (check.problems == 0)
			printf("%s: %u section%s, in order\n", path, check.config.conf.count - 1,
			       check.config.conf.count == 2 ? "" : "s");
	} else if (check.problems == 0) {
		printf("%s: not there, and nothing is wrong with that\n", path);
	}
	return check.problems == 0 ? NT_EXIT_OK : NT_EXIT_FAILED;
}

static int run(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "plugstack", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *plugstack = NULL;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":s:h", options, NULL)) != -1) {
		if (option == 's')
			plugstack = optarg;
		else if (option == 'h')
			return nt_command_help(&nt_command_check_config);
		else
			return nt_command_misuse_option(&nt_command_check_config, option, argv);
	}
	if (optind + 1 < argc)
		return nt_command_misuse(&nt_command_check_config, "one file, not also '%s'",
					 argv[optind + 1]);
	return nt_command_finish(&nt_command_check_config,
				 check_all(plugstack, optind < argc ? argv[optind] : NULL));
}

const struct nt_command nt_command_check_config = {
	.name = "check-config",
	.run = run,
	.summary = "check nccl-tune.conf, and that Slurm finds the plugin",
	.help = "Usage: nccl-tune check-config [--plugstack FILE] [FILE]\n"
		"\n"
		"Check on this host: the line of the plugin in plugstack.conf, that what it names is\n"
		"there and can be loaded, and nccl-tune.conf, or FILE in its place: every key and value,\n"
		"and that the file in force is root's and no link. Says each problem on a line of stderr.\n"
		"\n"
		"  -s, --plugstack FILE  in place of Slurm's own plugstack.conf\n"
		"  -h, --help            print this\n"
		"\n"
		"Exit status: 0 in order, 1 a problem was found, 2 misuse.\n",
};
