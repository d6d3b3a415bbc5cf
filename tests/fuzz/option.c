/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* option.c - the plugin's line of plugstack.conf and what a user says: nobody gets more than the
 *            site allows
 *
 * Input: arguments of the line, one a line, until an empty one; then the option's text.
 */
#include <string.h>
#include "spank/option.h"
#include "spank/effective-policy.h"
#include "tests/fuzz/fuzz.h"

#define ARGUMENTS 16

/* What a user's file has left in the environment, which a user may write, too. */
static void check_user(struct nt_effective_policy *settle, const char *text)
{
	const struct nt_step_where nowhere = { NULL, NULL, NULL };
	static struct nt_site_rules rules;
	static struct nt_step_settings outcome;
	struct nt_error err = { "" };

	nt_effective_policy_take_user(settle, text);
	settle->text = NULL;
	(void)nt_effective_policy(settle, &nowhere, NT_UNKNOWN_STRICT, &rules, &outcome, &err);
	FUZZ_CHECK(settle->site->defaults.modes & 1u << outcome.policy.mode);
	FUZZ_CHECK(outcome.policy.calibrate_s <= settle->site->defaults.calibrate_max_s);
}

static void check_resolved(const struct nt_site *site, const char *text)
{
	const struct nt_step_where nowhere = { NULL, NULL, NULL };
	static struct nt_site_rules rules;
	static struct nt_step_settings outcome;
	static struct nt_conf conf;
	struct nt_effective_policy settle = {
		.site = site, .conf = &conf, .text = text, .rank = NT_RANK_OPTION
	};
	struct nt_error err = { "" };
	char line[120];

	nt_conf_init(&conf);
	if (nt_effective_policy(&settle, &nowhere, NT_UNKNOWN_STRICT, &rules, &outcome, &err) < 0) {
		for (int rank = NT_RANK_JOB; rank <= NT_RANK_OPTION; rank++)
			nt_option_complain(
				line, sizeof(line), (enum nt_precedence)rank,
				nt_option_variable(rank == NT_RANK_JOB ? "sbatch" : "srun"),
				text ? text : "", &err);
		FUZZ_CHECK(outcome.policy.mode == NT_MODE_OFF);
	}
	FUZZ_CHECK(outcome.policy.mode >= 0 && outcome.policy.mode <= NT_MODE_PROFILE);
	FUZZ_CHECK(site->defaults.modes & 1u << outcome.policy.mode);
	FUZZ_CHECK(outcome.policy.calibrate_s <= site->defaults.calibrate_max_s);
	check_user(&settle, text);
}

static void check_paths(const struct nt_site *site)
{
	const char *const path[] = { site->plugin,   site->recordd,  site->rundir,
				     site->spooldir, site->profiles, site->site_memory,
				     site->command,  site->config };

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
		 "profiles=/", "site_memory=/", "command=/", "config=/", "channels=on",
		 "launch=auto", "calibrate=30", "min_gain=5", ",", "\n\n", "bandit")
