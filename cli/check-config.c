/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune check-config: does Slurm find the plugin, is the site's file valid, and what does this
 * node's hardware count as? */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/child.h"
#include "lib/file.h"
#include "lib/name-set.h"
#include "lib/plural.h"
#include "launch/memory.h"
#include "launch/profile.h"
#include "record/filesink.h"
#include "cli/command.h"
#include "report/model/site-config.h"
#include "spank/step/cache.h"
#include "spank/step/node-fingerprint.h"
#include "spank/option.h"

#define SINFO_MS 5000
#define SINFO_BYTES (16u << 20)
#define PARTITIONS_MAX 100000

struct check {
	struct nt_config config;
	unsigned problems;
};

__attribute__((format(printf, 3, 4))) static void say(struct check *check, bool problem,
						      const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	nt_command_complain("%s%s", problem ? "" : "note: ", text);
	check->problems += problem;
}

/* Prints what was checked, whatever the result. */
__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...)
{
	va_list args;

	printf("checked ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

/* ---- what Slurm loads */

/* The program that loads a plugin provides Slurm's symbols. Here a plugin that was linked with
 * -z now fails on one of these first, after the libraries that it needs were loaded. */
static bool lacks_slurm(const char *why)
{
	static const char what[] = "undefined symbol: ";
	const char *symbol = strstr(why, what);

	symbol = symbol ? symbol + sizeof(what) - 1 : "";
	return strncmp(symbol, "spank_", 6) == 0 || strncmp(symbol, "slurm_", 6) == 0;
}

static void check_plugin(struct check *check, const struct nt_plugstack_line *line)
{
	void *handle;
	const char *why;

	tell("%s:%u: %s", line->file, line->line, line->plugin);
	if (line->others > 0)
		say(check, true, "%s:%u: %u more line%s load%s this plugin: keep one", line->file,
		    line->line, line->others, nt_plural(line->others),
		    line->others == 1 ? "s" : "");
	if (access(line->plugin, R_OK) != 0) {
		say(check, true, "%s:%u: %s: %s%s", line->file, line->line, line->plugin,
		    strerror(errno),
		    line->required ? ""
				   : " (optional: jobs run without it, and newer releases of "
				     "Slurm do not report it)");
		return;
	}
	handle = dlopen(line->plugin, RTLD_LAZY | RTLD_LOCAL);
	why = handle ? NULL : dlerror();
	if (handle)
		dlclose(handle);
	else if (!why || !lacks_slurm(why))
		say(check, true, "%s:%u: cannot be loaded: %s", line->file, line->line,
		    why ? why : "no reason given");
}

/* srun reads these files as the user; root could read them in any case. */
static void check_readable(struct check *check, const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0 && !(status.st_mode & S_IROTH))
		say(check, true, "%s cannot be read by all users (mode %04o)", path,
		    (unsigned)status.st_mode & 07777);
}

static void check_file(struct check *check, const char *what, const char *path, int mode)
{
	tell("%s %s", what, path);
	if (access(path, mode) != 0)
		say(check, true, "%s %s: %s", what, path, strerror(errno));
}

/* The package's profiles and the site's, as srun reads them. */
static void check_profiles(struct check *check, const char *path, bool must,
			   struct nt_profiles *profiles)
{
	const unsigned before = profiles->count;
	struct nt_error err;

	errno = 0;
	if (nt_profiles_read(profiles, path, 0, &err) == 0) {
		tell("profiles %s: %u", path, profiles->count - before);
		check_readable(check, path);
	} else if (errno == ENOENT && !must) {
		tell("profiles %s: absent (optional)", path);
	} else {
		tell("profiles %s", path);
		say(check, true, "profiles: %s", err.text);
	}
}

static void check_site_memory(struct check *check, const char *path)
{
	struct nt_memory memory;
	struct nt_error err;

	nt_memory_init(&memory);
	errno = 0;
	if (nt_memory_read_file(&memory, path, NT_FILE_ROOT_ONLY, &err) == 0) {
		tell("site_memory %s: %zu entr%s", path, memory.entries,
		     memory.entries == 1 ? "y" : "ies");
		check_readable(check, path);
		if (memory.skipped_lines)
			say(check, true, "site_memory %s: %u malformed line%s ignored", path,
			    memory.skipped_lines, memory.skipped_lines == 1 ? " is" : "s are");
	} else if (errno == ENOENT) {
		tell("site_memory %s: absent (optional)", path);
	} else {
		tell("site_memory %s", path);
		say(check, true, "site_memory: %s", err.text);
	}
	nt_memory_fini(&memory);
}

static void check_files(struct check *check)
{
	static struct nt_profiles profiles;
	const struct nt_site *site = &check->config.conf.site;
	char launch[NT_LAUNCH_PATH];

	nt_site_launch_program(site, launch);
	check_file(check, "plugin", site->plugin, R_OK);
	check_readable(check, site->plugin);
	check_file(check, "recordd", site->recordd, X_OK);
	check_file(check, "launch helper", launch, X_OK);
	nt_profiles_init(&profiles);
	check_profiles(check, site->profiles, true, &profiles);
	check_profiles(check, NT_SITE_PROFILES, false, &profiles);
	check_site_memory(check, site->site_memory);
}

/* slurmctld serves plugstack.conf as it is, and files that it includes only by a plain name, from
 * 23.11 on; for a pattern it complains, or before 23.11.5 waits a minute. */
static void check_served(struct check *check)
{
	const struct nt_plugstack *stack = &check->config.stack;
	const struct nt_plugstack_line *line = &stack->tune;

	if (!stack->served)
		return;
	if (!line->found)
		say(check, false,
		    "slurmctld serves this cluster's configuration (configless): \"optional " NT_PLUGSTACK_PLUGIN
		    "\" belongs in plugstack.conf on slurmctld's host, not in a file of "
		    "this host; then: scontrol reconfigure");
	else if (strpbrk(line->include, "*?[/"))
		say(check, true,
		    "%s:%u: slurmctld serves this cluster's configuration (configless), and does not "
		    "serve what \"include %s\" names: write this line itself into plugstack.conf on "
		    "slurmctld's host; then: scontrol reconfigure",
		    line->file, line->line, line->include);
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
		check_served(check);
		if (config->stack.tune.found)
			check_plugin(check, &config->stack.tune);
		return;
	}
	check_plugin(check, &config->stack.tune);
	if (config->stack.tune.required)
		say(check, false, "%s:%u: required: jobs fail on nodes without the plugin",
		    config->stack.tune.file, config->stack.tune.line);
	check_served(check);
}

/* ---- the file */

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return strcmp(a, b) == 0 || (stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
				     x.st_ino == y.st_ino);
}

/* A file that is not in force, such as a draft, may belong to anybody. */
static void check_owner(struct check *check, const char *path, bool in_force)
{
	struct nt_error err;
	char *text;
	size_t bytes;

	if (nt_file_read_at(AT_FDCWD, path, NT_FILE_ROOT_ONLY | NT_FILE_NO_LINK, NT_INI_FILE_MAX,
			    &text, &bytes, &err) == 0)
		free(text);
	else if (errno == ELOOP)
		say(check, in_force, "%s is a symbolic link", path);
	else
		say(check, in_force, "%s", err.text);
	if (in_force)
		check_readable(check, path);
}

static int check_text(struct check *check, const char *path, bool must)
{
	struct nt_error err;
	char *text;
	size_t bytes;
	int rc;

	errno = 0;
	if (nt_file_read_at(AT_FDCWD, path, 0, NT_INI_FILE_MAX, &text, &bytes, &err) < 0) {
		if (errno != ENOENT || must)
			say(check, true, "%s", err.text);
		return -1;
	}
	rc = nt_conf_parse(&check->config.conf, path, text, bytes, &err);
	if (rc < 0)
		say(check, true, "%s", err.text);
	free(text);
	return rc;
}

static int take_lines(struct nt_names *names, char *text, struct nt_error *err)
{
	char *rest = NULL;

	for (char *line = strtok_r(text, " \n", &rest); line; line = strtok_r(NULL, " \n", &rest)) {
		if (nt_names_add(names, line) < 0)
			return nt_error_set(err, "there are too many");
	}
	return 0;
}

/* The partitions that Slurm knows. The command obeys the site's PrivateData, and can be ended at a
 * deadline; lib/sacct.h says why libslurm is not used. names is to be freed by nt_names_fini(). */
static int list_partitions(struct nt_names *names, struct nt_error *err)
{
	static char *const command[] = { "sinfo", "-a", "-h", "-o", "%R", NULL };
	struct nt_child child;
	struct nt_error why;
	int rc;

	nt_names_init(names, PARTITIONS_MAX);
	rc = nt_child_run(&child, command, SINFO_BYTES, SINFO_MS, &why);
	if (rc == 0 && child.status != 0)
		rc = nt_error_set(&why, "%s", child.complaint[0] ? child.complaint : "it failed");
	if (rc == 0 && child.out)
		rc = take_lines(names, child.out, &why);
	if (rc < 0)
		nt_error_set(err, "%s: %s", command[0], why.text);
	nt_child_fini(&child);
	if (rc < 0)
		nt_names_fini(names);
	return rc;
}

/* A section never applies if Slurm does not know its name, which is usually misspelt. Slurm may
 * hide names from other users than root. */
static void check_names(struct check *check)
{
	const struct nt_conf *conf = &check->config.conf;
	const unsigned count = conf->count - 1;
	struct nt_names names;
	struct nt_error err;

	if (count == 0)
		return;
	if (list_partitions(&names, &err) < 0) {
		say(check, false, "partitions could not be looked up: %s", err.text);
		return;
	}
	for (unsigned i = 1; i < conf->count; i++) {
		const struct nt_conf_section *section = &conf->section[i];

		if (nt_names_find(&names, section->name) < 0)
			say(check, true, "%s:%u: Slurm has no partition named %s", conf->path,
			    section->line, section->name);
	}
	tell("%u partition%s against Slurm's %zu", count, nt_plural(count), names.count);
	nt_names_fini(&names);
}

/* Without a profile of that name, srun starts NCCL with its own settings. */
static void check_launch(struct check *check)
{
	const struct nt_conf *conf = &check->config.conf;
	const int launch = nt_setting_find("launch", strlen("launch"));
	struct nt_error err;

	for (unsigned i = 0; i < conf->count; i++) {
		const struct nt_conf_section *section = &conf->section[i];

		if (section->setting_line[launch] &&
		    nt_option_check_launch(&check->config.conf.site, section->policy.launch, &err) <
			    0)
			say(check, true, "%s:%u: %s", conf->path, section->setting_line[launch],
			    err.text);
	}
}

/* If the directory of records exists, nt-recordd must accept it, and users should be able to read
 * it. */
static void check_record_directory(struct check *check, const char *directory)
{
	struct stat status;

	if (lstat(directory, &status) < 0)
		return;
	if (!S_ISDIR(status.st_mode) || status.st_uid != 0 ||
	    (status.st_mode & (S_IWGRP | S_IWOTH)))
		say(check, true,
		    "record: %s must be a directory owned by root and writable by nobody else",
		    directory);
	else if (!nt_filesink_has_lists(directory))
		say(check, false,
		    "record: %s is on a file system without ACLs: only root can read the records "
		    "there",
		    directory);
}

/* ---- the node's hardware */

/* Do jobs get that number? A missing or unused cache is made again by the next job. */
static void check_cache(struct check *check, uint64_t value)
{
	const char *rundir = check->config.conf.site.rundir;
	const int fd = open(rundir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char file[NT_CACHE_NAME_MAX];
	uint64_t cached;
	struct nt_error err;
	int rc;

	if (fd < 0)
		return;
	rc = nt_cache_name(file, &err);
	errno = 0;
	if (rc == 0 && nt_cache_read(fd, &cached, &err) == 0 && cached != value)
		say(check, true, "hardware: jobs get %016" PRIx64 " until %s/%s is removed", cached,
		    rundir, file);
	else if (rc == 0 && !cached && errno != ENOENT)
		say(check, true, "hardware: %s/%s: %s", rundir, file, err.text);
	close(fd);
}

/* The number by which ranks compare their nodes, and the text of which it is the hash. */
static void check_hardware(struct check *check)
{
	struct nt_error err;
	char *material;
	uint64_t value;

	/* They make hwloc read another machine's description; jobs do not have them. */
	unsetenv("HWLOC_XMLFILE");
	unsetenv("HWLOC_SYNTHETIC");
	unsetenv("HWLOC_COMPONENTS");
	if (nt_fingerprint_explain(&material, &err) < 0) {
		say(check, true, "hardware: %s", err.text);
		return;
	}
	value = nt_fingerprint_hash(material);
	tell("hardware %016" PRIx64 ": %s", value, material);
	free(material);
	check_cache(check, value);
}

static int check_all(const char *plugstack, const char *file)
{
	static struct check check;
	const struct nt_config *config = &check.config;
	const char *path;
	bool in_force;

	check_plugstack(&check, plugstack);
	path = file ? file : config->path;
	in_force = same_file(path, config->path);
	if (check_text(&check, path, file || config->given) == 0) {
		check_owner(&check, path, in_force);
		check_names(&check);
		check_launch(&check);
		if (config->conf.sinks.directory[0])
			check_record_directory(&check, config->conf.sinks.directory);
		check_files(&check);
		check_hardware(&check);
		if (check.problems == 0)
			printf("%s: %u section%s, in order\n", path, config->conf.count - 1,
			       config->conf.count == 2 ? "" : "s");
	} else if (check.problems == 0) {
		check_files(&check);
		printf("%s: absent (optional)\n", path);
	}
	return check.problems == 0 ? NT_EXIT_OK : NT_EXIT_FAILED;
}

struct request {
	const char *plugstack; /* NULL: Slurm's */
};

static int run(void *argument, char *argv[])
{
	const struct request *request = argument;

	return check_all(request->plugstack, argv[0]);
}

static const struct nt_option options[] = {
	{ "plugstack", 's', "Read FILE instead of Slurm's plugstack.conf",
	  NT_TEXT(struct request, plugstack, "FILE") },
	{ 0 },
};

const struct nt_command nt_command_check_config = {
	.name = "check-config",
	.summary = "check nccl-tune.conf, and whether Slurm finds the plugin",
	.options = options,
	.usage = "[FILE]",
	.doc = "Check the configuration of this host: the plugin's line in plugstack.conf and the "
	       "files that it names, the launch profiles, the site's memory, and nccl-tune.conf (or "
	       "FILE): its keys and values, its owner, and whether Slurm knows the partitions of "
	       "its sections. Print each check, and each problem as a line on stderr. The line "
	       "\"hardware\" has the number that identifies this node's hardware and what it is "
	       "computed from; communicators whose nodes have different numbers are not tuned."
	       "\vExit status: 0 if there is no problem, 1 if there is one, 2 for a usage "
	       "error.",
	.request_bytes = sizeof(struct request),
	.run = run,
	.arguments = 1,
};
