/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune config: print every setting with the value that a step of this user would get. */
#include "cli/command.h"

#include <stdlib.h>
#include "report/model/site-config.h"
#include "site/settings-table.h"
#include "spank/effective-policy.h"

struct wish {
	const char *plugstack, *text, *partition;
};

/* The user's file counts as well. */
static void take_user_file(struct nt_effective_policy *settle)
{
	char text[NT_POLICY_MAX];
	struct nt_error err;

	if (nt_conf_user_text(text, &err) < 0)
		nt_command_complain("%s; the file is ignored", err.text);
	nt_effective_policy_take_user(settle, text);
}

/* The request, or what srun finds without one. */
static void take_text(struct nt_effective_policy *settle, const char *request)
{
	const char *variable = getenv(NT_ENV_SRUN), *job = getenv(NT_ENV_JOB_OPTION);

	if (request) {
		settle->text = request;
		settle->rank = NT_RANK_OPTION;
	} else if (variable && variable[0]) {
		settle->text = variable;
		settle->rank = NT_RANK_VARIABLE;
	} else {
		settle->text = job;
		settle->rank = NT_RANK_JOB;
	}
	if (settle->text && !settle->text[0])
		settle->text = NULL;
}

static int show(const struct wish *wish)
{
	static struct nt_config config;
	struct nt_effective_policy settle = { .conf = &config.conf };
	struct nt_step_settings outcome;
	struct nt_site_rules rules;
	struct nt_error err;

	take_text(&settle, wish->text);
	if (nt_config_read(&config, wish->plugstack, &err) < 0)
		return nt_command_fail(&err);
	take_user_file(&settle);
	if (nt_effective_policy(&settle, wish->partition, NT_UNKNOWN_NONE, &rules, &outcome, &err) <
	    0) {
		nt_command_complain("%s", err.text);
		return wish->text ? NT_EXIT_USAGE : NT_EXIT_FAILED;
	}
	nt_site_show(stdout, &rules, &outcome, wish->partition);
	return NT_EXIT_OK;
}

static void init(void *argument)
{
	struct wish *wish = argument;

	wish->partition = getenv(NT_ENV_PARTITION);
}

static int run(void *argument, char *argv[])
{
	struct wish *wish = argument;

	if (argv[0])
		wish->text = argv[0];
	return show(wish);
}

static const struct nt_option options[] = {
	{ "partition", 'p', "In this partition (default: that of this job, if any)",
	  NT_TEXT(struct wish, partition, "NAME") },
	{ "plugstack", 's', "Read FILE instead of Slurm's plugstack.conf",
	  NT_TEXT(struct wish, plugstack, "FILE") },
	{ 0 },
};

const struct nt_command nt_command_config = {
	.name = "config",
	.summary = "show every setting, its value here, and where that comes from",
	.options = options,
	.usage = "[MODE[,SETTING=VALUE...]]",
	.doc = "Print the settings of a step that is started with this --nccl-tune=... "
	       "(or without the option), the default and the accepted values of each, and "
	       "the limits of the site. The same as srun --nccl-tune=help."
	       "\vExit status: 0 if it was printed, 1 if this host has no settings or they "
	       "are broken, 2 for a usage error, or if the site does not allow what was "
	       "asked for (the reason is on stderr).",
	.request_bytes = sizeof(struct wish),
	.init = init,
	.run = run,
	.arguments = 1,
};
