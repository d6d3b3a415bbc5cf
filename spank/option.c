/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The argument in plugstack.conf and the user's option. */
#include "spank/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/list.h"
#include "launch/profile.h"
#include "site/path.h"

int nt_line_parse(int argc, char *const argv[], const char **conf, bool *given,
		  struct nt_error *err)
{
	char path[NT_PATH_MAX];
	struct nt_error why;

	*conf = NT_CONF_FILE;
	*given = false;
	for (int i = 0; i < argc; i++) {
		const char *value = nt_value_of(argv[i], "conf");

		if (!value)
			return nt_error_set(err,
					    "plugstack argument '%.60s' (want conf=PATH, or "
					    "nothing; settings belong in %.80s)",
					    argv[i], *conf);
		*given = true;
		*conf = value;
		if (nt_conf_path(path, value, &why) < 0)
			return nt_error_set(err, "plugstack argument conf: %.200s", why.text);
	}
	return 0;
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

	for (size_t i = 0; i < sizeof(twins) / sizeof(twins[0]); i++) {
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
