/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The site's arguments and the user's option. */
#include "spank/option.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "launch/profile.h"
#include "spank/launch.h"
#include "spank/stepfs.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define FILE_SINK "file:"
#define CALIBRATE_MAX_S 3600

struct argument {
	const char *key;
	int (*parse)(struct nt_site *site, size_t offset, const char *value, struct nt_error *err);
	size_t offset; /* of the member, for those that are paths */
};

/* A path ends up in comma-separated lists and on command lines. */
static int parse_path(struct nt_site *site, size_t offset, const char *value, struct nt_error *err)
{
	char *path = (char *)site + offset;

	if (value[0] != '/' || strlen(value) >= NT_PATH_MAX || strpbrk(value, ", \t\n"))
		return nt_error_set(
			err, "'%.60s' (want an absolute path of less than %d bytes without commas)",
			value, NT_PATH_MAX);
	memcpy(path, value, strlen(value) + 1);
	return 0;
}

/* The directory becomes a part of longer paths. */
static int parse_directory(struct nt_site *site, size_t offset, const char *value,
			   struct nt_error *err)
{
	char *path = (char *)site + offset;
	size_t end;

	if (strlen(value) >= NT_PATH_MAX / 2)
		return nt_error_set(err, "'%.60s' (want a path of less than %d bytes)", value,
				    NT_PATH_MAX / 2);
	if (parse_path(site, offset, value, err) < 0)
		return -1;
	for (end = strlen(path); end > 1 && path[end - 1] == '/'; end--)
		path[end - 1] = '\0';
	return 0;
}

static int parse_default(struct nt_site *site, size_t offset, const char *value,
			 struct nt_error *err)
{
	(void)offset;
	nt_policy_default(&site->policy);
	return nt_policy_parse_option(&site->policy, value, err);
}

/* off+observe+bandit+policy+profile */
static int parse_modes(struct nt_site *site, size_t offset, const char *value, struct nt_error *err)
{
	(void)offset;
	site->modes = 1u << NT_MODE_OFF;
	while (*value) {
		size_t length = strcspn(value, "+");
		int mode = NT_MODE_OFF;

		while (mode <= NT_MODE_PROFILE && (strlen(nt_mode_name(mode)) != length ||
						   memcmp(nt_mode_name(mode), value, length) != 0))
			mode++;
		if (mode > NT_MODE_PROFILE)
			return nt_error_set(
				err,
				"'%.60s' (want off, observe, bandit, policy and profile, joined by +)",
				value);
		site->modes |= 1u << mode;
		value += length + (value[length] == '+');
	}
	return 0;
}

static int parse_pmix(struct nt_site *site, size_t offset, const char *value, struct nt_error *err)
{
	(void)offset;
	site->pmix = strcmp(value, "default") == 0;
	if (!site->pmix && strcmp(value, "ask") != 0)
		return nt_error_set(err, "'%.60s' (want default or ask)", value);
	return 0;
}

static int parse_calibrate(struct nt_site *site, size_t offset, const char *value,
			   struct nt_error *err)
{
	char *end;
	long seconds = strtol(value, &end, 10);

	(void)offset;
	if (value[0] < '0' || value[0] > '9' || end[*end == 's'] != '\0' ||
	    seconds > CALIBRATE_MAX_S)
		return nt_error_set(err, "'%.60s' (want 0 to %d seconds)", value, CALIBRATE_MAX_S);
	site->calibrate_max_s = seconds;
	return 0;
}

/* 128m: a power of 1024 may follow. -1: it is no such number. */
static int64_t parse_size(const char *value)
{
	static const char units[] = "kmg";
	const char *unit;
	char *end;
	long long size = strtoll(value, &end, 10);

	if (value[0] < '0' || value[0] > '9' || size > NT_STEPFS_BYTES_MAX)
		return -1;
	if (*end == '\0')
		return size;
	unit = strchr(units, *end | 0x20);
	if (!unit || end[1] != '\0')
		return -1;
	size <<= 10 * (unit - units + 1);
	return size <= NT_STEPFS_BYTES_MAX ? size : -1;
}

static int parse_dirsize(struct nt_site *site, size_t offset, const char *value,
			 struct nt_error *err)
{
	int64_t size = parse_size(value);

	(void)offset;
	if (size != 0 && size < NT_STEPFS_BYTES_MIN)
		return nt_error_set(err, "'%.60s' (want 1m to 1g, or 0 for none)", value);
	site->dir_bytes = size;
	return 0;
}

static int parse_dirfiles(struct nt_site *site, size_t offset, const char *value,
			  struct nt_error *err)
{
	char *end;
	long files = strtol(value, &end, 10);

	(void)offset;
	if (value[0] < '0' || value[0] > '9' || *end != '\0' || files < NT_STEPFS_FILES_MIN ||
	    files > NT_STEPFS_FILES_MAX)
		return nt_error_set(err, "'%.60s' (want %d to %d)", value, NT_STEPFS_FILES_MIN,
				    NT_STEPFS_FILES_MAX);
	site->dir_files = files;
	return 0;
}

static int parse_record(struct nt_site *site, size_t offset, const char *value,
			struct nt_error *err)
{
	if (strcmp(value, "admincomment") == 0) {
		site->sink = NT_SINK_ADMINCOMMENT;
		return 0;
	}
	if (strcmp(value, "none") == 0) {
		site->sink = NT_SINK_NONE;
		return 0;
	}
	if (strncmp(value, FILE_SINK, sizeof(FILE_SINK) - 1) != 0)
		return nt_error_set(err, "'%.60s' (want admincomment, file:DIRECTORY or none)",
				    value);
	site->sink = NT_SINK_FILE;
	return parse_directory(site, offset, value + sizeof(FILE_SINK) - 1, err);
}

static const struct argument arguments[] = {
	{ "plugin", parse_path, offsetof(struct nt_site, plugin) },
	{ "recordd", parse_path, offsetof(struct nt_site, recordd) },
	{ "rundir", parse_directory, offsetof(struct nt_site, rundir) },
	{ "spooldir", parse_directory, offsetof(struct nt_site, spooldir) },
	{ "record", parse_record, offsetof(struct nt_site, filedir) },
	{ "default", parse_default, 0 },
	{ "modes", parse_modes, 0 },
	{ "pmix", parse_pmix, 0 },
	{ "profiles", parse_path, offsetof(struct nt_site, profiles) },
	{ "site_memory", parse_path, offsetof(struct nt_site, site_memory) },
	{ "command", parse_path, offsetof(struct nt_site, command) },
	{ "calibrate_max", parse_calibrate, 0 },
	{ "dirsize", parse_dirsize, 0 },
	{ "dirfiles", parse_dirfiles, 0 },
};

static int parse_argument(struct nt_site *site, const char *text, struct nt_error *err)
{
	size_t key_bytes = strcspn(text, "=");
	struct nt_error reason;

	for (size_t i = 0; i < LENGTH(arguments); i++) {
		const struct argument *argument = &arguments[i];

		if (strlen(argument->key) != key_bytes ||
		    memcmp(argument->key, text, key_bytes) != 0)
			continue;
		if (text[key_bytes] != '=')
			break;
		if (argument->parse(site, argument->offset, text + key_bytes + 1, &reason) == 0)
			return 0;
		return nt_error_set(err, "%s: %.200s", argument->key, reason.text);
	}
	return nt_error_set(
		err,
		"'%.60s' (want plugin=, recordd=, rundir=, spooldir=, record=, default=, modes=, "
		"pmix=, profiles=, site_memory=, command=, calibrate_max=, dirsize= or dirfiles=)",
		text);
}

static const char *list_modes(const struct nt_site *site, char *out, size_t out_bytes)
{
	out[0] = '\0';
	for (int mode = NT_MODE_OFF; mode <= NT_MODE_PROFILE; mode++) {
		size_t used = strlen(out);

		if (site->modes & (1u << mode))
			snprintf(out + used, out_bytes - used, "%s%s", used ? ", " : "",
				 nt_mode_name(mode));
	}
	return out;
}

static int check_mode(const struct nt_site *site, int64_t mode, struct nt_error *err)
{
	char allowed[40];

	if (site->modes & (1u << mode))
		return 0;
	return nt_error_set(err, "mode %s is not allowed at this site (allowed: %s)",
			    nt_mode_name(mode), list_modes(site, allowed, sizeof(allowed)));
}

int nt_site_parse(struct nt_site *site, int argc, char *const argv[], struct nt_error *err)
{
	struct nt_error reason;

	memset(site, 0, sizeof(*site));
	snprintf(site->plugin, sizeof(site->plugin), "%s/libnccl-tune.so", NT_LIBDIR);
	snprintf(site->recordd, sizeof(site->recordd), "%s/nt-recordd", NT_LIBEXECDIR);
	snprintf(site->rundir, sizeof(site->rundir), "%s", NT_RUN_DIR);
	snprintf(site->spooldir, sizeof(site->spooldir), "%s", NT_SPOOL_DIR);
	snprintf(site->profiles, sizeof(site->profiles), "%s", NT_SHIPPED_PROFILES);
	snprintf(site->site_memory, sizeof(site->site_memory), "%s/nccl-tune/memory.jsonl",
		 NT_SYSCONFDIR);
	snprintf(site->command, sizeof(site->command), "%s/nccl-tune", NT_BINDIR);
	site->calibrate_max_s = 60;
	site->dir_bytes = NT_STEPFS_BYTES;
	site->dir_files = NT_STEPFS_FILES;
	site->sink = NT_SINK_ADMINCOMMENT;
	site->modes = (1u << (NT_MODE_PROFILE + 1)) - 1;
	nt_policy_default(&site->policy);
	for (int i = 0; i < argc; i++) {
		if (parse_argument(site, argv[i], &reason) < 0)
			return nt_error_set(err, "plugstack argument %.220s", reason.text);
	}
	if (check_mode(site, site->policy.mode, &reason) < 0)
		return nt_error_set(err, "plugstack argument default: %.200s", reason.text);
	if (site->policy.calibrate_s > site->calibrate_max_s)
		site->policy.calibrate_s = site->calibrate_max_s;
	return 0;
}

int nt_option_resolve(const struct nt_site *site, const char *text, struct nt_policy *policy,
		      struct nt_error *err)
{
	*policy = site->policy;
	if (!text)
		return 0;
	if (nt_policy_parse_option(policy, text, err) < 0)
		return -1;
	if (policy->calibrate_s > site->calibrate_max_s)
		return nt_error_set(err,
				    "calibrate %" PRId64
				    " is not allowed at this site (want 0 to %" PRId64 " seconds)",
				    policy->calibrate_s, site->calibrate_max_s);
	return check_mode(site, policy->mode, err);
}

/* The package's and the site's; -1 where one that is there cannot be read. */
static int read_profiles(const struct nt_site *site, struct nt_profiles *profiles)
{
	nt_profiles_init(profiles);
	if (nt_profiles_read(profiles, site->profiles, 0, NULL) < 0)
		return -1;
	errno = 0;
	if (nt_profiles_read(profiles, NT_SITE_PROFILES, 0, NULL) < 0 && errno != ENOENT)
		return -1;
	return 0;
}

int nt_option_check_launch(const struct nt_site *site, const char *launch, struct nt_error *err)
{
	struct nt_profiles *profiles;
	int rc = 0;

	if (strcmp(launch, "off") == 0 || strcmp(launch, "auto") == 0 ||
	    strcmp(launch, NT_PROFILE_DEFAULT) == 0)
		return 0;
	profiles = malloc(sizeof(*profiles));
	if (!profiles)
		return 0;
	if (read_profiles(site, profiles) == 0 && nt_profiles_want(profiles, launch, err) == NULL)
		rc = -1;
	free(profiles);
	return rc;
}

const char *nt_option_variable(const char *program)
{
	static const struct {
		const char *program, *variable;
	} twins[] = {
		{ "srun", NT_ENV_SRUN },
		{ "sbatch", NT_ENV_SBATCH },
		{ "salloc", NT_ENV_SALLOC },
	};

	for (size_t i = 0; i < LENGTH(twins); i++) {
		if (strncmp(program, twins[i].program, strlen(twins[i].program)) == 0)
			return twins[i].variable;
	}
	return NULL;
}

void nt_option_complain(char *out, size_t out_bytes, enum nt_origin origin, const char *variable,
			const char *text, const struct nt_error *reason)
{
	if (origin == NT_ORIGIN_VARIABLE)
		snprintf(out, out_bytes, "%s=%.80s: %s", variable, text, reason->text);
	else
		snprintf(out, out_bytes, "--" NT_OPTION "=%.80s%s: %s", text,
			 origin == NT_ORIGIN_JOB ? " of the job around this step" : "",
			 reason->text);
}
