/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* option.c - the plugin's line of plugstack.conf and what a user says: nobody gets more than the
 *            site allows
 *
 * Input: arguments of the line, one a line, until an empty one; then the option's text.
 */
#include <string.h>
#include "spank/option.h"
#include "tests/fuzz/fuzz.h"

#define ARGUMENTS 16

static void check_resolved(const struct nt_site *site, const char *text)
{
	struct nt_error err = { "" };
	struct nt_policy policy;
	char line[120];

	if (nt_option_resolve(site, text, &policy, &err) < 0) {
		for (int origin = NT_ORIGIN_JOB; origin <= NT_ORIGIN_OPTION; origin++)
			nt_option_complain(line, sizeof(line), (enum nt_origin)origin,
					   nt_option_variable(origin ? "srun" : "sbatch"),
					   text ? text : "", &err);
		return;
	}
	FUZZ_CHECK(policy.mode >= 0 && policy.mode <= NT_MODE_PROFILE);
	FUZZ_CHECK(site->modes & 1u << policy.mode);
	FUZZ_CHECK(policy.calibrate_s <= site->calibrate_max_s);
}

static void check_paths(const struct nt_site *site)
{
	const char *const path[] = { site->plugin,   site->recordd,  site->rundir,
				     site->spooldir, site->profiles, site->site_memory,
				     site->command };

	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++)
		FUZZ_CHECK(path[i][0] == '/' && strlen(path[i]) < NT_PATH_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = { data, size };
	char *argv[ARGUMENTS], *text;
	static struct nt_site site;
	struct nt_error err;
	int argc = 0;

	while (argc < ARGUMENTS) {
		text = fuzz_part(&in, '\n');
		if (!text || !text[0]) {
			free(text);
			break;
		}
		argv[argc++] = text;
	}
	if (nt_site_parse(&site, argc, argv, &err) == 0) {
		check_paths(&site);
		text = in.left > 0 ? fuzz_text(in.at, in.left) : NULL;
		check_resolved(&site, text);
		free(text);
	}
	while (argc > 0)
		free(argv[--argc]);
	return 0;
}

FUZZ_TEXT_TARGET("default=", "modes=", "off+observe", "+bandit", "policy", "profile",
		 "pmix=default", "pmix=off", "calibrate_max=", "record=file:/x", "record=none",
		 "record=admincomment", "rundir=/", "spooldir=/", "plugin=/", "recordd=/",
		 "profiles=/", "site_memory=/", "command=/", "channels=on", "launch=auto",
		 "calibrate=30", "min_gain=5", ",", "\n\n", "bandit")
