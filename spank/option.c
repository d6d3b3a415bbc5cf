/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The site's arguments and the user's option. */
#include "spank/option.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/list.h"
#include "lib/number.h"
#include "profiles/profile.h"
#include "spank/stepfs.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

enum argument_kind {
	PATH,
	CONFIG,
	DIRECTORY,
	RECORD,
	DEFAULT,
	MODES,
	PMIX,
	CALIBRATE,
	DIRSIZE,
	DIRFILES
};

#define AT(member) offsetof(struct nt_site, member)

static const struct argument {
	const char *key;
	enum argument_kind kind;
	size_t offset; /* of a path */
	const char *value; /* its default */
} arguments[] = {
	{ "plugin", PATH, AT(plugin), NT_LIBDIR "/libnccl-tune.so" },
	{ "recordd", PATH, AT(recordd), NT_LIBEXECDIR "/nt-recordd" },
	{ "rundir", DIRECTORY, AT(rundir), NT_RUN_DIR },
	{ "spooldir", DIRECTORY, AT(spooldir), NT_SPOOL_DIR },
	{ "record", RECORD, 0, NULL },
	{ "default", DEFAULT, 0, NULL },
	{ "modes", MODES, 0, NULL },
	{ "pmix", PMIX, 0, NULL },
	{ "profiles", PATH, AT(profiles), NT_SHIPPED_PROFILES },
	{ "site_memory", PATH, AT(site_memory), NT_SYSCONFDIR "/nccl-tune/memory.jsonl" },
	{ "command", PATH, AT(command), NT_BINDIR "/nccl-tune" },
	{ "calibrate_max", CALIBRATE, 0, NULL },
	{ "dirsize", DIRSIZE, 0, NULL },
	{ "dirfiles", DIRFILES, 0, NULL },
	{ "config", CONFIG, AT(config), NT_CONF_FILE },
};

/* "128m"; -1: not a size. */
static int64_t parse_size(const char *value)
{
	static const char units[] = "kmg";
	const char *unit;
	uint64_t size;
	const char *end = nt_number_read(value, NT_STEPFS_BYTES_MAX, &size);

	if (!end)
		return -1;
	if (*end == '\0')
		return (int64_t)size;
	unit = strchr(units, *end | 0x20);
	if (!unit || end[1] != '\0')
		return -1;
	size <<= 10 * (unit - units + 1);
	return size <= NT_STEPFS_BYTES_MAX ? (int64_t)size : -1;
}

static int parse_dirsize(struct nt_site *site, const char *value, struct nt_error *err)
{
	int64_t size = parse_size(value);

	if (size != 0 && size < NT_STEPFS_BYTES_MIN)
		return nt_error_set(err, "'%.60s' (want 1m to 1g, or 0 for none)", value);
	site->dir_bytes = size;
	return 0;
}

static int parse_value(struct nt_site *site, const struct argument *argument, const char *value,
		       struct nt_error *err)
{
	char *path = (char *)site + argument->offset;
	uint32_t files = 0;
	int rc;

	switch (argument->kind) {
	case CONFIG: site->config_given = true; /* fall through */
	case PATH: return nt_conf_path(path, value, err);
	case DIRECTORY: return nt_conf_directory(path, value, err);
	case RECORD: return nt_sinks_parse(&site->sinks, value, err);
	case DEFAULT:
		nt_policy_default(&site->defaults.policy);
		return nt_policy_parse_given(&site->defaults.policy, &site->defaults.given, value,
					     err);
	case MODES: return nt_conf_modes(&site->defaults.modes, value, err);
	case PMIX: return nt_conf_pmix(&site->pmix, value, err);
	case CALIBRATE: return nt_conf_calibrate(&site->defaults.calibrate_max_s, value, err);
	case DIRSIZE: return parse_dirsize(site, value, err);
	case DIRFILES:
		rc = nt_conf_whole(&files, value, NT_STEPFS_FILES_MIN, NT_STEPFS_FILES_MAX, err);
		site->dir_files = files;
		return rc;
	}
	return -1;
}

static int parse_argument(struct nt_site *site, const char *text, struct nt_error *err)
{
	struct nt_error reason;

	for (size_t i = 0; i < LENGTH(arguments); i++) {
		const struct argument *argument = &arguments[i];
		const char *value = nt_value_of(text, argument->key);

		if (!value)
			continue;
		if (parse_value(site, argument, value, &reason) == 0)
			return 0;
		return nt_error_set(err, "%s: %.200s", argument->key, reason.text);
	}
	return nt_error_set(
		err,
		"'%.60s' (want plugin=, recordd=, rundir=, spooldir=, record=, default=, modes=, "
		"pmix=, profiles=, site_memory=, command=, calibrate_max=, dirsize=, dirfiles= or "
		"config=)",
		text);
}

int nt_site_parse(struct nt_site *site, int argc, char *const argv[], struct nt_error *err)
{
	char allowed[NT_CONF_MODES_TEXT];
	struct nt_error reason;

	memset(site, 0, sizeof(*site));
	for (size_t i = 0; i < LENGTH(arguments); i++) {
		if (arguments[i].value)
			snprintf((char *)site + arguments[i].offset, NT_PATH_MAX, "%s",
				 arguments[i].value);
	}
	site->defaults.calibrate_max_s = 120;
	site->dir_bytes = NT_STEPFS_BYTES;
	site->dir_files = NT_STEPFS_FILES;
	nt_sinks_init(&site->sinks);
	site->defaults.modes = (1u << (NT_MODE_PROFILE + 1)) - 1;
	nt_policy_default(&site->defaults.policy);
	for (int i = 0; i < argc; i++) {
		if (parse_argument(site, argv[i], &reason) < 0)
			return nt_error_set(err, "plugstack argument %.220s", reason.text);
	}
	if (!(site->defaults.modes >> site->defaults.policy.mode & 1))
		return nt_error_set(err,
				    "plugstack argument default: mode %s is not allowed at this "
				    "site (allowed: %s)",
				    nt_mode_name(site->defaults.policy.mode),
				    nt_conf_modes_text(site->defaults.modes, ", ", allowed));
	if (site->defaults.policy.calibrate_s > site->defaults.calibrate_max_s)
		site->defaults.policy.calibrate_s = site->defaults.calibrate_max_s;
	return 0;
}

void nt_site_overrule(struct nt_site *site, const struct nt_conf *conf)
{
	if (conf->site_line[NT_SITE_PMIX])
		site->pmix = conf->pmix;
	if (conf->site_line[NT_SITE_RECORD])
		site->sinks = conf->sinks;
}

void nt_site_launch_program(const struct nt_site *site, char out[NT_LAUNCH_PATH])
{
	const char *slash = strrchr(site->recordd, '/');

	snprintf(out, NT_LAUNCH_PATH, "%.*s/%s", slash ? (int)(slash - site->recordd) : 0,
		 site->recordd, NT_LAUNCH_PROGRAM);
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
	if (nt_profiles_read_both(profiles, site->profiles, NT_SITE_PROFILES, NULL) == 0 &&
	    nt_profiles_want(profiles, launch, err) == NULL)
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

void nt_option_complain(char *out, size_t out_bytes, enum nt_precedence rank, const char *variable,
			const char *text, const struct nt_error *reason)
{
	if (rank == NT_RANK_VARIABLE)
		snprintf(out, out_bytes, "%s=%.80s: %s", variable, text, reason->text);
	else
		snprintf(out, out_bytes, "--" NT_OPTION "=%.80s%s: %s", text,
			 rank == NT_RANK_JOB ? " of the job around this step" : "", reason->text);
}
